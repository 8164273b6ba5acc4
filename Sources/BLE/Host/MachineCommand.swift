import BLECore
import HCI

/// A command of one of the host's state machines for the controller. It is answered once, before the machine
/// is asked for another command.
package struct MachineCommand: Sendable {
    package let packet: HCICommandPacket
    /// Whether the command may have to wait until the late answer to another with the same opcode is given
    /// up, and then has a time limit of its own.
    let isPatient: Bool
    private let command: any HCICommand.Type

    init<Command: HCICommand>(_ command: Command, isPatient: Bool = false) {
        packet = command.packet
        self.isPatient = isPatient
        self.command = Command.self
    }

    /// Returns the answer that an event of the command queue reports; nil for an event that names no command.
    func answer(_ event: CommandQueue.Event) -> CommandAnswer? {
        switch event {
        case .completed(_, let parameters): answer(parameters)
        case .accepted: answer([])
        case .failed(_, .operationCancelledByHost), .timedOut: .silent
        case .failed(_, let status): .refused(status)
        case .foreign, .malformed: nil
        }
    }

    /// Returns an answer other than success as an error.
    func error(_ answer: CommandAnswer) -> BLEError {
        answer.error(of: packet.opcode) ?? .controllerSilent(command: packet.opcode)
    }

    /// Returns the answer for return parameters that begin with the status, or for none when the command was
    /// accepted.
    func answer(_ parameters: [UInt8]) -> CommandAnswer { Self.answer(command, parameters) }

    private static func answer<Command: HCICommand>(
        _: Command.Type, _ parameters: [UInt8]
    ) -> CommandAnswer {
        var octets = parameters[...]
        if let status = octets.popFirst().map({ HCIStatus(rawValue: $0) }) {
            guard status == .success else { return .refused(status) }
        } else if Command.answer == .complete {
            return .malformed(.missingStatus)
        }
        // Some controllers complete a command that they should only have accepted.
        if Command.answer != .complete { octets = [] }
        do throws(DecodeError) {
            _ = try Command.ReturnParameters(octets.span)
        } catch {
            return .malformed(.malformed(error))
        }
        return .done(Array(octets))
    }
}

/// The state machines of a host that send commands.
enum HostMachine: Sendable {
    case radio(Radio.Machine)
    /// The machine that ends a link.
    case link(LinkID)
    /// The question whether a link still exists.
    case existence(LinkID)
    /// The machine of a link's procedure.
    case procedure(LinkID, UInt64)
    /// The question whether the kernel has processed the change of a link's encryption.
    case kernelEncryption(LinkID)
    /// The question for the PHYs of a new link.
    case phys(LinkID)
    /// No machine: a failure of the command is harmless.
    case tolerant
}

/// The outcome of a machine's command.
package enum CommandAnswer: Hashable, Sendable {
    /// The command is done, or has begun; these are the return parameters that follow the status.
    case done([UInt8])
    /// The controller refused the command with this status.
    case refused(HCIStatus)
    /// The controller's answer violates the specification.
    case malformed(BLEError.ControllerMisbehavior)
    /// The outcome is unknown: the command was not answered in time, or a Reset has overtaken it.
    case silent
}

extension CommandAnswer {
    /// Returns the error of a command; nil when it succeeded.
    func error(of command: HCIOpcode) -> BLEError? {
        switch self {
        case .done: nil
        case .refused(let status): .hci(status, command: command)
        case .malformed(let problem): .controllerMisbehaved(command: command, problem)
        case .silent: .controllerSilent(command: command)
        }
    }
}

extension CommandQueue.Event {
    var ticket: CommandQueue.Ticket? {
        switch self {
        case .completed(let ticket, _), .accepted(let ticket), .failed(let ticket, _), .timedOut(let ticket):
            ticket
        case .foreign, .malformed: nil
        }
    }
}
