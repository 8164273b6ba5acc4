import ATT
import BLECore
import GATTServer
import Synchronization
import Testing

private let client = ClientID(rawValue: 1)
private let second = BearerID(rawValue: 0x40)
private let mtu = ATTMTU.default

/// A link whose security changes without a report to the server, and the number of queries for it.
private final class Link: Sendable {
    private let state = Mutex((security: LinkSecurity.none, questions: 0))

    var questions: Int { state.withLock { $0.questions } }

    func secure(_ security: LinkSecurity) { state.withLock { $0.security = security } }

    func ask() -> LinkSecurity {
        state.withLock {
            $0.questions += 1
            return $0.security
        }
    }
}

/// The state that the bearers of a client share, and the state that each bearer has.
@Suite struct ClientTests {
    /// Returns a server with an open value at 0x0003, one for encrypted links at 0x0005, and one whose handler
    /// answers later at 0x0007.
    private func server() throws -> GATTServer {
        let services = [
            GATTService(
                0xfff0,
                characteristics: [
                    GATTCharacteristic(0xfff1, properties: [.read, .write], value: .stored([1])),
                    GATTCharacteristic(
                        0xfff2, properties: [.read, .writeWithoutResponse],
                        permissions: AttributePermissions(read: .encrypted, write: .encrypted),
                        value: .stored([2])),
                    GATTCharacteristic(0xfff3, properties: [.read, .write], onRead: { _ in .later }),
                ])
        ]
        return GATTServer(try AttributeDatabase(services, generic: nil))
    }

    private func refused(
        _ opcode: ATTOpcode, _ handle: AttributeHandle, _ code: ATTErrorCode
    ) -> GATTAnswer { .respond(.error(ATTErrorResponse(opcode, handle, code))) }

