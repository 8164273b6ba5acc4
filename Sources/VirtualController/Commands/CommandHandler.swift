import BLECore
import HCI

/// The handler of one command.
struct CommandHandler: Sendable {
    let opcode: HCIOpcode
    /// Executes the command and returns its answer, if it has one.
    let run: @Sendable (inout VirtualController, [UInt8], Instant) -> HCIEventPacket?
    /// Returns the answer to a command that is refused before its parameters are read.
    let refuse: @Sendable (HCIStatus) -> HCIEventPacket

    /// Creates the handler of a command with return parameters. `body` returns them, or throws the status
    /// with which the command is refused.
    static func answer<Command: HCICommand>(
        _: Command.Type,
        _ body:
            @escaping @Sendable (inout VirtualController, Command, Instant) throws(HCIStatus)
            -> Command.ReturnParameters
    ) -> CommandHandler {
        let opcode = Command.opcode
        let refusal = refusal(of: Command.self)
        let run: @Sendable (inout VirtualController, [UInt8], Instant) -> HCIEventPacket? = {
            controller, parameters, now in
            do throws(HCIStatus) {
                // Decoding fails only if there are too few or too many octets.
                guard let command = try? Command(parameters) else { throw .invalidCommandParameters }
                let returned = try body(&controller, command, now)
                return switch Command.answer {
                case .status: CommandStatus(status: .success, opcode: opcode).packet
                case .complete: CommandComplete(Command.self, returning: returned).packet
                case .none: nil
                }
            } catch {
                return refusal(error)
            }
        }
        return CommandHandler(opcode: opcode, run: run, refuse: refusal)
    }

    /// Creates the handler of a command that returns only the status.
    static func perform<Command: HCICommand>(
        _: Command.Type,
        _ body: @escaping @Sendable (inout VirtualController, Command, Instant) throws(HCIStatus) -> Void
    ) -> CommandHandler where Command.ReturnParameters == NoReturnParameters {
        answer(Command.self) { (controller, command, now) throws(HCIStatus) -> NoReturnParameters in
            try body(&controller, command, now)
            return NoReturnParameters()
        }
    }

    /// Returns the answers to a refused command, by status. They have the length of the answer to a
    /// successful command, with zeros as return parameters, because hosts check the length before the status.
    private static func refusal<Command: HCICommand>(
        of _: Command.Type
    ) -> @Sendable (HCIStatus) -> HCIEventPacket {
        let opcode = Command.opcode
        if Command.answer == .status { return { CommandStatus(status: $0, opcode: opcode).packet } }
        let zeros = [UInt8](repeating: 0, count: 254)
        var reader = ByteReader(zeros.span, of: "")
        _ = try? Command.ReturnParameters(decoding: &reader)
        let returned = [UInt8](repeating: 0, count: reader.offset)
        return { status in
            CommandComplete(credits: 1, opcode: opcode, returnParameters: [status.rawValue] + returned).packet
        }
    }
}

extension VirtualController {
    /// The handlers of all implemented commands. Read Local Supported Commands is derived from them.
    static let handlers: [HCIOpcode: CommandHandler] = {
        let all = [
            controllerCommands, informationCommands, advertisingCommands, scanCommands, connectionCommands,
            linkCommands, dataLengthCommands, acceptListCommands, securityCommands, hostFlowCommands,
        ]
        return Dictionary(
            (all + extendedHandlers + [privacyCommands, encryptionCommands] + periodicHandlers).joined().map {
                ($0.opcode, $0)
            }
        ) { first, _ in first }
    }()

    /// The commands of controllers with extended abilities.
    private static let extendedHandlers = [
        advertisingSetCommands, advertisingDataCommands, extendedScanCommands, extendedConnectionCommands,
        phyCommands, parameterRequestCommands,
    ]
    /// The commands of controllers that also support periodic advertising.
    private static let periodicHandlers = [
        periodicAdvertisingCommands, periodicSyncCommands, periodicListCommands,
    ]
    private static let extendedOpcodes = Set(extendedHandlers.joined().map(\.opcode))
    private static let periodicOpcodes = Set(periodicHandlers.joined().map(\.opcode))
    private static let privacyOpcodes = Set(privacyCommands.map(\.opcode))
    private static let encryptionOpcodes = Set(encryptionCommands.map(\.opcode))

    /// Returns whether this controller supports a command.
    func supports(_ opcode: HCIOpcode) -> Bool {
        if Self.extendedOpcodes.contains(opcode) { return isExtended }
        if Self.periodicOpcodes.contains(opcode) { return hasPeriodic }
        if Self.privacyOpcodes.contains(opcode) { return hasPrivacy }
        if Self.encryptionOpcodes.contains(opcode) { return configuration.encrypts }
        return opcode == .readBufferSize ? configuration.sharesBuffers : Self.handlers[opcode] != nil
    }

    /// Returns the index of a connection's link.
    func index(
        of handle: ConnectionHandle, orElse status: HCIStatus = .unknownConnectionIdentifier
    ) throws(HCIStatus) -> Int {
        guard let index = links.firstIndex(where: { $0.handle == handle }) else { throw status }
        return index
    }

    /// Throws `status` if the condition is false.
    static func check(
        _ condition: Bool, _ status: HCIStatus = .invalidCommandParameters
    ) throws(HCIStatus) {
        if !condition { throw status }
    }

    /// Returns the value of a flag; throws if the octet is not a valid flag.
    static func value(of flag: HCIFlag) throws(HCIStatus) -> Bool {
        guard let value = flag.value else { throw .invalidCommandParameters }
        return value
    }
}
