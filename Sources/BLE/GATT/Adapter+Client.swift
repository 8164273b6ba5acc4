import ATT
import BLECore
import GATT
import GATTClient
import HCISocket
import Logging

/// The client role on links: operations that tasks wait for.
extension Adapter {
    /// Begins an operation on a link and waits for its end. Cancelling the task ends the operation; when the
    /// task was cancelled before, nothing is begun.
    func perform<Value: Sendable>(
        on id: LinkID, _ begin: (Link) throws(BLEError) -> Submission<Value>
    ) async throws(BLEError) -> Value {
        var ticket: Ticket<Value>?
        var value: Value?
        let outcome = try await waits.wait(in: self) { () throws(BLEError) in
            switch try begin(try linkThatTakes(id)) {
            case .done(let result):
                value = result
                return .done(Outcome<GATTFailure>(.success(())))
            case .pending(let pending):
                ticket = pending
                return .pending(.operation(pending.id))
            }
        } then: {
            if let link = links[id] { pump(link) }
        }
        if let value { return value }
        guard let ticket else { throw .cancelled }
        do throws(GATTFailure) {
            return try outcome.result(of: ticket).get()
        } catch {
            throw BLEError(error)
        }
    }

    /// Cancels an operation whose caller does not wait any more.
    func cancel(_ ticket: TicketID) {
        guard let link = links[LinkID(number: ticket.link)] else { return }
        link.gatt.cancel(ticket)
        let raising = callers.links[link.id]?.raising ?? [:]
        for (ticket, task) in raising.sorted(by: { $0.key < $1.key })
        where ticket != link.gatt.session.securing {
            task.cancel()
        }
        pump(link)
    }

    /// Runs a procedure on a link. Procedures of one link run one after the other, in order; commands do not
    /// wait for them. `handles` are checked before every request, because the database can change at any
    /// time. `raising` determines whether the link's security may be raised for the procedure.
    func run<Procedure: GATTProcedure>(
        _ procedure: Procedure, about handles: [CheckedHandle] = [], raising: Bool = true, on id: LinkID
    ) async throws(BLEError) -> Procedure.Output {
        try await perform(on: id) {
            .pending($0.gatt.session.run(procedure, about: handles, raisesSecurity: raising))
        }
    }

    /// Returns the database of a link's server: the known one if it is certainly current, otherwise the
    /// result of a discovery.
    func discover(on id: LinkID, refreshing: Bool = false) async throws(BLEError) -> RemoteDatabase {
        try await perform(on: id) { $0.gatt.session.discover(refreshing: refreshing) }
    }

    /// Checks handles from an earlier link by a discovery, if necessary.
    func locate(_ handles: [CheckedHandle], on id: LinkID) async throws(BLEError) {
        try await perform(on: id) { $0.gatt.session.locate(handles) }
    }

    /// Throws when a handle belongs to an earlier state of the database.
    func check(_ handles: [CheckedHandle], on link: Link) throws(BLEError) {
        do throws(GATTFailure) { try link.gatt.session.check(handles) } catch { throw BLEError(error) }
    }

    /// Returns the primary services of a type: from the database if it is known, otherwise from a discovery
    /// of them.
    func discover(service uuid: BluetoothUUID, on id: LinkID) async throws(BLEError) -> [RemoteService] {
        let link = try link(id)
        if let database = link.gatt.session.currentDatabase {
            return database.services(uuid).filter(\.isPrimary)
        }
        let state = link.gatt.session.state
        let found: RemoteDatabase
        do throws(BLEError) {
            found = try await run(DiscoverDatabase(service: uuid), on: id)
        } catch .peerMisbehaved {
            // What can be understood of the service depends on the others.
            return try await discover(on: id).services(uuid).filter(\.isPrimary)
        }
        guard let generation = link.gatt.session.partialGeneration(since: state, in: &clients.cache) else {
            throw .databaseChanged(found.services.first?.handle ?? .none)
        }
        return found.stamped(generation).services
    }