    @Test("link security is queried only when the known security is insufficient")
    func securityIsQueriedOnlyWhenInsufficient() throws {
        let link = Link()
        var server = try server()
        server.connect(client, current: { link.ask() })
        #expect(server.handle(.read(3), from: client, mtu: mtu) == .respond(.read([1])))
        #expect(link.questions == 0)
        #expect(
            server.handle(.read(5), from: client, mtu: mtu)
                == refused(.readRequest, 5, .insufficientAuthentication))
        server.handle(ATTCommand.write(5, value: [9]), from: client, mtu: mtu)
        #expect(server.refusedCommands == 1)
        #expect(link.questions == 2)
        link.secure(LinkSecurity(level: .encrypted))
        server.handle(ATTCommand.write(5, value: [9]), from: client, mtu: mtu)
        #expect(server.refusedCommands == 1)
        #expect(link.questions == 3)
        #expect(server.handle(.read(5), from: client, mtu: mtu) == .respond(.read([9])))
        #expect(link.questions == 3)
        #expect(server.security(of: client) == LinkSecurity(level: .encrypted))
    }

    @Test(
        "a bonded client receives no value until its link meets the subscription's security",
        arguments: [false, true])
    func restoredSubscriptionWaitsForSecurity(isAsked: Bool) throws {
        let link = Link()
        let service = GATTService(
            0xfff0,
            characteristics: [
                GATTCharacteristic(0xfff1, properties: [.read, .notify], subscription: .encrypted)
            ])
        var server = GATTServer(try AttributeDatabase([service], generic: nil))
        server.connect(client, security: LinkSecurity(level: .encrypted, isBonded: true))
        let subscribing = ATTRequest.write(4, value: [1, 0])
        #expect(server.handle(subscribing, from: client, mtu: mtu) == .respond(.write))
        #expect(server.subscribers(of: 3).map(\.central) == [client])
        let record = server.disconnect(client)
        let current: (@Sendable () -> LinkSecurity)? = if isAsked { { link.ask() } } else { nil }
        server.connect(
            client, security: LinkSecurity(level: .open, isBonded: true), current: current, record: record)
        #expect(server.subscribers(of: 3) == [])
        let update = ValueUpdate(3, 0xfff1, [7])
        #expect(server.deliveries(of: [update]).isEmpty)
        link.secure(LinkSecurity(level: .encrypted, isBonded: true))
        if !isAsked { server.setSecurity(LinkSecurity(level: .encrypted, isBonded: true), of: client) }
        #expect(server.subscribers(of: 3).map(\.central) == [client])
        let deliveries = server.deliveries(of: [update])
        #expect(deliveries.map(\.client) == [client])
        #expect(deliveries.map(\.delivery.notifications) == [[update]])
    }

    /// Returns a dialogue with a server that has values for encrypted links at 0x0003 and 0x0009, and one for all links at 0x0006.
    /// 0x0009 is indicated, the others are notified. A bonded client has subscribed to all of them and has
    /// reconnected, on a link that is not encrypted yet.
    private func restored() throws -> ServerDialogue {
        let bonded = LinkSecurity(level: .encrypted, isBonded: true)
        var dialogue = try ServerDialogue(
            several(
                GATTCharacteristic(0xff01, properties: .notify, subscription: .encrypted),
                GATTCharacteristic(0xff02, properties: .notify),
                GATTCharacteristic(0xff03, properties: .indicate, subscription: .encrypted)),
            security: bonded)
        run(
            &dialogue,
            [Exchange("1204000100", "13"), Exchange("1207000100", "13"), Exchange("120a000200", "13")])
        let record = dialogue.server.disconnect(client)
        dialogue.server.connect(
            client, security: LinkSecurity(level: .open, isBonded: true), record: record)
        return dialogue
    }

    @Test("restored subscriptions deliver values only after the link is encrypted")
    func restoredValuesWaitForEncryption() throws {
        var dialogue = try restored()
        #expect(try dialogue.update(3, [1]) == "")
        #expect(try dialogue.update(9, [3]) == "")
        #expect(try dialogue.update(6, [2]) == "1b0600" + "02")
        dialogue.server.setSecurity(LinkSecurity(level: .encrypted, isBonded: true), of: client)
        // The values that were withheld are not sent later.
        #expect(dialogue.serve() == "")
        #expect(try dialogue.update(3, [4]) == "1b0300" + "04")
        #expect(try dialogue.update(9, [5]) == "1d0900" + "05")
    }

    @Test("values set together are delivered only where the link security allows", arguments: [false, true])
    func simultaneousValuesAreFilteredBySecurity(isEncrypted: Bool) throws {
        var server = try restored().server
        let updates = [
            ValueUpdate(3, 0xff01, [1]), ValueUpdate(6, 0xff02, [2]), ValueUpdate(9, 0xff03, [3]),
        ]
        if isEncrypted { server.setSecurity(LinkSecurity(level: .encrypted, isBonded: true), of: client) }
        // Both orders are filtered in the same way.
        for order in [updates, Array(updates.reversed())] {
            let deliveries = server.deliveries(of: order)
            #expect(deliveries.map(\.client) == [client])
            let notified = order.filter { $0.handle == 6 || $0.handle == 3 && isEncrypted }
            #expect(deliveries.map(\.delivery.notifications) == [notified])
            #expect(deliveries.map(\.delivery.indications) == [isEncrypted ? [updates[2]] : []])
        }
    }

    @Test("a newly bonded client keeps its configuration and has no pending service change")
    func newBondKeepsLinkConfiguration() throws {
        var server = try subscribable()
        server.connect(client)
        for (handle, value) in [(0x000b, [1]), (0x0009, [2, 0]), (0x0013, [1, 0])] as [(UInt16, [UInt8])] {
            let write = ATTRequest.write(AttributeHandle(handle), value: value)
            #expect(server.handle(write, from: client, mtu: mtu) == .respond(.write))
        }
        server.restore(GATTClientRecord(), of: client)
        #expect(server.features(of: client) == .robustCaching)
        #expect(server.serviceChange(for: client) == nil)
        #expect(server.subscribers(of: 0x0012).map(\.central) == [client])
        #expect(server.handle(.read(0x0012), from: client, mtu: mtu) == .respond(.read([100])))
    }

    @Test("restoring a record does not override what the client configured before encryption")
    func restoredRecordKeepsNewerConfiguration() throws {
        var server = try subscribable()
        var record = GATTClientRecord()
        record.databaseHash = server.database.hash
        record.configurations = [0x0008: .indicate, 0x0012: .notify]
        server.connect(client)
        let leaving = ATTRequest.write(0x0013, value: [0, 0])
        #expect(server.handle(leaving, from: client, mtu: mtu) == .respond(.write))
        let features = ATTRequest.write(0x000b, value: [1])
        #expect(server.handle(features, from: client, mtu: mtu) == .respond(.write))
        server.restore(record, of: client)
        #expect(server.subscribers(of: 0x0012) == [])
        #expect(server.configuration(of: 0x0008, for: client) == .indicate)
        #expect(server.features(of: client) == .robustCaching)
    }

    /// Returns a server with Service Changed at 0x0008, Client Supported Features at 0x000b, and a value that is
    /// notified at 0x0012.
    private func subscribable() throws -> GATTServer {
        let battery = GATTService(
            0x180f,
            characteristics: [
                GATTCharacteristic(0x2a19, properties: [.read, .notify], value: .stored([100]))
            ]
        )
        return GATTServer(try AttributeDatabase([battery], generic: GenericServices()))
    }

    @Test("each bearer has its own pending request; the client's bearers share prepared writes")
    func bearersHaveOwnRequestsAndShareWriteQueue() throws {
        var server = try server()
        server.connect(client)
        let pending = Mutex<PendingAnswer?>(nil)
        let slow: ReadHandler = { request in
            pending.withLock { $0 = request.pending }
            return .later
        }
        let waiting = GATTService(
            0xffe0, characteristics: [GATTCharacteristic(0xffe1, properties: .read, onRead: slow)])
        try server.add([waiting])
        let handle = try #require(server.database.valueHandle(of: 0xffe1))
        #expect(server.handle(.read(handle), from: client, on: second, mtu: mtu) == .later)
        let owed = try #require(pending.withLock { $0 })
        #expect(owed.bearer == second)
        // A request on the other bearer does not affect the pending one.
        #expect(server.handle(.read(3), from: client, mtu: mtu) == .respond(.read([1])))
        #expect(server.complete(owed, with: .success([7])) == .respond(.read([7])))
        #expect(server.complete(owed, with: .success([7])) == nil)
        #expect(
            server.handle(.prepareWrite(3, offset: 0, value: [8]), from: client, on: second, mtu: mtu)
                == .respond(.prepareWrite(3, offset: 0, value: [8])))
        #expect(server.handle(.executeWrite(.write), from: client, mtu: mtu) == .respond(.executeWrite))
        #expect(server.handle(.read(3), from: client, on: second, mtu: mtu) == .respond(.read([8])))
        #expect(server.handle(.read(handle), from: client, on: second, mtu: mtu) == .later)
        let lost = try #require(pending.withLock { $0 })
        server.close(second, of: client)
        #expect(server.complete(lost, with: .success([7])) == nil)
    }
}
