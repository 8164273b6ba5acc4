import ATT
import BLECore
import GATT
import GATTClient
import Testing

/// The discovery of a server's database, and the operations that wait for it.
struct SessionDiscoveryTests {
    private let server = KnownServer()
    /// An indication of Service Changed for all handles.
    private let changed = "1d0300" + "0100ffff"

    private func discover(_ client: inout AskingClient, refreshing: Bool = false) throws -> Ticket<
        RemoteDatabase
    > {
        guard case .pending(let ticket) = client.connection.session.discover(refreshing: refreshing) else {
            throw GATTFailure.restlessDatabase
        }
        return ticket
    }

    /// Answers the requests of a walk over an empty database.
    private func refuseWalk(_ client: inout AskingClient, _ asked: [String]) -> [String] {
        var asked = asked
        while let request = asked.first, request.hasPrefix("10") {
            #expect(asked.count == 1)
            asked = client.ask("0110" + request.dropFirst(2).prefix(4) + "0a")
        }
        return asked
    }

    @Test func knownHashSkipsServiceDiscovery() throws {
        var client = server.client
        let ticket = try discover(&client)
        #expect(client.sent() == [KnownServer.readHash])
        #expect(client.ask(server.hashAnswer) == ["1204000200"], "it subscribes to Service Changed")
        #expect(client.end(of: ticket) == nil)
        client.receive("13")
        let found = try #require(try client.end(of: ticket)?.get())
        #expect(found == server.database)
        guard case .done(found) = client.connection.session.discover() else {
            return #expect(Bool(false), "it is known")
        }
    }

    @Test func changedHashTriggersServiceDiscovery() throws {
        var client = server.client
        let ticket = try discover(&client)
        _ = client.sent()
        let asked = client.ask(KnownServer(hash: 0xbb).hashAnswer)
        #expect(asked == ["100100ffff0028"])
        #expect(refuseWalk(&client, asked) == [])
        let found = try #require(try client.end(of: ticket)?.get())
        #expect(found.services.isEmpty && found.hash == [UInt8](repeating: 0xbb, count: 16))
    }

    @Test func missingHashTriggersServiceDiscovery() throws {
        var client = server.client
        let ticket = try discover(&client)
        _ = client.sent()
        #expect(refuseWalk(&client, client.ask("01 08 0100 0a")) == [])
        #expect(try client.end(of: ticket)?.get().hash == nil)
        // A server with malformed answers has no hash.
        var other = server.client
        let second = try discover(&other)
        _ = other.sent()
        #expect(other.ask("0b 01") == [], "that is no answer to a Read By Type Request")
        #expect(refuseWalk(&other, other.ask("09 05 01")) == [], "and that is none of any length")
        #expect(try other.end(of: second)?.get().hash == nil)
    }

    @Test("what a server refused to show for want of security is discovered again on a more secure link")
    func securityMakesRefusedPartsDiscoverable() throws {
        for (code, isFoundAgain) in [("05", true), ("0a", false)] {
            var client = server.client
            let ticket = try discover(&client)
            _ = client.sent()
            var asked = client.ask("01 08 0100 0a")
            while let request = asked.first {
                let (opcode, first) = (request.prefix(2), request.dropFirst(2).prefix(4))
                if request == "100100ffff0028" {
                    asked = client.ask("11 06 0100 0500 0f18")
                } else {
                    asked = client.ask("01 \(opcode) \(first) \(request.hasSuffix("0328") ? code : "0a")")
                }
                guard let wanted = client.connection.session.securing else { continue }
                client.connection.session.securityEnded(.unavailable, for: wanted)
                asked = client.sent()
            }
            #expect(try client.end(of: ticket)?.get().faults.count == (isFoundAgain ? 1 : 0))
            client.connection.session.noteSecurity()
            #expect((client.connection.session.currentDatabase == nil) == isFoundAgain)
        }
    }

    @Test func concurrentDiscoveriesShareOneProcedure() throws {
        var client = server.client
        let tickets = try (0..<3).map { _ in try discover(&client) }
        #expect(client.sent() == [KnownServer.readHash])
        _ = client.ask(server.hashAnswer)
        #expect(client.ask("13") == [])
        #expect(client.ends() == tickets.map(\.id))
    }

