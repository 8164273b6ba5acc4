import BLECore
import HCI

extension Adapter {
    /// Sends a command and waits for its answer: the return parameters behind a status of success, or
    /// nothing for commands that are only accepted and have their outcome in an event.
    func send<Command: HCICommand>(
        _ command: Command, timeLimit: Duration = .seconds(2)
    ) async throws(BLEError) -> Command.ReturnParameters {
        if let end { throw end }
        let ticket = commands.submit(command.packet, timeLimit: timeLimit, at: loop.now)
        pump()
        let octets = try await answers.wait(ticket, in: self) { adapter in
            // The controller will answer all the same; nobody waits for it any more.
            adapter.commands.cancel(ticket)
            adapter.answers.resume(ticket, with: .failure(.cancelled))
        }
        do throws(DecodeError) {
            return try Command.ReturnParameters(octets)
        } catch {
            throw .peer("\(error)")
        }
    }

    /// What the command queue has to tell.
    func handle(_ event: CommandQueue.Event) {
        switch event {
        case .completed(let ticket, let parameters):
            guard let code = parameters.first else {
                return answers.resume(ticket, with: .failure(.peer("\(ticket.opcode): no status")))
            }
            let status = HCIStatus(rawValue: code)
            answers.resume(
                ticket,
                with: status == .success
                    ? .success(Array(parameters.dropFirst())) : .failure(.hci(status, command: ticket.opcode)))
        case .accepted(let ticket): answers.resume(ticket, with: .success([]))
        case .failed(let ticket, let status):
            answers.resume(ticket, with: .failure(.hci(status, command: ticket.opcode)))
        case .timedOut(let ticket):
            log.error("the controller did not answer \(ticket.opcode)")
            answers.resume(ticket, with: .failure(.controllerSilent(command: ticket.opcode)))
        case .malformed(let error): log.warning("the controller's answer: \(error)")
        }
    }

    /// Sends a command for which it is no error when there was nothing to do.
    func sendTolerant<Command: HCICommand>(_ command: Command) async {
        do throws(BLEError) {
            _ = try await send(command)
        } catch {
            log.debug("\(Command.opcode): \(error)")
        }
    }
}
