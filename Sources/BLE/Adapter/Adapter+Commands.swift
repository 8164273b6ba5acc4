import BLECore
import HCI
import HCISocket
import Logging

extension Adapter {
    /// Sends a command and waits for its answer: the return parameters behind a status of success, or
    /// nothing for commands that are only accepted and have their outcome in an event.
    func send<Command: HCICommand>(
        _ command: Command, timeLimit: Duration = .seconds(2)
    ) async throws(BLEError) -> Command.ReturnParameters {
        var octets = try await exchange(command.packet, timeLimit: timeLimit)[...]
        if Command.answer == .complete {
            guard let code = octets.popFirst() else {
                throw .peer("\(Command.opcode): an answer without status")
            }
            let status = HCIStatus(rawValue: code)
            guard status == .success else { throw .hci(status, command: Command.opcode) }
        }
        do throws(DecodeError) {
            return try Command.ReturnParameters(octets.span)
        } catch {
            throw .peer("\(error)")
        }
    }

    /// Sends a command; what Command Complete returns, with the status in front, or nothing when the
    /// command was accepted.
    func exchange(
        _ packet: HCICommandPacket, timeLimit: Duration = .seconds(2)
    ) async throws(BLEError) -> [UInt8] {
        try await answers.wait(in: self) { adapter, ticket in
            // The controller will answer all the same; nobody waits for it any more.
            adapter.commands.cancel(ticket)
            adapter.answers.resume(ticket, with: .failure(.cancelled))
        } start: { () throws(BLEError) in
            if let end { throw end }
            let ticket = commands.submit(packet, timeLimit: timeLimit, at: loop.now)
            // In the loop's next turn, when the wait has begun for whatever `pump` brings.
            loop.execute { [weak self] in self?.assumeIsolated { $0.pump() } }
            return ticket
        }
    }

    /// What the command queue has to tell.
    func handle(_ event: CommandQueue.Event) {
        switch event {
        case .completed(let ticket, let parameters): answers.resume(ticket, with: .success(parameters))
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