    @Test func refreshDuringDiscoveryRunsAfterwards() throws {
        var client = server.client
        let first = try discover(&client, refreshing: true)
        let second = try discover(&client, refreshing: true)
        let third = try discover(&client, refreshing: true)
        _ = client.sent()
        let asked = client.ask(server.hashAnswer)
        #expect(asked == ["100100ffff0028"], "what is remembered does not count")
        #expect(refuseWalk(&client, asked) == [KnownServer.readHash])
        #expect(client.ends() == [first.id])
        #expect(refuseWalk(&client, client.ask(server.hashAnswer)) == [])
        #expect(client.ends() == [second.id, third.id])
    }

    @Test func discoveryWithoutCallersIsCancelled() throws {
        var client = server.client
        let (first, second) = (try discover(&client), try discover(&client))
        _ = client.sent()
        client.connection.cancel(first.id)
        #expect(client.ends() == [first.id])
        client.connection.cancel(second.id)
        #expect(client.ends() == [second.id])
        let read = client.connection.session.run(ReadValue(3))
        // The answer to the cancelled request is dropped.
        #expect(client.ask(server.hashAnswer) == ["0a0300"])
        client.receive("0b01")
        #expect(client.ends() == [read.id])
        let again = try discover(&client)
        #expect(client.sent() == [KnownServer.readHash])
        client.connection.cancel(again.id)
        #expect(client.ends() == [again.id])
    }

    @Test func restartedDiscoveryIgnoresEarlierAnswers() throws {
        var client = server.client
        client.recallsAtOnce = false
        let first = try discover(&client)
        _ = client.sent()
        _ = client.ask(server.hashAnswer)
        client.connection.cancel(first.id)
        let second = try discover(&client)
        // The database for the first discovery arrives late.
        client.connection.session.remember(server.database, for: server.database.hash)
        #expect(client.sent() == [KnownServer.readHash])
        let other = KnownServer(0xfff2, hash: 0xbb)
        _ = client.ask(other.hashAnswer)
        client.connection.session.remember(server.database, for: server.database.hash)
        #expect(client.sent() == [], "it is another database by now")
        client.connection.session.remember(other.database, for: other.database.hash)
        #expect(client.sent() == ["1204000200"])
        client.receive("13")
        #expect(try client.end(of: second)?.get() == other.database)
    }

    /// Cancels a discovery after a number of answers to its requests, with or without a refresh that is to follow.
    @Test(arguments: 0...4, [false, true])
    func discoveryAfterCancellationCompletes(answers: Int, isRefreshed: Bool) throws {
        let server = KnownServer(features: true)
        let path = [server.hashAnswer, "recall", "13", "13"]
        var client = server.client
        client.recallsAtOnce = false
        let ticket = try discover(&client)
        let refresh = isRefreshed ? try discover(&client, refreshing: true) : nil
        _ = client.sent()
        func answer(_ step: String, _ client: inout AskingClient) -> [String] {
            guard step == "recall" else { return client.ask(step) }
            client.connection.session.remember(server.database, for: server.database.hash)
            return client.sent()
        }
        for step in path.prefix(answers) { _ = answer(step, &client) }
        client.connection.cancel(ticket.id)
        let ends = client.ends().filter { $0 == ticket.id }
        #expect(ends.count == 1, "cancelled, or done")
        if let refresh {
            client.connection.cancel(refresh.id)
            #expect(client.ends() == [refresh.id])
        }
        // All sent requests are answered. Then the state is as if the discovery had not been cancelled.
        var asked = answers == 0 ? [KnownServer.readHash] : client.sent()
        if answers > 1 { asked = ["?"] }
        var rounds = 0
        while !asked.isEmpty, rounds < 9 {
            rounds += 1
            asked = client.ask(asked == [KnownServer.readHash] ? server.hashAnswer : "13")
        }
        client.recallsAtOnce = true
        let again = client.connection.session.discover()
        asked = client.sent()
        while let request = asked.first {
            asked = client.ask(request == KnownServer.readHash ? server.hashAnswer : "13")
        }
        switch again {
        case .done(let database): #expect(database == server.database && answers > 1)
        case .pending(let ticket): #expect(try client.end(of: ticket)?.get() == server.database)
        }
        // Service Changed is configured, and this client's features are written.
        let changes = try #require(server.database.characteristics(.serviceChanged).first)
        _ = client.connection.session.configure(changes.stamped(.unknown))
        #expect(client.sent() == [], "it is configured already")
    }

