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

    /// Bit 6: whether the PDU is a command, which gets no response, not even when it is unknown.
    @inlinable package var isCommand: Bool { rawValue & 0x40 != 0 }

    /// Bit 7: whether the PDU ends with an authentication signature.
    @inlinable package var isSigned: Bool { rawValue & 0x80 != 0 }
}

extension ATTOpcode {
    /// The opcode of Error Response (3.4.1.1).
    public static let errorResponse = ATTOpcode(0x01)
    /// Exchange MTU Request (3.4.2.1).
    public static let exchangeMTURequest = ATTOpcode(0x02)
    /// Exchange MTU Response (3.4.2.2).
    public static let exchangeMTUResponse = ATTOpcode(0x03)
    /// Find Information Request (3.4.3.1).
    public static let findInformationRequest = ATTOpcode(0x04)
    /// Find Information Response (3.4.3.2).
    public static let findInformationResponse = ATTOpcode(0x05)
    /// Find By Type Value Request (3.4.3.3).
    public static let findByTypeValueRequest = ATTOpcode(0x06)
    /// Find By Type Value Response (3.4.3.4).
    public static let findByTypeValueResponse = ATTOpcode(0x07)
    /// Read By Type Request (3.4.4.1).
    public static let readByTypeRequest = ATTOpcode(0x08)
    /// Read By Type Response (3.4.4.2).
    public static let readByTypeResponse = ATTOpcode(0x09)
    /// The opcode of Read Request (3.4.4.3).
    public static let readRequest = ATTOpcode(0x0a)
    /// The opcode of Read Response (3.4.4.4).
    public static let readResponse = ATTOpcode(0x0b)
    /// Read Blob Request (3.4.4.5).
    public static let readBlobRequest = ATTOpcode(0x0c)
    /// Read Blob Response (3.4.4.6).
    public static let readBlobResponse = ATTOpcode(0x0d)
    /// Read Multiple Request (3.4.4.7).
    public static let readMultipleRequest = ATTOpcode(0x0e)
    /// Read Multiple Response (3.4.4.8).
    public static let readMultipleResponse = ATTOpcode(0x0f)
    /// Read By Group Type Request (3.4.4.9).
    public static let readByGroupTypeRequest = ATTOpcode(0x10)
    /// Read By Group Type Response (3.4.4.10).
    public static let readByGroupTypeResponse = ATTOpcode(0x11)
    /// The opcode of Write Request (3.4.5.1).
    public static let writeRequest = ATTOpcode(0x12)
    /// The opcode of Write Response (3.4.5.2).
    public static let writeResponse = ATTOpcode(0x13)
    /// Prepare Write Request (3.4.6.1).
    public static let prepareWriteRequest = ATTOpcode(0x16)
    /// Prepare Write Response (3.4.6.2).
    public static let prepareWriteResponse = ATTOpcode(0x17)
    /// Execute Write Request (3.4.6.3).
    public static let executeWriteRequest = ATTOpcode(0x18)
    /// Execute Write Response (3.4.6.4).
    public static let executeWriteResponse = ATTOpcode(0x19)
    /// Handle Value Notification (3.4.7.1).
    public static let handleValueNotification = ATTOpcode(0x1b)
    /// Handle Value Indication (3.4.7.2).
    public static let handleValueIndication = ATTOpcode(0x1d)
    /// Handle Value Confirmation (3.4.7.3).
    public static let handleValueConfirmation = ATTOpcode(0x1e)
    /// Read Multiple Variable Request (3.4.4.11).
    public static let readMultipleVariableRequest = ATTOpcode(0x20)
    /// Read Multiple Variable Response (3.4.4.12).
    public static let readMultipleVariableResponse = ATTOpcode(0x21)
    /// Multiple Handle Value Notification (3.4.7.4).
    public static let multipleHandleValueNotification = ATTOpcode(0x23)
    /// The opcode of Write Command (3.4.5.3).
    public static let writeCommand = ATTOpcode(0x52)
    /// Signed Write Command (3.4.5.4).
    public static let signedWriteCommand = ATTOpcode(0xd2)
}

