import BLECore
import HCI

/// What a controller does with one command.
struct CommandHandler: Sendable {
    let opcode: HCIOpcode
    /// Carries the command out and gives the answer to it, if it has one.
    let run: @Sendable (inout VirtualController, [UInt8], Instant) -> HCIEventPacket?
    /// The answer to a command that is refused before its parameters are read.
    let refuse: @Sendable (HCIStatus) -> HCIEventPacket

    /// The handler of commands that return something; `body` gives that, or throws the status with which the
    /// command is refused.
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
                // Too few octets or too many: that is all that can be wrong with the form.
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

    /// The handler of commands that return nothing but the status.
    static func perform<Command: HCICommand>(
        _: Command.Type,
        _ body: @escaping @Sendable (inout VirtualController, Command, Instant) throws(HCIStatus) -> Void
    ) -> CommandHandler where Command.ReturnParameters == NoReturnParameters {
        answer(Command.self) { (controller, command, now) throws(HCIStatus) -> NoReturnParameters in
            try body(&controller, command, now)
            return NoReturnParameters()
        }
    }

    /// The answer to a command that is refused: in the form that its success would have, with zeros for what
    /// it returns, since hosts look at the length before they look at the status.
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
    /// All commands that a controller knows. Read Local Supported Commands is derived from them.
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
    /// Those of controllers that have periodic trains as well.
    private static let periodicHandlers = [
        periodicAdvertisingCommands, periodicSyncCommands, periodicListCommands,
    ]
    private static let extendedOpcodes = Set(extendedHandlers.joined().map(\.opcode))
    private static let periodicOpcodes = Set(periodicHandlers.joined().map(\.opcode))
    private static let privacyOpcodes = Set(privacyCommands.map(\.opcode))
    private static let encryptionOpcodes = Set(encryptionCommands.map(\.opcode))

    /// Whether this controller knows a command.
    func knows(_ opcode: HCIOpcode) -> Bool {
        if Self.extendedOpcodes.contains(opcode) { return isExtended }
        if Self.periodicOpcodes.contains(opcode) { return hasPeriodic }
        if Self.privacyOpcodes.contains(opcode) { return hasPrivacy }
        if Self.encryptionOpcodes.contains(opcode) { return configuration.encrypts }
        return opcode == .readBufferSize ? configuration.sharesBuffers : Self.handlers[opcode] != nil
    }

    /// The place of a connection's link.
    func index(
        of handle: ConnectionHandle, orElse status: HCIStatus = .unknownConnectionIdentifier
    ) throws(HCIStatus) -> Int {
        guard let index = links.firstIndex(where: { $0.handle == handle }) else { throw status }
        return index
    }

    /// Refuses with `status` what is not so.
    static func check(
        _ condition: Bool, _ status: HCIStatus = .invalidCommandParameters
    ) throws(HCIStatus) {
        if !condition { throw status }
    }

    /// The value of a flag, which must be one.
    static func value(of flag: HCIFlag) throws(HCIStatus) -> Bool {
        guard let value = flag.value else { throw .invalidCommandParameters }
        return value
    }
}