    @Test func handlesOfEarlierLinkAwaitDiscovery() throws {
        let (earlier, value) = try server.discovered()
        var client = AskingClient(knowing: earlier.cache)
        let checked = [CheckedHandle(value)]
        let read = client.connection.session.run(ReadValue(KnownServer.valueHandle), about: checked)
        guard
            case .pending(let command) = try client.connection.send(
                .write(0x0013, value: [1]), about: checked),
            case .pending(let located) = client.connection.session.locate(checked)
        else { return #expect(Bool(false), "they are not known") }
        let bare = client.connection.session.run(ReadValue(5))
        #expect(client.sent() == [KnownServer.readHash])
        // The handles are used as soon as they are found to be valid. A later command is queued behind the first.
        #expect(client.ask(server.hashAnswer) == ["0a0500", "52130001"])
        #expect(client.ends() == [located.id, command.id])
        #expect(try client.connection.trySend(.write(0x0013, value: [2]), about: checked))
        #expect(client.ask("0b05") == ["52130002", "1204000200"])
        #expect(client.ends() == [bare.id])
        #expect(client.ask("13") == ["0a1300"])
        #expect(client.ask("0b06") == [])
        #expect(client.ends() == [read.id])
    }

    @Test func waitingOperationFailsWithDiscovery() throws {
        let (earlier, value) = try server.discovered()
        var client = AskingClient(knowing: earlier.cache)
        let read = client.connection.session.run(ReadValue(0x0013), about: [CheckedHandle(value)])
        _ = client.sent()
        client.connection.close(.disconnected)
        #expect(client.end(of: read)?.failure == "the link has ended")
        // The server has another database than the one of the handle.
        var other = AskingClient(knowing: earlier.cache)
        let stale = other.connection.session.run(ReadValue(0x0013), about: [CheckedHandle(value)])
        _ = other.sent()
        #expect(refuseWalk(&other, other.ask(KnownServer(hash: 0xbb).hashAnswer)) == [])
        guard case .failure(.databaseChanged(0x0013))? = other.end(of: stale) else {
            return #expect(Bool(false), "the handle is sent")
        }
    }

    @Test func cancelledOperationDoesNotAwaitDiscovery() throws {
        let (earlier, value) = try server.discovered()
        var client = AskingClient(knowing: earlier.cache)
        let read = client.connection.session.run(ReadValue(0x0013), about: [CheckedHandle(value)])
        #expect(client.sent() == [KnownServer.readHash])
        client.connection.cancel(read.id)
        #expect(client.ends() == [read.id])
        #expect(client.ask(server.hashAnswer) == [], "the discovery was for it alone")
    }

    @Test func serviceChangeRestartsDiscovery() throws {
        var client = server.client
        let ticket = try discover(&client)
        _ = client.sent()
        // The indication arrives before the handle of Service Changed is known.
        #expect(client.ask(changed) == ["1e"])
        #expect(client.ask(server.hashAnswer) == [KnownServer.readHash])
        // The cached database is no longer valid.
        #expect(refuseWalk(&client, client.ask(server.hashAnswer)) == [])
        #expect(try client.end(of: ticket)?.get().services.isEmpty == true)
    }

    @Test func discoveryFailsAfterThreeRounds() throws {
        var (client, _) = try server.discovered()
        let ticket = try discover(&client, refreshing: true)
        for round in 1...3 {
            let asked = round == 1 ? client.sent() : []
            #expect(asked == (round == 1 ? [KnownServer.readHash] : []))
            #expect(client.ask(server.hashAnswer) == ["100100ffff0028"])
            #expect(client.ask(changed) == ["1e"])
            // The server refuses the request with Database Out Of Sync.
            #expect(client.ask("01 10 0100 12") == (round < 3 ? [KnownServer.readHash] : []))
        }
        #expect(client.end(of: ticket)?.failure == "the database changed during each discovery")
    }

    @Test func refusedOptionalWritesDoNotFailDiscovery() throws {
        let server = KnownServer(features: true)
        var client = server.client
        let ticket = try discover(&client)
        _ = client.sent()
        #expect(client.ask(server.hashAnswer) == ["12060005"])
        // The refusal causes no request to raise security either.
        #expect(client.ask("01 12 0600 0f") == ["1204000200"])
        client.receive("01 12 0400 05")
        let ends = client.events().filter { if case .securityWanted = $0 { true } else { false } }
        #expect(ends.isEmpty)
        guard case .done(let known) = client.connection.session.discover() else {
            return #expect(Bool(false), "it is known")
        }
        #expect(known == server.database)
        client.connection.cancel(ticket.id)
        // On this link this client's features count as written; Service Changed is not configured.
        _ = try discover(&client, refreshing: true)
        #expect(client.sent() == [KnownServer.readHash])
    }

    @Test func unchangedDatabaseKeepsGeneration() throws {
        var (client, value) = try server.discovered()
        #expect(client.ask(changed) == ["1e"])
        #expect(!client.connection.session.isCurrent(CheckedHandle(value)))
        #expect(client.connection.session.currentDatabase == nil)
        let read = client.connection.session.run(ReadValue(0x0013), about: [CheckedHandle(value)])
        #expect(client.sent() == [], "it is known to have changed")
        guard case .failure(.databaseChanged(0x0013))? = client.end(of: read) else {
            return #expect(Bool(false), "the handle is sent")
        }
        // Another process may discover the same database again and store it.
        client.cache.keep(CachedDatabase(server.database), of: AskingClient.peer)
        _ = try discover(&client)
        _ = client.sent()
        #expect(client.ask(server.hashAnswer) == [], "nothing has to be sent again")
        #expect(client.connection.session.isCurrent(CheckedHandle(value)))
    }

    @Test("a change anywhere in a service makes what was found of the whole service useless")
    func changeWithinServiceIsNoticed() throws {
        var (client, value) = try server.discovered()
        #expect(client.ask("1d0300" + "1200 1200") == ["1e"])
        let session = client.connection.session
        let generation = value.generation
        #expect(!session.isCurrent(CheckedHandle(AttributeRange(0x0010, 0x0015), generation)))
        #expect(!session.isCurrent(CheckedHandle(AttributeRange(0x0012, 0x0012), generation)))
        #expect(session.isCurrent(CheckedHandle(AttributeRange(0x0010, 0x0011), generation)))
        #expect(session.isCurrent(CheckedHandle(0x0013, generation)))
    }

    @Test func outOfSyncErrorReportsDatabaseChange() throws {
        var (client, value) = try server.discovered()
        let (id, _) = client.connection.session.subscribe(to: value, .notify)
        let checked = client.connection.session.run(ReadValue(0x0013), about: [CheckedHandle(value)])
        let bare = client.connection.session.run(ReadValue(0x0014))
        _ = client.sent()
        #expect(client.ask("01 0a 1300 12") == ["0a1400"])
        let events = client.events()
        guard case .subscriptionEnded(id, .databaseChanged(0x0013))? = events.first else {
            return #expect(Bool(false), "\(events)")
        }
        guard case .databaseChanged(.all)? = events.dropFirst().first,
            case .finished(checked.id, let outcome)? = events.last,
            case .failure(.databaseChanged(0x0013)) = outcome.result(of: checked)
        else { return #expect(Bool(false), "\(events)") }
        client.receive("01 0a 1400 12")
        #expect(client.end(of: bare)?.failure?.contains("Database Out Of Sync") == true)
    }

    @Test func partialDiscoveriesShareGeneration() throws {
        var client = server.client
        func name(_ client: inout AskingClient) throws -> DatabaseGeneration {
            let state = client.connection.session.state
            let name = client.connection.session.partialGeneration(since: state, in: &client.cache)
            return try #require(name)
        }
        let (first, second) = (try name(&client), try name(&client))
        #expect(
            first.number == second.number && client.connection.session.isCurrent(CheckedHandle(0x0013, first))
        )
        let state = client.connection.session.state
        let bare = client.connection.session.run(ReadValue(0x0014))
        _ = client.sent()
        client.receive("01 0a 1400 12")
        #expect(client.ends() == [bare.id])
        #expect(!client.connection.session.isCurrent(CheckedHandle(0x0013, first)))
        #expect(client.connection.session.partialGeneration(since: state, in: &client.cache) == nil)
        #expect(try name(&client).number != first.number)
    }
}
