import BLECore

/// The controller has executed a command.
package struct CommandComplete: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.14.
    package static let definition = event(
        .commandComplete, "Num_HCI_Command_Packets, Command_Opcode, Return_Parameters",
        { (credits, opcode, rest: Remainder) in
            Self(credits: credits, opcode: opcode, returnParameters: rest.octets)
        }
    ) {
        ($0.credits, $0.opcode, Remainder($0.returnParameters))
    }

    /// The number of commands that the controller accepts now.
    package var credits: UInt8
    /// The command; `.none` when the event only grants credits.
    package var opcode: HCIOpcode
    /// The status and the return parameters of the command.
    package var returnParameters: [UInt8]

    /// Creates an event with the octets of the return parameters.
    package init(credits: UInt8, opcode: HCIOpcode, returnParameters: [UInt8]) {
        (self.credits, self.opcode, self.returnParameters) = (credits, opcode, returnParameters)
    }
}

extension CommandComplete {
    /// Creates the event that reports a command's success.
    package init<Command: HCICommand>(
        _: Command.Type, credits: UInt8 = 1, returning parameters: Command.ReturnParameters
    ) {
        self.init(
            credits: credits, opcode: Command.opcode,
            returnParameters: [HCIStatus.success.rawValue] + parameters.encoded)
    }

    /// Creates the event for a command that failed, or that succeeded and returns only the status.
    package init(_ opcode: HCIOpcode, credits: UInt8 = 1, status: HCIStatus) {
        self.init(credits: credits, opcode: opcode, returnParameters: [status.rawValue])
    }

    /// The status of the command; nil if the event only grants credits.
    package var status: HCIStatus? { returnParameters.first.map(HCIStatus.init) }

    /// Decodes the return parameters of the command. Call this only after success, because the octets after
    /// another status are meaningless and many controllers omit them.
    package func returned<Command: HCICommand>(
        by _: Command.Type
    ) throws(DecodeError) -> Command.ReturnParameters {
        var reader = ByteReader(returnParameters.span, of: "\(Command.opcode) return parameters")
        _ = try reader.u8("Status")
        let parameters = try Command.ReturnParameters(decoding: &reader)
        try reader.end()
        return parameters
    }
}

/// The controller has started a command or rejected it; another event reports the result.
package struct CommandStatus: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.15.
    package static let definition = event(
        .commandStatus, "Status, Num_HCI_Command_Packets, Command_Opcode", Self.init
    ) {
        ($0.status, $0.credits, $0.opcode)
    }

    /// Success while the command is pending; otherwise the reason why it was rejected.
    package var status: HCIStatus
    /// The number of commands that the controller accepts now.
    package var credits: UInt8
    /// The command; `.none` when the event only grants credits.
    package var opcode: HCIOpcode

    package init(status: HCIStatus, credits: UInt8 = 1, opcode: HCIOpcode) {
        (self.status, self.credits, self.opcode) = (status, credits, opcode)
    }
}
