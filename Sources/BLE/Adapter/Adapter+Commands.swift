import BLECore
import HCI
import HCISocket
import Logging

extension Adapter {
    /// The time limit for the answer to a command that has no limit of its own: that of Linux. A virtual
    /// controller gets longer, because its process shares the machine's processors with other work.
    private var commandTimeLimit: Duration {
        if case .virtual = specification { .seconds(10) } else { .seconds(2) }
    }

    /// Sends a command, waits for its answer and returns the return parameters that follow a status of
    /// success. They are empty for commands that the controller only accepts and whose outcome an event
    /// reports.
    ///
    /// While the controller is being set up, only commands with `isSetup` reach it. Any other command fails
    /// as if a Reset had overtaken it: the state that it would change is sent again after the setup.
    func send<Command: HCICommand>(
        _ command: Command, timeLimit: Duration? = nil, isSetup: Bool = false
    ) async throws(BLEError) -> Command.ReturnParameters {
        var octets = try await exchange(command.packet, timeLimit: timeLimit, isSetup: isSetup)[...]
        if let code = octets.popFirst() {
            let status = HCIStatus(rawValue: code)
            guard status == .success else { throw .hci(status, command: Command.opcode) }
        } else if Command.answer == .complete {
            throw .controllerMisbehaved(command: Command.opcode, .missingStatus)
        }
        // Some controllers complete a command that they should only have accepted.
        if Command.answer != .complete { octets = [] }
        do throws(DecodeError) {
            return try Command.ReturnParameters(octets.span)
        } catch {
            throw .controllerMisbehaved(command: Command.opcode, .malformed(error))
        }
    }

    /// Sends a command and returns the parameters of Command Complete, the status first, or nothing when the
    /// command was accepted with Command Status.
    func exchange(
        _ packet: HCICommandPacket, timeLimit: Duration? = nil, isSetup: Bool = false
    ) async throws(BLEError) -> [UInt8] {
        try await waits.wait(in: self) { () throws(BLEError) in
            if let end { throw end }
            if recovery.isUnderWay, !isSetup {
                throw .hci(.operationCancelledByHost, command: packet.opcode)
            }
            let ticket = commands.submit(packet, timeLimit: timeLimit ?? commandTimeLimit, at: loop.now)
            // In the loop's next turn, so that the wait has begun before any result arrives.
            pumpControllerSoon()
            return .pending(.answer(ticket))
        }
    }

    /// Sends a machine's command while the controller is being set up. Returns `.silent` when the controller
    /// does not answer. Throws when a Reset overtakes the command, when the task is cancelled, or when the
    /// adapter ends.
    func answer(to command: MachineCommand) async throws(BLEError) -> CommandAnswer {
        do throws(BLEError) {
            let limit = command.isPatient ? secondLimit : commandTimeLimit
            return command.answer(
                try await exchange(command.packet, timeLimit: limit, isSetup: true))
        } catch .hci(let status, _) where status != .operationCancelledByHost {
            return .refused(status)
        } catch .controllerSilent {
            return .silent
        } catch {
            throw error
        }
    }

    /// The time limit of a command that may first have to wait until the late answer to another with the same
    /// opcode is given up, and then has a limit of its own.
    private var secondLimit: Duration { commandTimeLimit * 2 }

    /// Sends a machine's command, whose answer the machine receives through `answered`.
    func submit(_ command: MachineCommand, of machine: HostMachine) {
        let limit = command.isPatient ? secondLimit : commandTimeLimit
        owners[commands.submit(command.packet, timeLimit: limit, at: loop.now)] = (machine, command)
        pumpControllerSoon()
    }

    /// Acts on an event of the command queue.
    func handle(_ event: CommandQueue.Event) {
        defer { answered(event) }
        switch event {
        case .completed(let ticket, let parameters):
            noteAnswer(to: ticket.opcode)
            waits.end(.answer(ticket), .success(parameters))
        case .accepted(let ticket):
            noteAnswer(to: ticket.opcode)
            waits.end(.answer(ticket), .success([]))
        case .failed(let ticket, let status):
            waits.end(.answer(ticket), .failure(.hci(status, command: ticket.opcode)))
        case .timedOut(let ticket):
            handle(.silence(command: ticket.opcode))
            waits.end(.answer(ticket), .failure(.controllerSilent(command: ticket.opcode)))
        // A command that was refused has changed nothing.
        case .foreign(let command, .success): observeForeignCommand(command.span)
        case .foreign: break
        case .malformed(let error): log.warning("the controller's answer: \(error)")
        }
    }

    /// Passes the answer to a machine's command to the machine. The adapter has already acted on the answer
    /// then.
    private func answered(_ event: CommandQueue.Event) {
        guard let ticket = event.ticket, let (machine, command) = owners.removeValue(forKey: ticket),
            let answer = command.answer(event), end == nil
        else { return }
        switch machine {
        case .radio(let machine): radioAnswered(answer, to: machine)
        case .link(let id): linkAnswered(answer, of: id)
        case .existence(let id): existenceAnswered(answer, of: id)
        case .procedure(let id, let number): procedureAnswered(answer, to: command, number, of: id)
        case .kernelEncryption(let id): noteSecurity(of: id)
        case .phys(let id): physAnswered(answer, of: id)
        case .tolerant:
            if let error = answer.error(of: command.packet.opcode) { log.debug("\(error)") }
        }
    }

    /// Sends a command of no machine, or one that only reads: a failure, for example because there is nothing to do,
    /// is at most logged. During a recovery nothing is sent, because the controller forgets what it would change.
    func sendTolerant(_ command: some HCICommand, of machine: HostMachine = .tolerant) {
        guard end == nil, !recovery.isUnderWay else { return }
        submit(MachineCommand(command), of: machine)
    }
}

extension Adapter {
    /// Runs `body` with a time limit by this adapter's clock; nil sets no limit. When the limit passes, `body` is
    /// cancelled and `BLEError.timedOut` is thrown.
    package nonisolated func within<Success: Sendable>(
        _ limit: Duration?, _ body: @escaping @Sendable () async throws(BLEError) -> Success
    ) async throws(BLEError) -> Success {
        try await withDeadline(
            limit, on: loop, orThrow: .timedOut(.operation, after: limit ?? .zero), body)
    }

    /// As `within`, but returns nil when the limit passes. `BLEError.timedOut` of `body` is another limit, and
    /// is thrown.
    package nonisolated func until<Success: Sendable>(
        _ limit: Duration?, _ body: @escaping @Sendable () async throws(BLEError) -> Success
    ) async throws(BLEError) -> Success? {
        try await untilDeadline(limit, on: loop, body)
    }
}
