import DequeModule
import HCISocket

/// Commands in the order in which they are to be written.
final class HeldCommands: Sendable {
    private struct State {
        var commands: Deque<PendingCommand> = []
        var end: BLEError?
    }

    private let state = Lock(State())
    private let limit: Int
    /// The commands that were not written, with their errors.
    let failures = StreamBuffer<CommandFailure>(.newest(64))
    /// Signals that there is a command to write.
    private let bell = StreamBuffer<Bool>(.newest(1))

    init(limit: Int) { self.limit = limit }

    var count: Int { state.withLock { $0.commands.count } }

    /// Adds a command. `beginning` is called when its write begins. Throws when `limit` commands are held, and after
    /// the end.
    func add(
        _ octets: [UInt8], beginning: @escaping @Sendable () -> Void = {}
    ) throws(BLEError) -> PendingCommand {
        let command = PendingCommand(octets, beginning: beginning)
        let refusal = state.withLock { state -> BLEError? in
            if let end = state.end { return end }
            guard state.commands.count < limit else {
                return .limit(.heldCommands, maximum: limit, value: state.commands.count + 1)
            }
            state.commands.append(command)
            return nil
        }
        if let refusal { throw refusal }
        bell.yield(true)
        return command
    }

    /// Returns the next command that is still to be written, and waits until there is one.
    func next() async throws(BLEError) -> PendingCommand {
        while true {
            while let command = state.withLock({ $0.commands.popFirst() }) {
                guard command.isWanted else { continue }
                command.beginning()
                return command
            }
            guard try await bell.next() != nil else { throw .cancelled }
        }
    }

    /// Reports that a command was not written.
    func fail(_ command: PendingCommand, _ error: BLEError) {
        failures.yield(CommandFailure(command: command.octets, error: error))
        command.finish(.failure(error))
    }

    /// Ends the queue: the commands that wait, and later ones, fail with `error`.
    func end(_ error: BLEError) {
        let left = state.withLock { state in
            if state.end == nil { state.end = error }
            defer { state.commands.removeAll() }
            return state.commands
        }
        for command in left where command.isWanted { fail(command, error) }
        failures.finish()
    }
}