    /// Offers this host's MTU to the peer, once per link. A server may refuse it; the link then stays at 23
    /// octets.
    func offerMTU(on id: LinkID) async throws(BLEError) {
        guard try link(id).gatt.configuration.receiveMTU > .default else { return }
        try await perform(on: id) { $0.gatt.offerMTU() }
    }

    /// Returns the ATT_MTU of a link, in octets.
    func mtu(of id: LinkID) throws(BLEError) -> Int { try link(id).gatt.mtu.octets }

    /// Sends a command. Waits while the link has no room for it.
    func command(
        _ command: ATTCommand, about handles: [CheckedHandle] = [], on id: LinkID
    ) async throws(BLEError) {
        try await perform(on: id) { (link) throws(BLEError) in
            do throws(GATTFailure) {
                return try link.gatt.send(command, about: handles)
            } catch {
                throw BLEError(error)
            }
        }
    }
}

// MARK: - Events of a session

extension Adapter {
    /// Handles an event of a link's client role.
    func handle(_ event: ClientSession.Event, of link: Link) {
        switch event {
        case .finished(let ticket, let outcome):
            if let failure = outcome.failure, !waits.contains(.operation(ticket)) {
                log.debug("an operation on the link to \(link.peer) that no task waits for: \(failure)")
            }
            waits.end(.operation(ticket), .success(outcome))
        case .value(let value, let subscribers):
            guard let callers = callers.links[link.id] else { break }
            for subscriber in subscribers { callers.streams[subscriber]?.yield(value) }
        case .subscriptionEnded(let subscriber, let failure):
            callers.links[link.id]?.streams[subscriber]?.finish(.failure(BLEError(failure)))
        case .securityWanted(let ticket, let code):
            // The operation may have ended since.
            guard link.gatt.session.securing == ticket else { break }
            let id = link.id
            callers.links[id]?.raising[ticket] = Task(executorPreference: loop) {
                await self.elevateSecurity(of: id, for: code, as: ticket)
            }
        case .databaseWanted(let hash):
            let id = link.id
            Task(executorPreference: loop) { await self.remember(hash, of: id) }
        case .databaseFound(let database):
            let found = CachedDatabase(database, isBonded: isBonded(link))
            guard let kept = link.gatt.session.adopt(found, of: link.identity, in: &clients.cache) else {
                return
            }
            retain(CachedDatabase(kept, isBonded: isBonded(link)), of: link)
        case .databaseChanged(let range):
            log.debug("the database of \(link.peer) has changed among \(range)")
            clients.cache.invalidate(link.identity)
            callers.links[link.id]?.serviceChanges.emit(ServiceChange(range))
        case .discoveryNote(.leftOut(let failure)):
            log.warning("\(link.peer): \(BLEError(failure)): what requires more security is left out")
        case .discoveryNote(let note): log.debug("discovering the database of \(link.peer): \(note)")
        }
    }

    /// Passes the remembered database to a discovery; reads it from the disk if necessary.
    private func remember(_ hash: [UInt8]?, of id: LinkID) async {
        guard let link = links[id] else { return }
        await recall(link)
        guard links[id] != nil else { return }
        let known = clients.cache.current(of: link.identity, hash: hash)
        log.debug("the database of \(link.peer) is \(known == nil ? "not " : "")the one known")
        link.gatt.session.remember(known, for: hash)
        pump(link)
    }

    /// Raises the security of a link because its server refused an operation with `code`.
    private func elevateSecurity(of id: LinkID, for code: ATTErrorCode, as ticket: TicketID) async {
        guard let link = links[id] else { return }
        let end: SecurityRaise
        do throws(BLEError) {
            end = try await elevateSecurity(of: link, for: code) ? .raised : .unavailable
        } catch {
            end = .failed(error)
        }
        callers.links[id]?.raising[ticket] = nil
        guard links[id] != nil else { return }
        link.gatt.session.securityEnded(end, for: ticket)
        pump(link)
    }
}
