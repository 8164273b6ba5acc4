import ATT
import BLECore
import GATT
import GATTClient
import TestSupport
import Testing

/// Operations of the client's role: their order, and that each ends once.
struct OperationTests {
    private struct Refusal: Error {}

    private func read(_ handle: AttributeHandle, _ client: inout AskingClient) -> Ticket<[UInt8]> {
        client.connection.session.run(ReadValue(handle))
    }

    // MARK: Order

    @Test func proceduresRunSequentially() throws {
        var client = AskingClient()
        let first = client.connection.session.run(ReadLongValue(3))
        let second = read(4, &client)
        #expect(client.sent() == ["0a0300"])
        let part = String(repeating: "aa", count: 22)
        #expect(client.ask("0b" + part) == ["0c03001600"])
        #expect(client.ends().isEmpty)
        #expect(client.ask("0dbb") == ["0a0400"])
        #expect(try client.end(of: first)?.get().count == 23)
        #expect(client.ask("0bcc") == [])
        #expect(try client.end(of: second)?.get() == [0xcc])
    }

    @Test func cancelledWaitingProcedureDoesNotStart() throws {
        var client = AskingClient()
        let tickets = (3...5).map { read(AttributeHandle($0), &client) }
        #expect(client.sent() == ["0a0300"])
        client.connection.cancel(tickets[1].id)
        client.connection.cancel(tickets[1].id)
        #expect(client.ends() == [tickets[1].id])
        #expect(client.ask("0b01") == ["0a0500"])
        #expect(client.ask("0b02") == [])
        #expect(client.ends() == [tickets[0].id, tickets[2].id])
    }

    @Test func cancelledSentRequestStillAwaitsResponse() throws {
        var client = AskingClient()
        let (first, second) = (read(3, &client), read(4, &client))
        #expect(client.sent() == ["0a0300"])
        client.connection.cancel(first.id)
        #expect(client.end(of: first)?.failure == "cancelled")
        #expect(client.sent() == [])
        #expect(client.ask("0b01") == ["0a0400"])
        #expect(client.end(of: second) == nil)
        client.receive("0b02")
        #expect(try client.end(of: second)?.get() == [2])
    }

    @Test func cancelWithdrawsUnsentRequest() throws {
        var client = AskingClient()
        _ = try client.connection.send(.write(9, value: []))
        let first = read(3, &client)
        // The command is sent, and the request is queued behind it.
        #expect(client.sent(atMost: 1) == ["520900"])
        client.connection.cancel(first.id)
        let second = read(4, &client)
        #expect(client.sent() == ["0a0400"])
        client.receive("0b02")
        #expect(try client.end(of: second)?.get() == [2])
    }

    @Test func commandsBypassRequests() throws {
        var client = AskingClient()
        _ = read(3, &client)
        #expect(client.sent() == ["0a0300"])
        _ = read(4, &client)
        _ = try client.connection.send(.write(9, value: [1]))
        #expect(client.sent() == ["52090001"])
    }

    @Test func sessionIsAskingUntilAllProceduresEnd() throws {
        var client = AskingClient()
        #expect(!client.connection.session.isAsking)
        let first = read(3, &client)
        let second = read(4, &client)
        #expect(client.connection.session.isAsking)
        _ = client.sent()
        client.receive("0b01")
        #expect(client.sent() == ["0a0400"] && client.connection.session.isAsking)
        client.receive("0b02")
        #expect(client.ends() == [first.id, second.id])
        #expect(!client.connection.session.isAsking)
    }

    // MARK: What is left behind

    @Test func abandonedLongWriteIsCancelledBeforeNextRequest() throws {
        var client = AskingClient()
        let value = [UInt8](repeating: 1, count: 30)
        let long = client.connection.session.run(WriteLongValue(3, value))
        let next = read(4, &client)
        let prepared = client.sent()
        #expect(prepared.count == 1 && prepared[0].hasPrefix("16"))
        let more = client.ask("17" + prepared[0].dropFirst(2))
        #expect(more.count == 1)
        client.connection.cancel(long.id)
        #expect(client.ends() == [long.id])
        #expect(client.sent() == [], "the second part is on its way")
        #expect(client.ask("17" + more[0].dropFirst(2)) == ["1800"])
        #expect(client.ask("19") == ["0a0400"])
        client.receive("0b05")
        #expect(try client.end(of: next)?.get() == [5])
    }

