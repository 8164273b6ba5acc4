import ATT
import BLECore
import GATT
import GATTServer
import Testing

private typealias Client = ServedClient

/// The delivery of values to one client.
struct DeliveryTests {
    private let first = ValueUpdate(Client.notified, 0xff01, [1])
    private let second = ValueUpdate(Client.indicated, 0xff02, [2])

    @Test func notificationIsDeliveredWhenQueued() throws {
        var client = try Client.subscribed()
        let id = try client.update((Client.notified, [1]))
        #expect(client.events() == [.sent(first), .delivered(id, .complete)])
        #expect(client.sent() == ["1b030001"])
    }

    @Test func indicationIsDeliveredWhenConfirmed() throws {
        var client = try Client.subscribed()
        let id = try client.update((Client.indicated, [2]))
        #expect(client.sent() == ["1d060002"])
        #expect(client.events() == [.sent(second)])
        client.receive("1e")
        #expect(client.events() == [.confirmed(second), .delivered(id, .complete)])
    }

    @Test func mixedDeliveryEndsWithConfirmation() throws {
        var client = try Client.subscribed()
        let id = try client.update((Client.indicated, [2]), (Client.notified, [1]))
        #expect(client.sent() == ["1b030001", "1d060002"])
        #expect(client.events() == [.sent(first), .sent(second)])
        client.receive("1e")
        #expect(client.events() == [.confirmed(second), .delivered(id, .complete)])
    }

    @Test func indicationsAreSentOneAtATime() throws {
        var client = try Client.subscribed()
        let ids = try (1...3).map { try client.update((Client.indicated, [$0])) }
        #expect(client.sent() == ["1d060001"])
        #expect(client.events() == [.sent(ValueUpdate(6, 0xff02, [1]))])
        #expect(client.ask("1e") == ["1d060002"])
        #expect(client.events().compactMap(\.end) == [.complete])
        // The last confirmation belongs to no indication and is ignored.
        #expect(client.ask("1e") == ["1d060003"])
        #expect(client.ask("1e") == [])
        #expect(client.ask("1e") == [])
        let last = client.events()
        #expect(last.last == .delivered(ids[2], .complete))
        #expect(last.compactMap(\.end).count == 2)
        #expect(client.connection.ignored.confirmations == 1)
    }

    @Test func notificationsDoNotWaitForConfirmation() throws {
        var client = try Client.subscribed()
        let silent = try client.update((Client.indicated, [2]))
        let next = try client.update((Client.notified, [1]))
        #expect(client.sent() == ["1d060002", "1b030001"])
        #expect(client.events().contains(.delivered(next, .complete)))
        #expect(!client.events().contains(.delivered(silent, .complete)))
    }

    @Test func waitingValuesAreSentInOrder() throws {
        var client = try Client.subscribed(unsolicitedLimit: 2)
        let ids = try (0..<5).map { try client.update((Client.notified, [$0]), (Client.second, [$0])) }
        let begun = client.events()
        #expect(begun.compactMap(\.sentValue) == [[0], [0]])
        #expect(begun.last == .delivered(ids[0], .complete))
        #expect(!client.connection.hasRoom(forIndication: false))
        #expect(client.connection.unsent == 10)
        #expect(client.sent(atMost: 1) == ["1b030000"])
        #expect(client.connection.unsent == 9)
        let rest = client.sent()
        let all = (0..<5).flatMap { ["1b03000\($0)", "1b09000\($0)"] }
        #expect(rest == Array(all.dropFirst()))
        #expect(client.events().compactMap(\.end).count == 4)
        #expect(client.connection.hasRoom(forIndication: false))
        #expect(Set(ids).count == 5)
    }

    @Test func commandIsSentBeforeWaitingValues() throws {
        var client = try Client.subscribed(unsolicitedLimit: 3)
        for number in 0..<9 as Range<UInt8> { _ = try client.update((Client.notified, [number])) }
        let command = ATTCommand.write(0x0003, value: [0xcc])
        guard case .pending = try client.connection.send(command) else {
            return #expect(Bool(false), "there is room")
        }
        // The command has the next place, before the values that wait for one.
        let sent = client.sent()
        #expect(sent.firstIndex(of: "520300cc") == 3)
        #expect(sent.count == 10)
    }

