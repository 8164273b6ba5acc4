import ATT
import BLECore
import GATTServer
import Testing

private let central = ServerDialogue.central
private let battery = GATTService(
    0x180f,
    characteristics: [GATTCharacteristic(0x2a19, properties: [.read, .notify], value: .stored([100]))])
private let heart = GATTService(
    0x180d,
    characteristics: [GATTCharacteristic(0x2a37, properties: [.read, .write, .notify], value: .stored([60]))])
/// With the generic services: Service Changed is 0x0008 and its CCCD 0x0009, Client Supported Features
/// 0x000b, the hash 0x000d, Server Supported Features 0x000f; the battery's value is 0x0012, its CCCD 0x0013.
extension ServerDialogue {
    /// Adds a service. This is a function because `#expect` cannot contain a call that changes the server.
    fileprivate mutating func add(_ service: GATTService) throws -> AttributeRange? {
        try server.add([service])
    }
}

private func dialogue() throws -> ServerDialogue { try ServerDialogue([battery], generic: GenericServices()) }

struct ServiceChangeTests {
    @Test func gattServiceExposesFeaturesAndHash() throws {
        var dialogue = try dialogue()
        run(
            &dialogue,
            [
                Exchange("0a0b00", "0b00"), Exchange("0a0f00", "0b00"), Exchange("0a0800", "010a080002"),
                Exchange("0a0d00", "0b" + dialogue.server.database.hash.hex),
                Exchange("120d00" + "00", "01120d0003"), Exchange("120f0000", "01120f0003"),
            ])
    }

    @Test func publishingDatabaseReportsServiceChange() throws {
        var server = GATTServer(.empty)
        server.connect(central)
        server.publish(try AttributeDatabase([battery]))
        let isSubscribed = server.handle(ATTRequest.write(0x0009, value: [2, 0]), from: central, mtu: 23)
        #expect(isSubscribed == .respond(.write))
        let change = server.serviceChange(for: central)
        #expect(change?.handle == 0x0008 && change?.value == [1, 0, 0xff, 0xff])
        // Subscriptions end when the database is replaced.
        let isNotified = server.handle(ATTRequest.write(0x0013, value: [1, 0]), from: central, mtu: 23)
        #expect(isNotified == .respond(.write))
        #expect(server.subscribers(of: 0x0012).map(\.central) == [central])
        server.publish(try AttributeDatabase([heart]))
        #expect(server.subscribers(of: 0x0012).isEmpty)
    }

    @Test("a client can set features but not clear them, others are unaffected")
    func clientFeaturesCanBeSetButNotCleared() throws {
        var dialogue = try dialogue()
        run(
            &dialogue,
            [
                Exchange("120b0001", "13"), Exchange("0a0b00", "0b01"),
                Exchange("120b0004", "01120b0013"), Exchange("120b00", "01120b000d"),
                Exchange("120b0005", "13"), Exchange("120b00fd00", "13"), Exchange("0a0b00", "0b05"),
                Exchange("160b00000007", "170b00000007"), Exchange("1801", "19"), Exchange("0a0b00", "0b07"),
            ])
        #expect(
            dialogue.server.features(of: central) == [
                .robustCaching, .enhancedBearer, .multipleNotifications,
            ])
        let other = ClientID(rawValue: 2)
        dialogue.server.connect(other)
        #expect(dialogue.server.handle(.read(11), from: other, mtu: 23) == .respond(.read([0])))
    }

    @Test(
        "a subscriber receives the changed range, then later changes"
    )
    func serviceChangesAreReportedToSubscriber() throws {
        var dialogue = try dialogue()
        #expect(try dialogue.add(heart) == AttributeRange(0x0014, 0x0017))
        // The client is not subscribed.
        #expect(dialogue.server.serviceChange(for: central) == nil)
        run(&dialogue, [Exchange("1209000200", "13")])
        try dialogue.server.remove(0x0014)
        let change = dialogue.server.serviceChange(for: central)
        #expect(change?.handle == 8)
        #expect(change?.value.hex == "14001700")
        #expect(try dialogue.add(heart) == AttributeRange(0x0018, 0x001b))
        #expect(dialogue.server.serviceChange(for: central) == nil)
        dialogue.server.confirmServiceChange(for: central)
        #expect(dialogue.server.serviceChange(for: central)?.value.hex == "18001b00")
    }

    @Test func removedServiceDropsSubscriptionsAndPreparedWrites() throws {
        var dialogue = try dialogue()
        try dialogue.server.add([heart])
        run(&dialogue, [Exchange("1217000100", "13"), Exchange("16160000003d", "17160000003d")])
        _ = dialogue.events()
        try dialogue.server.remove(0x0014)
        #expect(dialogue.events() == [.unsubscribed(central: central, handle: 0x16, uuid: 0x2a37)])
        // Another service takes the same handles.
        var other = GATTService(0xff00, characteristics: heart.characteristics)
        other.handle = 0x0014
        try dialogue.server.add([other])
        run(
            &dialogue,
            [
                Exchange("1801", "0118160012"), Exchange("0a1600", "0b3c"), Exchange("0a1700", "0b0000"),
                Exchange("1801", "19"),
            ])
    }

    @Test func includedServiceCannotBeRemoved() throws {
        var dialogue = try dialogue()
        try dialogue.server.add([GATTService(0xff00, includes: [.uuid(0x180f)])])
        let failure = #expect(throws: DatabaseError.self) { try dialogue.server.remove(0x0010) }
        #expect(failure.map { "\($0)" } == "service 180f: the service at 0x0014 includes it")
        #expect(throws: DatabaseError.self) { try dialogue.server.remove(0x0011) }
        #expect(throws: DatabaseError.self) { try dialogue.server.remove(0x0100) }
        #expect(throws: DatabaseError.self) { try dialogue.server.add([GATTService(0xff01, handle: 0x0012)]) }
        try dialogue.server.remove(0x0014)
        try dialogue.server.remove(0x0010)
        #expect(dialogue.server.database.attributes.last?.handle == 0x000f)
    }

    @Test func handlesAreReusedOnlyWhenExhausted() throws {
        var dialogue = try dialogue()
        try dialogue.server.add([GATTService(0xff00, handle: 0xfffe)])
        #expect(try dialogue.add(GATTService(0xff01)) == AttributeRange(0xffff, 0xffff))
        #expect(try dialogue.add(GATTService(0xff02)) == AttributeRange(0x0014, 0x0014))
    }
}