    @Test func refusedLongWriteCancelsPreparedWrites() throws {
        var client = AskingClient()
        let long = client.connection.session.run(WriteLongValue(3, [UInt8](repeating: 1, count: 30)))
        let prepared = client.sent()
        #expect(prepared.count == 1)
        #expect(client.ask("17" + (prepared.first ?? "").dropFirst(2)).count == 1)
        #expect(client.ask("01 16 0300 09") == ["1800"])
        #expect(client.events().isEmpty)
        #expect(client.ask("19") == [])
        #expect(client.end(of: long)?.failure?.contains("Prepare Queue Full") == true)
    }

    @Test func unsentLongWriteNeedsNoCancel() throws {
        var client = AskingClient()
        _ = try client.connection.send(.write(9, value: []))
        let long = client.connection.session.run(WriteLongValue(3, [UInt8](repeating: 1, count: 30)))
        #expect(client.sent(atMost: 1) == ["520900"])
        client.connection.cancel(long.id)
        #expect(client.sent() == [])
    }

    @Test func malformedPrepareResponseCancelsPreparedWrites() throws {
        var client = AskingClient()
        let long = client.connection.session.run(WriteLongValue(3, [UInt8](repeating: 1, count: 30)))
        let next = read(4, &client)
        #expect(client.sent().count == 1)
        // The Prepare Write Response has no offset, but the server has queued the part.
        #expect(client.ask("17 0300") == ["1800"])
        #expect(client.ask("19") == ["0a0400"])
        #expect(client.ends() == [long.id])
        client.connection.cancel(next.id)
    }

    @Test func databaseChangeCancelsPreparedWritesBeforeNextWrite() throws {
        let server = KnownServer()
        var (client, value) = try server.discovered()
        let bytes = [UInt8](repeating: 1, count: 50)
        let first = client.connection.session.run(
            WriteLongValue(0x0013, bytes), about: [CheckedHandle(value)])
        let second = client.connection.session.run(WriteLongValue(0x0015, bytes))
        let one = client.sent()
        let two = client.ask("17" + (one.first ?? "").dropFirst(2))
        // While the second part is on its way the database changes.
        #expect(client.ask("1d0300" + "0100ffff") == ["1e"])
        #expect(client.ask("17" + (two.first ?? "").dropFirst(2)) == ["1800"])
        let next = client.ask("19")
        #expect(next.count == 1 && next[0].hasPrefix("161500"))
        guard case .failure(.databaseChanged(0x0013))? = client.end(of: first) else {
            return #expect(Bool(false), "the handle is used")
        }
        client.connection.cancel(second.id)
    }

    // MARK: The MTU

    @Test func mtuIsOfferedOnceBeforeWaitingRequests() throws {
        var client = AskingClient()
        let waiting = [read(3, &client), read(4, &client)]
        #expect(client.sent() == ["0a0300"])
        guard case .pending(let cancelled) = client.connection.offerMTU() else {
            return #expect(Bool(false), "it was not offered")
        }
        // An offer that was cancelled before it was sent does not count.
        client.connection.cancel(cancelled.id)
        guard case .pending(let offer) = client.connection.offerMTU() else {
            return #expect(Bool(false), "it was not offered")
        }
        #expect(client.ask("0b01") == ["020502"])
        #expect(client.ask("03f700") == ["0a0400"])
        #expect(client.ends() == [cancelled.id, waiting[0].id, offer.id])
        #expect(client.connection.mtu.octets == 247)
        guard case .done = client.connection.offerMTU() else {
            return #expect(Bool(false), "it was offered")
        }
    }

    @Test func readMultipleUsesMTUOfItsRequest() throws {
        var client = AskingClient()
        let ticket = client.connection.session.run(ReadSeveralValues([3, 4]))
        #expect(client.sent() == ["2003000400"])
        #expect(client.ask("01 20 0300 06") == ["0e03000400"])
        // The server sends an Exchange MTU Request before its response, which is still limited by the earlier MTU.
        _ = client.ask("02f700")
        #expect(client.connection.mtu.octets == 247)
        #expect(client.ask("0f" + String(repeating: "aa", count: 22)) == ["0a0300"])
        #expect(client.ask("0b" + String(repeating: "aa", count: 23)) == ["0a0400"])
        #expect(client.ask("0bbb") == [])
        #expect(try client.end(of: ticket)?.get() == .joined([UInt8](repeating: 0xaa, count: 23) + [0xbb]))
    }

    // MARK: Failures

