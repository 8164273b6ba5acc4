import BLECore
import HCI
import HCISocket
import Logging

extension Adapter {
    /// How long the controller may take to answer a command, where the command says nothing else: as long as Linux
    /// waits. A virtual one is in a process that has to share the machine's processors with much else.
    private var commandTimeLimit: Duration {
        if case .virtual = specification { .seconds(10) } else { .seconds(2) }
    }

    /// Sends a command and waits for its answer: the return parameters behind a status of success, or
    /// nothing for commands that are only accepted and have their outcome in an event.
    ///
    /// While the controller is set up, only commands with `isSetup` reach it. Any other fails as if the Reset had
    /// come between: what it would change is sent anew afterwards.
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

    /// Sends a command; what Command Complete returns, with the status in front, or nothing when the
    /// command was accepted.
    func exchange(
        _ packet: HCICommandPacket, timeLimit: Duration? = nil, isSetup: Bool = false
    ) async throws(BLEError) -> [UInt8] {
        try await answers.wait(in: self) { adapter, ticket in
            // The controller will answer all the same; no caller waits for it any more.
            adapter.commands.cancel(ticket)
            adapter.answers.resume(ticket, with: .failure(.cancelled))
        } start: { () throws(BLEError) in
            if let end { throw end }
            if recovery.isUnderWay, !isSetup {
                throw .hci(.operationCancelledByHost, command: packet.opcode)
            }
            let ticket = commands.submit(packet, timeLimit: timeLimit ?? commandTimeLimit, at: loop.now)
            // In the loop's next turn, when the wait has begun for whatever that brings.
            pumpControllerSoon()
            return ticket
        }
    }

    /// Sends a machine's command while the controller is set up. Throws when the controller does not answer.
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

    /// The time limit of a command that may have to wait until the answer to another of its kind is given up, and
    /// then has its own.
    private var secondLimit: Duration { commandTimeLimit * 2 }

    /// Sends a machine's command, whose answer it will get.
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
            answers.resume(ticket, with: .success(parameters))
        case .accepted(let ticket):
            noteAnswer(to: ticket.opcode)
            answers.resume(ticket, with: .success([]))
        case .failed(let ticket, let status):
            answers.resume(ticket, with: .failure(.hci(status, command: ticket.opcode)))
        case .timedOut(let ticket):
            meet(.silence(command: ticket.opcode))
            answers.resume(ticket, with: .failure(.controllerSilent(command: ticket.opcode)))
        // What was refused has changed nothing.
        case .foreign(let command, .success): observeForeignCommand(command.span)
        case .foreign: break
        case .malformed(let error): log.warning("the controller's answer: \(error)")
        }
    }

    /// Gives the answer to a machine's command to the machine. What it means for the adapter is known by then.
    private func answered(_ event: CommandQueue.Event) {
        guard let ticket = event.ticket, let (machine, command) = owners.removeValue(forKey: ticket),
            let answer = command.answer(event), end == nil
        else { return }
        switch machine {
        case .scanner: scannerAnswered(answer)
        case .advertiser: advertiserAnswered(answer)
        case .initiator: initiatorAnswered(answer)
        case .synchronizer: synchronizerAnswered(answer)
        case .privacy(let number): privacyAnswered(answer, to: number)
        case .link(let id): linkAnswered(answer, of: id)
        case .procedure(let id, let number): procedureAnswered(answer, to: command, number, of: id)
        }
    }

    /// Sends a command for which it is no error when there was nothing to do.
    func sendTolerant<Command: HCICommand>(_ command: Command, isSetup: Bool = false) async {
        do throws(BLEError) {
            _ = try await send(command, isSetup: isSetup)
        } catch {
            log.debug("\(Command.opcode): \(error)")
        }
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
}
