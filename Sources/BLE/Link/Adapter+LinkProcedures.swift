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
        let handle = try handle(of: id)
        try await awaitEnd(of: procedure, name, on: id) { adapter, key in
            Task(executorPreference: adapter.loop) {
                do throws(BLEError) {
                    _ = try await adapter.send(command(handle))
                } catch {
                    await adapter.end(key, .failure(error))
                }
            }
        }
    }

    /// Waits for a procedure that `start` begins.
    func awaitEnd(
        of procedure: LinkProcedure, _ name: String, on id: LinkID,
        _ start: @escaping @Sendable (isolated Adapter, LinkProcedureKey) throws(BLEError) -> Void
    ) async throws(BLEError) {
        let limit = Self.procedureTimeLimit
        try await withDeadline(limit, on: loop, orThrow: .timedOut(name, after: limit)) {
            () throws(BLEError) in
            try await self.wait(for: LinkProcedureKey(link: id, procedure: procedure), start)
        }
    }

    private func wait(
        for key: LinkProcedureKey,
        _ start: @escaping @Sendable (isolated Adapter, LinkProcedureKey) throws(BLEError) -> Void
    ) async throws(BLEError) {
        try await procedures.wait(in: self) { adapter, key in
            // It goes on; its end is nobody's any more.
            adapter.procedures.resume(key, with: .failure(.cancelled))
        } start: { () throws(BLEError) in
            _ = try link(key.link)
            try start(self, key)
            return key
        }
    }

    /// A procedure has ended.
    func end(_ key: LinkProcedureKey, _ result: Result<Void, BLEError>) {
        procedures.resume(key, with: result)
    }

    /// The event that ends a procedure on the link with that handle.
    func end(
        _ procedure: LinkProcedure, on handle: ConnectionHandle, _ status: HCIStatus, of command: HCIOpcode
    ) {
        guard let id = linkOfHandle[handle] else { return }
        end(
            LinkProcedureKey(link: id, procedure: procedure),
            status == .success ? .success(()) : .failure(.hci(status, command: command)))
    }

    /// The controller's name for a link.
    func handle(of id: LinkID) throws(BLEError) -> ConnectionHandle {
        guard let handle = try link(id).handle else {
            throw .adapter(.unsupported("commands on this link: the kernel does not tell its handle"))
        }
        return handle
    }
}