struct RobustCachingTests {
    private func unaware(robust: Bool = true) throws -> ServerDialogue {
        var changed = try dialogue()
        if robust { run(&changed, [Exchange("120b0001", "13")]) }
        run(&changed, [Exchange("1213000100", "13")])
        try changed.server.add([heart])
        return changed
    }

    @Test("one Database Out Of Sync error, then the client is change-aware")
    func changeUnawareClientReceivesOneOutOfSyncError() throws {
        var dialogue = try unaware()
        #expect(dialogue.server.subscribers(of: 0x12) == [])
        run(
            &dialogue,
            [
                // The client discovers the change: Read By Group Type, and Read By Type of declarations or over
                // all handles, are answered.
                Exchange("101000ffff0028", "1106" + "100013000f18" + "140017000d18"),
                Exchange("081000ffff0328", "0907" + "1100121200192a" + "15001a1600372a"),
                Exchange("080100ffff192a", "0903" + "120064"),
                Exchange("0a1200", "010a120012"), Exchange("0a1200", "0b64"),
            ])
        #expect(dialogue.server.subscribers(of: 0x12).count == 1)
        // After each change, each of these requests is refused if it is the first.
        for (request, refusal) in [
            ("0c12000000", "010c120012"), ("0e12001600", "010e120012"), ("2012001600", "0120120012"),
            ("1216003d", "0112160012"), ("16160000003d", "0116160012"), ("081200ffff192a", "0108120012"),
        ] {
            try dialogue.server.add([GATTService(0xff00)])
            #expect(dialogue.ask(request) == refusal)
        }
    }

    @Test("a client that has read the hash is change-aware with the next request")
    func readingHashMakesClientChangeAware() throws {
        var dialogue = try unaware()
        let hash = dialogue.server.database.hash.hex
        run(&dialogue, [Exchange("080100ffff2a2b", "0912" + "0d00" + hash)])
        #expect(dialogue.server.subscribers(of: 0x12) == [])
        run(&dialogue, [Exchange("0a1200", "0b64")])
        #expect(dialogue.server.subscribers(of: 0x12).count == 1)
    }

    @Test func confirmingServiceChangedMakesClientChangeAware() throws {
        var dialogue = try dialogue()
        run(&dialogue, [Exchange("120b0001", "13"), Exchange("1209000200", "13")])
        try dialogue.server.add([heart])
        _ = dialogue.server.serviceChange(for: central)
        dialogue.server.confirmServiceChange(for: central)
        run(&dialogue, [Exchange("0a1200", "0b64")])
    }

    @Test func commandsOfChangeUnawareClientAreIgnored() throws {
        var dialogue = try unaware()
        try dialogue.server.add([
            GATTService(
                0xff00,
                characteristics: [GATTCharacteristic(0xff01, properties: [.read, .writeWithoutResponse])])
        ])
        run(
            &dialogue,
            [
                Exchange("521a0001", ""), Exchange("0a1a00", "010a1a0012"), Exchange("0a1a00", "0b"),
                Exchange("521a0001", ""), Exchange("0a1a00", "0b01"),
            ])
        #expect(dialogue.server.refusedCommands == 1)
    }

    @Test func clientWithoutRobustCachingIsServed() throws {
        var dialogue = try unaware(robust: false)
        #expect(dialogue.server.subscribers(of: 0x12).count == 1)
        run(&dialogue, [Exchange("0a1200", "0b64")])
    }

    @Test func returningBondedClientReceivesServiceChange() throws {
        var dialogue = try dialogue()
        run(
            &dialogue,
            [Exchange("120b0001", "13"), Exchange("1209000200", "13"), Exchange("1213000100", "13")])
        let record = dialogue.server.disconnect(central)
        #expect(record.isChangeAware && record.features == .robustCaching)

        // Without a change, the state of the client is restored.
        dialogue.server.connect(central, record: record)
        #expect(dialogue.server.subscribers(of: 0x12).count == 1)
        #expect(dialogue.server.serviceChange(for: central) == nil)
        run(&dialogue, [Exchange("0a1200", "0b64"), Exchange("0a0b00", "0b01")])
        _ = dialogue.server.disconnect(central)

        // After a change, only the subscription to Service Changed is restored.
        try dialogue.server.remove(0x0010)
        try dialogue.server.add([heart])
        dialogue.server.connect(central, record: record)
        #expect(dialogue.server.configuration(of: 8, for: central) == .indicate)
        #expect(dialogue.server.configuration(of: 0x12, for: central) == [])
        #expect(dialogue.server.serviceChange(for: central)?.value.hex == "0100ffff")
        run(&dialogue, [Exchange("0a1200", "010a120012")])

        // If the client disconnects before it has confirmed the change, it receives the change again.
        let unaware = dialogue.server.disconnect(central)
        #expect(!unaware.isChangeAware && unaware.unreportedChange == .all)
        dialogue.server.connect(central, record: unaware)
        #expect(dialogue.server.serviceChange(for: central)?.value.hex == "0100ffff")
        run(&dialogue, [Exchange("0a1200", "010a120012")])
    }
}