    @Test func roomIsReportedAfterWaitingValuesAreSent() throws {
        var client = try Client.subscribed(unsolicitedLimit: 2)
        for number in 0..<4 as Range<UInt8> { _ = try client.update((Client.notified, [number])) }
        _ = client.events()
        guard case .pending(let room) = client.connection.waitUntilReady(forIndication: false) else {
            return #expect(Bool(false), "there is room")
        }
        #expect(client.sent(atMost: 2).count == 2)
        #expect(client.ends() == [])
        #expect(client.sent(atMost: 1).count == 1)
        #expect(client.ends() == [room.id])
        #expect(client.connection.hasRoom(forIndication: false))
    }

    @Test func indicationRoomIsReportedAfterConfirmation() throws {
        var client = try Client.subscribed()
        for number in 0..<65 as Range<UInt8> { _ = try client.update((Client.indicated, [number])) }
        #expect(!client.connection.hasRoom(forIndication: true))
        guard case .pending(let room) = client.connection.waitUntilReady(forIndication: true) else {
            return #expect(Bool(false), "there is room")
        }
        #expect(client.sent().count == 1)
        #expect(client.ends() == [])
        #expect(client.ask("1e").count == 1)
        #expect(client.ends() == [room.id])
        #expect(client.connection.hasRoom(forIndication: true))
    }

    @Test func unsentExcludesIndicationsAwaitingConfirmation() throws {
        var client = try Client.subscribed()
        for number in 1...3 as ClosedRange<UInt8> { _ = try client.update((Client.indicated, [number])) }
        #expect(client.connection.unsent == 1)
        #expect(client.sent().count == 1)
        #expect(client.connection.unsent == 0)
    }

    @Test func packedNotificationHoldsWhatFits() throws {
        var client = try Client.subscribed()
        let updates = try client.server.setValues([
            (Client.notified, [0]), (Client.second, [1]), (Client.notified, [2]), (Client.second, [3]),
        ])
        let id = client.connection.deliver(Delivery(notifications: updates, packs: true))
        // The opcode takes 1 octet and each value 5, so a PDU of 23 octets holds four values and not a fifth.
        #expect(client.sent() == ["23" + "0300010000" + "0900010001" + "0300010002" + "0900010003"])
        #expect(client.events().last == .delivered(id, .complete))
        let long = updates + [ValueUpdate(Client.notified, 0xff01, [1, 2, 3, 4])]
        _ = client.connection.deliver(Delivery(notifications: long, packs: true))
        let opcodes = client.sent().map { String($0.prefix(2)) }
        #expect(opcodes == ["23", "1b"])
    }

    @Test func valueOverMTURefusesWholeDelivery() throws {
        var client = try Client.subscribed()
        let long = [UInt8](repeating: 7, count: 21)
        let id = try client.update((Client.notified, [1]), (Client.second, long))
        let error = ATTLimitError(.pdu(.handleValueNotification), maximum: 23, value: 24)
        #expect(client.events() == [.delivered(id, .refused(error))])
        #expect(client.sent() == [])
        let updates = try client.server.setValues([(Client.indicated, long)])
        let cut = client.server.delivery(of: updates, to: Client.client, truncating: true)
        _ = client.connection.deliver(cut)
        #expect(client.sent() == ["1d0600" + String(repeating: "07", count: 20)])
    }

    @Test func cancelledDeliveryDoesNotAffectOthers() throws {
        var client = try Client.subscribed()
        let ids = try (1...3).map { try client.update((Client.indicated, [$0])) }
        #expect(client.sent() == ["1d060001"])
        client.connection.cancel(ids[0])
        client.connection.cancel(ids[1])
        // The first indication has been sent, so the last one still waits for its confirmation.
        #expect(client.ask("1e") == ["1d060003"])
        #expect(client.ask("1e") == [])
        let ends = client.events().filter { $0.end != nil }
        #expect(ends == [.delivered(ids[2], .complete)])
    }

    @Test func missingConfirmationEndsAllDeliveries() throws {
        var client = try Client.subscribed()
        let ids = try (1...2).map { try client.update((Client.indicated, [$0])) }
        #expect(client.sent() == ["1d060001"])
        _ = client.events()
        client.connection.expire(at: try #require(client.connection.deadline))
        let reason = ATTBearer.Closure.transactionTimeout
        let ends = ids.map { GATTConnection.Event.delivered($0, .closed(reason)) }
        #expect(client.events() == ends + [.closed(reason)])
        let late = try client.update((Client.notified, [1]))
        #expect(client.events() == [.delivered(late, .closed(reason))])
        #expect(client.sent() == [])
        #expect(client.connection.unsent == 0)
    }

    @Test func emptyDeliveryCompletesImmediately() throws {
        var client = try ServedClient()
        let id = try client.update((Client.notified, [1]))
        #expect(client.events() == [.delivered(id, .complete)])
    }
}
