import BLECore

/// The first octet of every ATT PDU (Core Specification 5.4, Vol 3, Part F, 3.3.1): six bits of method,
/// the command flag and the authentication signature flag.
public struct ATTOpcode: RawRepresentable, Hashable, Sendable {
    /// The first octet of the PDU.
    public let rawValue: UInt8

    /// Creates an opcode from its octet (Core Specification 5.4, Vol 3, Part F, 3.3.1).
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable
    package init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// Bit 6: the PDU is a command, which gets no response, not even when it is unknown.
    @inlinable package var isCommand: Bool { rawValue & 0x40 != 0 }

    /// Bit 7: the PDU ends with an authentication signature.
    @inlinable package var isSigned: Bool { rawValue & 0x80 != 0 }
}

extension ATTOpcode {
    /// The opcode of Error Response (3.4.1.1).
    package static let errorResponse = ATTOpcode(0x01)
    /// Exchange MTU Request (3.4.2.1).
    package static let exchangeMTURequest = ATTOpcode(0x02)
    /// Exchange MTU Response (3.4.2.2).
    package static let exchangeMTUResponse = ATTOpcode(0x03)
    /// Find Information Request (3.4.3.1).
    package static let findInformationRequest = ATTOpcode(0x04)
    /// Find Information Response (3.4.3.2).
    package static let findInformationResponse = ATTOpcode(0x05)
    /// Find By Type Value Request (3.4.3.3).
    package static let findByTypeValueRequest = ATTOpcode(0x06)
    /// Find By Type Value Response (3.4.3.4).
    package static let findByTypeValueResponse = ATTOpcode(0x07)
    /// Read By Type Request (3.4.4.1).
    package static let readByTypeRequest = ATTOpcode(0x08)
    /// Read By Type Response (3.4.4.2).
    package static let readByTypeResponse = ATTOpcode(0x09)
    /// The opcode of Read Request (3.4.4.3).
    package static let readRequest = ATTOpcode(0x0a)
    /// The opcode of Read Response (3.4.4.4).
    package static let readResponse = ATTOpcode(0x0b)
    /// Read Blob Request (3.4.4.5).
    package static let readBlobRequest = ATTOpcode(0x0c)
    /// Read Blob Response (3.4.4.6).
    package static let readBlobResponse = ATTOpcode(0x0d)
    /// Read Multiple Request (3.4.4.7).
    package static let readMultipleRequest = ATTOpcode(0x0e)
    /// Read Multiple Response (3.4.4.8).
    package static let readMultipleResponse = ATTOpcode(0x0f)
    /// Read By Group Type Request (3.4.4.9).
    package static let readByGroupTypeRequest = ATTOpcode(0x10)
    /// Read By Group Type Response (3.4.4.10).
    package static let readByGroupTypeResponse = ATTOpcode(0x11)
    /// The opcode of Write Request (3.4.5.1).
    package static let writeRequest = ATTOpcode(0x12)
    /// The opcode of Write Response (3.4.5.2).
    package static let writeResponse = ATTOpcode(0x13)
    /// Prepare Write Request (3.4.6.1).
    package static let prepareWriteRequest = ATTOpcode(0x16)
    /// Prepare Write Response (3.4.6.2).
    package static let prepareWriteResponse = ATTOpcode(0x17)
    /// Execute Write Request (3.4.6.3).
    package static let executeWriteRequest = ATTOpcode(0x18)
    /// Execute Write Response (3.4.6.4).
    package static let executeWriteResponse = ATTOpcode(0x19)
    /// Handle Value Notification (3.4.7.1).
    package static let handleValueNotification = ATTOpcode(0x1b)
    /// Handle Value Indication (3.4.7.2).
    package static let handleValueIndication = ATTOpcode(0x1d)
    /// Handle Value Confirmation (3.4.7.3).
    package static let handleValueConfirmation = ATTOpcode(0x1e)
    /// Read Multiple Variable Request (3.4.4.11).
    package static let readMultipleVariableRequest = ATTOpcode(0x20)
    /// Read Multiple Variable Response (3.4.4.12).
    package static let readMultipleVariableResponse = ATTOpcode(0x21)
    /// Multiple Handle Value Notification (3.4.7.4).
    package static let multipleHandleValueNotification = ATTOpcode(0x23)
    /// The opcode of Write Command (3.4.5.3).
    package static let writeCommand = ATTOpcode(0x52)
    /// Signed Write Command (3.4.5.4).
    package static let signedWriteCommand = ATTOpcode(0xd2)
}