extension ATTOpcode {
    /// The kind of the PDUs with an opcode, which determines their direction (3.3, Table 3.1).
    package enum Kind: Hashable, Sendable {
        /// A PDU of the client to which the server owes a response.
        case request
        /// A PDU of the server that answers a request.
        case response
        /// A PDU of the client that has no response.
        case command
        /// A PDU that the server sends without a request: a notification or an indication.
        case unsolicited
        /// A PDU of the client that confirms an indication.
        case confirmation
    }

    /// The kind of the PDUs with this opcode; nil when the specification does not define it.
    package var kind: Kind? { Self.kinds[Int(rawValue)] }

    /// Whether PDUs with this opcode are commands, notifications or indications.
    package var isUnasked: Bool { kind == .command || kind == .unsolicited }

    /// The opcode of the successful response to a request with this opcode.
    @inlinable var response: ATTOpcode { ATTOpcode(rawValue &+ 1) }

    /// The specification's name, without "ATT_" and in words; nil for opcodes that it does not define.
    package var name: String? { Self.names[Int(rawValue)] }

    /// All opcodes that the specification defines.
    private static let table: [(opcode: ATTOpcode, kind: Kind, name: String)] = [
        (.errorResponse, .response, "Error Response"),
        (.exchangeMTURequest, .request, "Exchange MTU Request"),
        (.exchangeMTUResponse, .response, "Exchange MTU Response"),
        (.findInformationRequest, .request, "Find Information Request"),
        (.findInformationResponse, .response, "Find Information Response"),
        (.findByTypeValueRequest, .request, "Find By Type Value Request"),
        (.findByTypeValueResponse, .response, "Find By Type Value Response"),
        (.readByTypeRequest, .request, "Read By Type Request"),
        (.readByTypeResponse, .response, "Read By Type Response"),
        (.readRequest, .request, "Read Request"),
        (.readResponse, .response, "Read Response"),
        (.readBlobRequest, .request, "Read Blob Request"),
        (.readBlobResponse, .response, "Read Blob Response"),
        (.readMultipleRequest, .request, "Read Multiple Request"),
        (.readMultipleResponse, .response, "Read Multiple Response"),
        (.readByGroupTypeRequest, .request, "Read By Group Type Request"),
        (.readByGroupTypeResponse, .response, "Read By Group Type Response"),
        (.writeRequest, .request, "Write Request"),
        (.writeResponse, .response, "Write Response"),
        (.prepareWriteRequest, .request, "Prepare Write Request"),
        (.prepareWriteResponse, .response, "Prepare Write Response"),
        (.executeWriteRequest, .request, "Execute Write Request"),
        (.executeWriteResponse, .response, "Execute Write Response"),
        (.handleValueNotification, .unsolicited, "Handle Value Notification"),
        (.handleValueIndication, .unsolicited, "Handle Value Indication"),
        (.handleValueConfirmation, .confirmation, "Handle Value Confirmation"),
        (.readMultipleVariableRequest, .request, "Read Multiple Variable Request"),
        (.readMultipleVariableResponse, .response, "Read Multiple Variable Response"),
        (.multipleHandleValueNotification, .unsolicited, "Multiple Handle Value Notification"),
        (.writeCommand, .command, "Write Command"),
        (.signedWriteCommand, .command, "Signed Write Command"),
    ]

    /// The kind of each opcode, indexed by its number, because it is looked up for every PDU.
    private static let kinds = byNumber(\.kind)

    private static let names = byNumber(\.name)

    /// Returns a column of the table, indexed by opcode, with nil for each number that is no defined opcode.
    private static func byNumber<Value>(
        _ column: ((opcode: ATTOpcode, kind: Kind, name: String)) -> Value
    ) -> [Value?] {
        var values = [Value?](repeating: nil, count: 256)
        for row in table { values[Int(row.opcode.rawValue)] = column(row) }
        return values
    }
}

extension ATTOpcode: CustomStringConvertible {
    /// `Read Request`, or `opcode 0x7f` for one that has no name.
    public var description: String { name ?? "opcode 0x" + rawValue.hex }
}
