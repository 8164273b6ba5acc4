import BLECore
import HCI
import Testing
import VirtualController

@Suite struct EncryptionTests {
    static func refreshed(_ handle: ConnectionHandle) -> HCIEvent {
        .encryptionKeyRefreshComplete(EncryptionKeyRefreshComplete(connection: handle))
    }

    @Test func matchingKeysEncryptBothEnds() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        bench.perform(
            LEEnableEncryption(
                connection: one, random: 0x1122_3344_5566_7788, diversifier: 0x99aa, key: Bench.key),
            on: central)
        #expect(bench.events(central).isEmpty, "not before the peer's host has answered")
        #expect(
            bench.events(peripheral)
                == [Bench.request(other, random: 0x1122_3344_5566_7788, diversifier: 0x99aa)])
        #expect(!bench.isEncrypted(central, one) && !bench.isEncrypted(peripheral, other))

        let reply = LELongTermKeyRequestReply(connection: other, key: Bench.key)
        #expect(try bench.ask(reply, on: peripheral).value == other)
        #expect(bench.events(central) == [Bench.change(one)])
        #expect(bench.events(peripheral) == [Bench.change(other)])
        #expect(bench.isEncrypted(central, one) && bench.isEncrypted(peripheral, other))

        // The next connection begins without encryption.
        bench.perform(Disconnect(connection: one), on: central)
        _ = (bench.events(central), bench.events(peripheral))
        let (again, _) = try bench.connect(central, to: peripheral)
        #expect(!bench.isEncrypted(central, one) && !bench.isEncrypted(central, again))
    }

    /// Core Specification 5.4, Vol 4, Part E, 7.8.24: the link layer ends the connection.
    @Test(arguments: [false, true]) func mismatchedKeysEndConnection(_ isRefresh: Bool) throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        if isRefresh { bench.encrypt((central, one), (peripheral, other)) }
        bench.perform(LEEnableEncryption(connection: one, key: Bench.key), on: central)
        #expect(bench.events(peripheral) == [Bench.request(other)])
        bench.perform(LELongTermKeyRequestReply(connection: other, key: Bench.key ^ 1), on: peripheral)
        #expect(bench.events(central) == [DisconnectionTests.ended(one, .connectionTerminatedMICFailure)])
        #expect(
            bench.events(peripheral) == [DisconnectionTests.ended(other, .connectionTerminatedMICFailure)])
        #expect(bench.air.deadline == nil)
    }

    /// Only the central reports the missing key, and the connection continues without encryption.
    @Test func missingPeripheralKeyLeavesLinkUnencrypted() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        bench.perform(LEEnableEncryption(connection: one, key: Bench.key), on: central)
        _ = bench.events(peripheral)
        let reply = LELongTermKeyRequestNegativeReply(connection: other)
        #expect(try bench.ask(reply, on: peripheral).value == other)
        #expect(bench.events(central) == [Bench.change(one, .off, .pinOrKeyMissing)])
        #expect(bench.events(peripheral).isEmpty)
        bench.send([7], one, on: central)
        #expect(bench.data(peripheral).map(\.data) == [[7]])
        #expect(!bench.isEncrypted(central, one) && !bench.isEncrypted(peripheral, other))
        // The next attempt, with a key, succeeds.
        bench.encrypt((central, one), (peripheral, other))
    }

    @Test func encryptedLinkRefreshesKey() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        bench.encrypt((central, one), (peripheral, other))
        for key: UInt128 in [Bench.key, 5] {
            bench.perform(
                LEEnableEncryption(connection: one, random: 1, diversifier: 2, key: key), on: central)
            #expect(bench.events(peripheral) == [Bench.request(other, random: 1, diversifier: 2)])
            #expect(bench.isEncrypted(central, one), "it is paused, which no event reports")
            bench.perform(LELongTermKeyRequestReply(connection: other, key: key), on: peripheral)
            #expect(bench.events(central) == [Self.refreshed(one)])
            #expect(bench.events(peripheral) == [Self.refreshed(other)])
        }
        bench.send([1], other, on: peripheral)
        #expect(bench.data(central).map(\.data) == [[1]])
    }

    /// Core Specification 5.4, Vol 6, Part B, 5.1.3.1: an encrypted link does not continue without encryption.
    @Test func missingKeyOnRefreshEndsConnection() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        bench.encrypt((central, one), (peripheral, other))
        bench.perform(LEEnableEncryption(connection: one, key: 5), on: central)
        _ = bench.events(peripheral)
        bench.perform(LELongTermKeyRequestNegativeReply(connection: other), on: peripheral)
        #expect(bench.events(central) == [DisconnectionTests.ended(one, .pinOrKeyMissing)])
        #expect(bench.events(peripheral) == [DisconnectionTests.ended(other, .pinOrKeyMissing)])
    }

    /// Data and other procedures wait while a link is encrypted for the first time or its key is refreshed.
    @Test(arguments: [false, true]) func dataWaitsForEncryptionProcedure(_ isRefresh: Bool) throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        if isRefresh { bench.encrypt((central, one), (peripheral, other)) }
        bench.send([1], one, on: central)
        bench.send([2], other, on: peripheral)
        bench.perform(LEEnableEncryption(connection: one, key: Bench.key), on: central)
        bench.send([3, 4], one, on: central)
        bench.send([5, 6], other, on: peripheral)
        bench.perform(LEReadRemoteFeatures(connection: one), on: central)
        #expect(bench.data(peripheral).map(\.data) == [[1]])
        #expect(bench.data(central).map(\.data) == [[2]])
        #expect(bench.events(central) == [DataTests.completed(one, 1)])
        #expect(bench.events(peripheral) == [DataTests.completed(other, 1), Bench.request(other)])
        bench.perform(LELongTermKeyRequestReply(connection: other, key: Bench.key), on: peripheral)
        let packets = bench.packets(peripheral)
        let data = packets.compactMap { if case .acl(let packet) = $0 { packet.data } else { nil } }
        #expect(data == [[3], [4]])
        let reported = isRefresh ? Self.refreshed(other) : Bench.change(other)
        #expect(packets.first == .event(reported.packet), "the host knows before it gets them")
        #expect(bench.data(central).map(\.data) == [[5], [6]])
        let events = bench.events(central)
        #expect(events.first == (isRefresh ? Self.refreshed(one) : Bench.change(one)))
        #expect(events.contains(DataTests.completed(one, 2)))
        #expect(events.count == 3, "and the features")
    }

    @Test func connectionCanEndDuringEncryption() throws {
        for isByCentral in [true, false] {
            var (bench, central, peripheral, one, other) = try Bench.pair()
            bench.perform(LEEnableEncryption(connection: one, key: Bench.key), on: central)
            bench.send([3], one, on: central)
            _ = bench.events(peripheral)
            let (near, far) =
                isByCentral ? ((central, one), (peripheral, other)) : ((peripheral, other), (central, one))
            bench.perform(Disconnect(connection: near.1), on: near.0)
            #expect(
                bench.events(near.0)
                    == [DisconnectionTests.ended(near.1, .connectionTerminatedByLocalHost)])
            #expect(
                bench.events(far.0) == [DisconnectionTests.ended(far.1, .remoteUserTerminatedConnection)])
            #expect(bench.data(peripheral).isEmpty)
            #expect(
                bench.status(
                    LELongTermKeyRequestReply(connection: other, key: Bench.key), on: peripheral)
                    == .unknownConnectionIdentifier)
        }
    }

    /// Both ends disconnect 40 s after the last packet of the procedure (Vol 6, Part B, 5.2).
    @Test func unansweredKeyRequestEndsLinkAfter40Seconds() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        bench.perform(LEEnableEncryption(connection: one, key: Bench.key), on: central)
        bench.run(for: .milliseconds(39_999))
        #expect(bench.events(central).isEmpty)
        #expect(bench.events(peripheral) == [Bench.request(other)])
        bench.run(for: .milliseconds(1))
        #expect(bench.events(central) == [DisconnectionTests.ended(one, .llResponseTimeout)])
        #expect(bench.events(peripheral) == [DisconnectionTests.ended(other, .llResponseTimeout)])
    }

    @Test func encryptionResumesAfterLossOfRange() throws {
        var parameters = Bench.parameters
        parameters.supervisionTimeout = Centiseconds(rawValue: 1000)
        var bench = Bench()
        let (central, peripheral) = (bench.join(), bench.join())
        let (one, other) = try bench.connect(central, to: peripheral, parameters: parameters)
        bench.setRSSI(nil, between: central, and: peripheral)
        bench.send([1], one, on: central)
        bench.perform(LEEnableEncryption(connection: one, key: Bench.key), on: central)
        bench.send([2], one, on: central)
        bench.run(for: .seconds(1))
        #expect(bench.packets(peripheral).isEmpty)
        bench.setRSSI(-60, between: central, and: peripheral)
        #expect(bench.data(peripheral).map(\.data) == [[1]], "what was sent before goes before")
        #expect(bench.events(peripheral) == [Bench.request(other)])
        bench.setRSSI(nil, between: central, and: peripheral)
        bench.perform(LELongTermKeyRequestReply(connection: other, key: Bench.key), on: peripheral)
        bench.run(for: .seconds(1))
        #expect(bench.packets(peripheral).isEmpty)
        bench.setRSSI(-60, between: central, and: peripheral)
        #expect(bench.events(peripheral) == [Bench.change(other)])
        #expect(bench.data(peripheral).map(\.data) == [[2]])
        #expect(bench.events(central).contains(Bench.change(one)))
    }

    /// Data that cross the procedure on air with delay and loss arrive completely and in order.
    @Test(arguments: 0..<8 as Range<UInt64>) func dataSurvivesEncryptionOnLossyAir(_ seed: UInt64) throws {
        var bench = Bench(seed: seed)
        let (central, peripheral) = (bench.join(), bench.join())
        let (one, other) = try bench.connect(central, to: peripheral)
        bench.air.conditions = .init(loss: 0.3, delay: .milliseconds(7))
        var sent: [[UInt8]] = []
        var asked = 0
        for round: UInt8 in 0..<60 {
            bench.send([round], one, on: central)
            bench.send([round], other, on: peripheral)
            sent.append([round])
            if round.isMultiple(of: 5) {
                // The procedure before may still be in progress, so the command may fail.
                _ = bench.status(LEEnableEncryption(connection: one, key: UInt128(seed)), on: central)
            }
            bench.run(for: .milliseconds(40))
            for event in bench.events(peripheral) where event == Bench.request(other) {
                asked += 1
                bench.perform(
                    LELongTermKeyRequestReply(connection: other, key: UInt128(seed)), on: peripheral)
            }
        }
        bench.run(for: .seconds(5))
        if bench.events(peripheral).contains(Bench.request(other)) {
            bench.perform(LELongTermKeyRequestReply(connection: other, key: UInt128(seed)), on: peripheral)
            bench.run(for: .seconds(5))
        }
        #expect(asked > 1)
        #expect(bench.data(central).map(\.data) == sent)
        #expect(bench.data(peripheral).map(\.data) == sent)
        #expect(bench.isEncrypted(central, one) && bench.isEncrypted(peripheral, other))
    }
}
