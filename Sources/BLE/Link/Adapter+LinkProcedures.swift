import BLECore
import HCI
import HCISocket

/// Link-layer procedures of a link: one at a time, each with a time limit.
extension Adapter {
    /// How long a peer's controller has (Core Specification 5.4, Vol 6, Part B, 5.2).
    static let procedureTimeLimit = Duration.seconds(40)

    /// Asks the controller something about a link.
    func ask<Command: HCICommand>(
        _ id: LinkID, _ command: @Sendable (ConnectionHandle) -> Command
    ) async throws(BLEError) -> Command.ReturnParameters {
        let command = command(try handle(of: id))
        do throws(BLEError) {
            return try await send(command)
        } catch .hci(.unknownConnectionIdentifier, _) where links[id] == nil {
            // It ended while the command was on its way.
            throw clients.end(of: id) ?? .disconnected(.unknown)
        } catch {
            throw error
        }
    }

    /// Begins a procedure of the peer's controller with a command, and waits for the event that ends it; when
    /// the procedure before is done.
    func run<Command: HCICommand>(
        _ procedure: LinkProcedure, _ name: String, on id: LinkID,
        _ command: @escaping @Sendable (ConnectionHandle) -> Command
    ) async throws(BLEError) {
        let link = try link(id)
        try await link.control.enter(self, of: id, at: \.control)
        defer { link.control.leave() }
        try await perform(procedure, name, on: id, command)
    }

    /// The same for who has the turn.
    func perform<Command: HCICommand>(
        _ procedure: LinkProcedure, _ name: String, on id: LinkID,
        _ command: @escaping @Sendable (ConnectionHandle) -> Command
    ) async throws(BLEError) {
        try await perform(procedure, name, on: id) { (adapter, number) throws(BLEError) in
            adapter.begin(procedure, number, on: id, by: command(try adapter.handle(of: id)))
        }
    }

    /// Sends the command that begins a procedure. A refusal is its end.
    func begin(
        _ procedure: LinkProcedure, _ number: UInt64, on id: LinkID, by command: some HCICommand
    ) {
        Task(executorPreference: loop) {
            do throws(BLEError) {
                _ = try await self.send(command)
            } catch {
                await self.refused(procedure, number, on: id, error)
            }
        }
    }

    /// The command that begins a procedure has failed. One that was not answered in time may have begun it all the same.
    private func refused(
        _ procedure: LinkProcedure, _ number: UInt64, on id: LinkID, _ error: BLEError
    ) {
        if case .controllerSilent = error {
            procedures.resume(where: { $0.number == number }, with: .failure(error))
        } else {
            end(procedure, on: id, .failure(error), ifItIs: number)
        }
    }

    /// Runs a procedure that `start` begins, when the one before has ended: one that its caller has given up goes on all
    /// the same, and what it ends with is no later one's.
    func perform(
        _ procedure: LinkProcedure, _ name: String, on id: LinkID,
        _ start: @escaping @Sendable (isolated Adapter, UInt64) throws(BLEError) -> Void
    ) async throws(BLEError) {
        while try await !begin(procedure, name, on: id, start) {}
    }

    /// Waits until no procedure of that kind goes on.
    func settle(_ procedure: LinkProcedure, on id: LinkID) async throws(BLEError) {
        while try link(id).running[procedure] != nil { _ = try await begin(procedure, "", on: id, nil) }
    }

    /// Begins a procedure and waits for its end; false when another one was waited for.
    private func begin(
        _ procedure: LinkProcedure, _ name: String, on id: LinkID,
        _ start: (@Sendable (isolated Adapter, UInt64) throws(BLEError) -> Void)?
    ) async throws(BLEError) -> Bool {
        try await procedures.wait(in: self) { adapter, wait in
            // It goes on; its end is nobody's any more.
            adapter.procedures.resume(wait, with: .failure(.cancelled))
        } begin: { () throws(BLEError) in
            let link = try link(id)
            nextProcedure += 1
            let number = nextProcedure
            if let other = link.running.keys.first(where: { $0.excludes(procedure) }) {
                return .pending(LinkProcedureWait(link: id, procedure: other, number: number, isOwn: false))
            }
            guard let start else { return .done(true) }
            try start(self, number)
            let limit = Self.procedureTimeLimit
            let patience = Task(executorPreference: loop) { [loop] in
                guard await loop.sleep(for: limit) else { return }
                await self.end(procedure, on: id, .failure(.timedOut(name, after: limit)), ifItIs: number)
            }
            link.running[procedure] = RunningProcedure(number: number, patience: patience)
            return .pending(LinkProcedureWait(link: id, procedure: procedure, number: number, isOwn: true))
        }
    }

    /// A procedure has ended, whoever began it. `number`: nothing is done when another one goes on by now.
    func end(
        _ procedure: LinkProcedure, on id: LinkID, _ result: Result<Void, BLEError>,
        ifItIs number: UInt64? = nil
    ) {
        guard let link = links[id], let running = link.running[procedure],
            number.map({ $0 == running.number }) ?? true
        else { return }
        link.running[procedure] = nil
        running.patience.cancel()
        let isMeant = { (wait: LinkProcedureWait) in wait.link == id && wait.procedure == procedure }
        procedures.resume(where: { isMeant($0) && $0.isOwn }, with: result.map { true })
        procedures.resume(where: { isMeant($0) && !$0.isOwn }, with: .success(false))
    }

    /// The event that ends a procedure on the link with that handle.
    func end(
        _ procedure: LinkProcedure, on handle: ConnectionHandle, _ status: HCIStatus, of command: HCIOpcode
    ) {
        guard let id = linkOfHandle[handle] else { return }
        end(procedure, on: id, status == .success ? .success(()) : .failure(.hci(status, command: command)))
    }

    /// The controller's name for a link.
    func handle(of id: LinkID) throws(BLEError) -> ConnectionHandle {
        guard let handle = try link(id).handle else {
            throw .adapter(.unsupported("commands on this link: the kernel does not tell its handle"))
        }
        return handle
    }
}