    @Test func refusalIsReturnedAsFailure() throws {
        var client = AskingClient()
        let ticket = read(3, &client)
        _ = client.sent()
        client.receive("01 0a 0300 02")
        guard case .failure(.procedure(.att(let refusal)))? = client.end(of: ticket) else {
            return #expect(Bool(false), "no refusal")
        }
        #expect(refusal.code == .readNotPermitted)
    }

    @Test func requestOverMTUFailsWithLimit() throws {
        var client = AskingClient()
        let ticket = client.connection.session.run(WriteValue(3, [UInt8](repeating: 0, count: 21)))
        let next = read(4, &client)
        #expect(client.sent() == ["0a0400"])
        guard case .failure(.limit(let error))? = client.end(of: ticket) else {
            return #expect(Bool(false), "no limit")
        }
        #expect(error == ATTLimitError(.pdu(.writeRequest), maximum: 23, value: 24))
        client.connection.cancel(next.id)
    }

    @Test func closingConnectionEndsAllOperations() throws {
        var client = AskingClient(unsolicitedLimit: 1)
        let reads = [read(3, &client), read(4, &client)]
        guard case .pending = client.connection.session.discover(),
            case .done = try client.connection.send(.write(9, value: [])),
            case .pending(let command) = try client.connection.send(.write(9, value: [])),
            case .pending(let room) = client.connection.waitUntilReady(forIndication: false)
        else { return #expect(Bool(false), "there is no room") }
        _ = client.sent(atMost: 1)
        client.connection.close(.disconnected)
        let ends = client.ends()
        #expect(ends.count == 5 && Set(ends).count == 5, "\(ends)")
        #expect(Set(ends).isSuperset(of: reads.map(\.id) + [command.id, room.id]))
        let late = read(3, &client)
        #expect(client.end(of: late)?.failure == "the link has ended")
        client.connection.cancel(late.id)
        #expect(client.ends().isEmpty && client.sent().isEmpty)
    }

    @Test func transactionTimeoutEndsAllOperations() throws {
        var client = AskingClient()
        let tickets = [read(3, &client), read(4, &client)]
        _ = client.sent()
        client.now = client.now + .seconds(30)
        client.connection.expire(at: client.now)
        #expect(client.ends() == tickets.map(\.id))
    }

    // MARK: Security

    @Test func procedureRestartsAfterSecurityRaise() throws {
        var client = AskingClient()
        let (first, second) = (read(3, &client), read(4, &client))
        _ = client.sent()
        #expect(client.ask("01 0a 0300 0f") == [], "others wait")
        #expect(client.connection.session.securing == first.id)
        guard case .securityWanted(first.id, .insufficientEncryption)? = client.events().last else {
            return #expect(Bool(false), "the owner is not asked")
        }
        // An answer for another operation has no effect.
        client.connection.session.securityEnded(.raised, for: second.id)
        #expect(client.sent() == [])
        client.connection.session.securityEnded(.raised, for: first.id)
        #expect(client.sent() == ["0a0300"])
        // Security is raised only once.
        #expect(client.ask("01 0a 0300 0f") == ["0a0400"])
        #expect(client.end(of: first)?.failure?.contains("Insufficient Encryption") == true)
        #expect(client.connection.session.securing == nil)
    }

    @Test func securityIsRaisedOncePerHandle() throws {
        var client = AskingClient()
        let ticket = client.connection.session.run(ReadSeveralValues([3, 4]))
        _ = client.sent()
        #expect(client.ask("01 20 0300 0f") == [])
        client.connection.session.securityEnded(.raised, for: ticket.id)
        #expect(client.sent() == ["2003000400"])
        #expect(client.ask("01 20 0400 05") == [])
        client.connection.session.securityEnded(.raised, for: ticket.id)
        #expect(client.sent() == ["2003000400"])
        #expect(client.ask("01 20 0300 0f") == [])
        #expect(client.end(of: ticket)?.failure?.contains("Insufficient Encryption") == true)
    }

    @Test(arguments: [SecurityRaise.unavailable, .failed(Refusal())])
    func failedSecurityRaiseFailsProcedure(_ end: SecurityRaise) throws {
        var client = AskingClient()
        let (first, second) = (read(3, &client), read(4, &client))
        _ = client.sent()
        _ = client.ask("01 0a 0300 05")
        client.connection.session.securityEnded(end, for: first.id)
        #expect(client.sent() == ["0a0400"])
        switch (end, client.end(of: first)) {
        case (.unavailable, .failure(.procedure(.att(let refusal)))?):
            #expect(refusal.code == .insufficientAuthentication)
        case (.failed, .failure(.security(let error))?): #expect(error is Refusal)
        case (_, let other): #expect(Bool(false), "\(String(describing: other))")
        }
        client.connection.cancel(second.id)
    }

    @Test func disabledSecurityRaiseReturnsRefusal() throws {
        var client = AskingClient()
        let ticket = client.connection.session.run(ReadValue(3), raisesSecurity: false)
        _ = client.sent()
        client.receive("01 0a 0300 0f")
        #expect(client.end(of: ticket)?.failure?.contains("Insufficient Encryption") == true)
    }

    @Test func operationAwaitingSecurityCanBeCancelled() throws {
        var client = AskingClient()
        let (first, second) = (read(3, &client), read(4, &client))
        _ = client.sent()
        _ = client.ask("01 0a 0300 0f")
        client.connection.cancel(first.id)
        #expect(client.end(of: first)?.failure == "cancelled")
        #expect(client.sent() == ["0a0400"])
        client.connection.session.securityEnded(.raised, for: first.id)
        #expect(client.ask("0b02") == [])
        #expect(try client.end(of: second)?.get() == [2])
    }

    // MARK: Room for commands

    @Test func waitingCommandsAreSentInOrder() throws {
        var client = AskingClient(unsolicitedLimit: 1)
        var tickets: [TicketID] = []
        for number in 0..<4 as Range<UInt8> {
            switch try client.connection.send(.write(9, value: [number])) {
            case .done: #expect(number == 0)
            case .pending(let ticket): tickets.append(ticket.id)
            }
        }
        #expect(!client.connection.canSend)
        #expect(client.connection.unsent == 4)
        // A later command does not overtake those that wait, even when there is room at this moment: the
        // first has been sent, and those that wait move up when events are read.
        let left = written { client.connection.nextFrame(into: &$0, at: .zero) }
        #expect(left == [0x52, 9, 0, 0])
        #expect(try !client.connection.trySend(.write(9, value: [9])))
        #expect(client.connection.unsent == 3)
        client.connection.cancel(tickets[1])
        #expect(client.sent() == ["52090001", "52090003"])
        #expect(Set(client.ends()) == Set(tickets))
        #expect(client.connection.canSend && client.connection.unsent == 0)
    }

    @Test func withdrawnRequestFreesRoomForValues() throws {
        var client = AskingClient(unsolicitedLimit: 1)
        let first = read(3, &client)
        // The request is not sent yet, and occupies the only place.
        _ = client.events()
        guard case .pending(let room) = client.connection.waitUntilReady(forIndication: false) else {
            return #expect(Bool(false), "there is room")
        }
        client.connection.cancel(first.id)
        #expect(client.ends() == [first.id, room.id])
    }

    @Test func roomWaitersAreServedInOrder() throws {
        var client = AskingClient(unsolicitedLimit: 1)
        _ = try client.connection.send(.write(9, value: [0]))
        guard case .pending(let writer) = try client.connection.send(.write(9, value: [1])),
            case .pending(let other) = client.connection.waitUntilReady()
        else { return #expect(Bool(false), "there is room") }
        #expect(client.ends() == [])
        // The first command makes room for the writer when it is sent, and the writer's command for the other.
        #expect(client.sent(atMost: 1) == ["52090000"])
        #expect(client.ends() == [writer.id])
        #expect(client.sent() == ["52090001"])
        #expect(client.ends() == [other.id])
        guard case .done = client.connection.waitUntilReady() else { return #expect(Bool(false), "no room") }
    }

    @Test func overlongCommandIsRefusedImmediatelyOrInOrder() throws {
        var client = AskingClient(unsolicitedLimit: 1)
        let long = ATTCommand.write(9, value: [UInt8](repeating: 0, count: 21))
        let limit = ATTLimitError(.pdu(.writeCommand), maximum: 23, value: 24)
        let refusal = #expect(throws: GATTFailure.self) { try client.connection.send(long) }
        guard case .limit(limit)? = refusal else {
            return #expect(Bool(false), "\(String(describing: refusal))")
        }
        _ = try client.connection.send(.write(9, value: [0]))
        guard case .pending(let ticket) = try client.connection.send(long) else {
            return #expect(Bool(false), "there is room")
        }
        #expect(client.sent() == ["52090000"])
        guard case .failure(.limit(limit))? = client.end(of: ticket) else {
            return #expect(Bool(false), "no limit")
        }
    }
}