extension ATTOpcode {
    /// What the PDUs with an opcode are, and so which way they may go (3.3, Table 3.1).
    package enum Kind: Hashable, Sendable {
        /// From the client; the server owes a response.
        case request
        /// From the server, to a request.
        case response
        /// A PDU of the client that has no response.
        case command
        /// From the server, unasked: a notification or an indication.
        case unsolicited
        /// From the client, to an indication.
        case confirmation
    }

    /// What PDUs with this opcode are, or nil when the specification does not define it.
    package var kind: Kind? {
        switch rawValue {
        case 0x1b, 0x1d, 0x23: .unsolicited
        case 0x1e: .confirmation
        case 0x52, 0xd2: .command
        case 0x01...0x13, 0x16...0x19, 0x20...0x21: rawValue & 1 == 0 ? .request : .response
        default: nil
        }
    }

    /// Whether PDUs with this opcode are commands, notifications or indications.
    package var isUnasked: Bool { kind == .command || kind == .unsolicited }

    /// The opcode of the response that a request with this opcode gets when all is well.
    @inlinable var response: ATTOpcode { ATTOpcode(rawValue &+ 1) }

    /// The specification's name, without "ATT_" and in words; nil for opcodes that it does not define.
    package var name: String? {
        switch self {
        case .errorResponse: "Error Response"
        case .exchangeMTURequest: "Exchange MTU Request"
        case .exchangeMTUResponse: "Exchange MTU Response"
        case .findInformationRequest: "Find Information Request"
        case .findInformationResponse: "Find Information Response"
        case .findByTypeValueRequest: "Find By Type Value Request"
        case .findByTypeValueResponse: "Find By Type Value Response"
        case .readByTypeRequest: "Read By Type Request"
        case .readByTypeResponse: "Read By Type Response"
        case .readRequest: "Read Request"
        case .readResponse: "Read Response"
        case .readBlobRequest: "Read Blob Request"
        case .readBlobResponse: "Read Blob Response"
        case .readMultipleRequest: "Read Multiple Request"
        case .readMultipleResponse: "Read Multiple Response"
        case .readByGroupTypeRequest: "Read By Group Type Request"
        case .readByGroupTypeResponse: "Read By Group Type Response"
        case .writeRequest: "Write Request"
        case .writeResponse: "Write Response"
        case .prepareWriteRequest: "Prepare Write Request"
        case .prepareWriteResponse: "Prepare Write Response"
        case .executeWriteRequest: "Execute Write Request"
        case .executeWriteResponse: "Execute Write Response"
        case .handleValueNotification: "Handle Value Notification"
        case .handleValueIndication: "Handle Value Indication"
        case .handleValueConfirmation: "Handle Value Confirmation"
        case .readMultipleVariableRequest: "Read Multiple Variable Request"
        case .readMultipleVariableResponse: "Read Multiple Variable Response"
        case .multipleHandleValueNotification: "Multiple Handle Value Notification"
        case .writeCommand: "Write Command"
        case .signedWriteCommand: "Signed Write Command"
        default: nil
        }
    }
}

extension ATTOpcode: CustomStringConvertible {
    /// `Read Request`, or `opcode 0x7f` for one that has no name.
    public var description: String { name ?? "opcode 0x" + rawValue.hex }
}
