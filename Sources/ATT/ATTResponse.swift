import BLECore

/// A server's response to a request (Core Specification 5.4, Vol 3, Part F, 3.4).
package enum ATTResponse: Hashable, Sendable {
    /// The request was rejected (3.4.1.1).
    case error(ATTErrorResponse)
    /// The server's receive MTU (3.4.2.2).
    case exchangeMTU(UInt16)
    /// Handles with their types, all UUIDs of one width (3.4.3.2).
    case findInformation(ATTEntryList<ATTInformation>)
    /// The handles of the matching attributes and of the ends of their groups (3.4.3.4).
    case findByTypeValue(ATTEntryList<ATTHandlesInformation>)
    /// Handles with their values, all of one length (3.4.4.2).
    case readByType(ATTEntryList<ATTAttributeData>)
    /// A value, or its beginning if it fills the PDU (3.4.4.4).
    case read([UInt8])
    /// A part of a value (3.4.4.6).
    case readBlob([UInt8])
    /// Values joined without their lengths (3.4.4.8).
    case readMultiple([UInt8])
    /// Groups with their values, all of one length (3.4.4.10).
    case readByGroupType(ATTEntryList<ATTGroupData>)
    /// Values with their lengths (3.4.4.12).
    case readMultipleVariable(ATTTupleList<ATTLengthValue>)
    /// The value was written (3.4.5.2).
    case write
    /// The part was queued; the response echoes the request (3.4.6.2).
    case prepareWrite(AttributeHandle, offset: UInt16, value: [UInt8])
    /// The queued parts were written or discarded (3.4.6.4).
    case executeWrite
}

/// The request that was rejected, the attribute in error, and the reason (Core Specification 5.4, Vol 3, Part
/// F, 3.4.1.1).
public struct ATTErrorResponse: Error, Hashable, Sendable {
    /// The opcode of the request that was rejected.
    public var requestOpcode: ATTOpcode
    /// The attribute in error, or `.none` if the error does not concern an attribute.
    public var handle: AttributeHandle
    /// The error code: the reason for the rejection.
    public var code: ATTErrorCode

    /// Creates an error response to the request with `requestOpcode`.
    @inlinable
    package init(_ requestOpcode: ATTOpcode, _ handle: AttributeHandle, _ code: ATTErrorCode) {
        self.requestOpcode = requestOpcode
        self.handle = handle
        self.code = code
    }
}

extension ATTErrorResponse: CustomStringConvertible {
    /// `Read Request of 0x0003: Read Not Permitted (0x02)`.
    public var description: String {
        handle == .none ? "\(requestOpcode): \(code)" : "\(requestOpcode) of \(handle): \(code)"
    }
}

extension ATTResponse {
    package var opcode: ATTOpcode {
        switch self {
        case .error: .errorResponse
        case .exchangeMTU: .exchangeMTUResponse
        case .findInformation: .findInformationResponse
        case .findByTypeValue: .findByTypeValueResponse
        case .readByType: .readByTypeResponse
        case .read: .readResponse
        case .readBlob: .readBlobResponse
        case .readMultiple: .readMultipleResponse
        case .readByGroupType: .readByGroupTypeResponse
        case .readMultipleVariable: .readMultipleVariableResponse
        case .write: .writeResponse
        case .prepareWrite: .prepareWriteResponse
        case .executeWrite: .executeWriteResponse
        }
    }
}

extension ATTResponse: PacketCodable {
    /// The name in errors that occur before the opcode is known.
    package static var packetName: String { "ATT response" }

    /// Reads a response, which takes all remaining octets.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let opcode = ATTOpcode(try reader.u8("opcode"))
        self = try naming(opcode) { () throws(DecodeError) in
            switch opcode {
            case .errorResponse: .error(try ATTErrorResponse(decoding: &reader))
            case .exchangeMTUResponse: .exchangeMTU(try reader.u16("server receive MTU"))
            case .findInformationResponse: .findInformation(try reader.information())
            case .findByTypeValueResponse:
                .findByTypeValue(try ATTEntryList(entryLength: 4, decoding: &reader))
            case .readByTypeResponse:
                .readByType(try ATTEntryList(entryLength: Int(try reader.u8("length")), decoding: &reader))
            case .readResponse: .read(reader.rest())
            case .readBlobResponse: .readBlob(reader.rest())
            case .readMultipleResponse: .readMultiple(reader.rest())
            case .readByGroupTypeResponse:
                .readByGroupType(
                    try ATTEntryList(entryLength: Int(try reader.u8("length")), decoding: &reader))
            case .readMultipleVariableResponse: .readMultipleVariable(try ATTTupleList(decoding: &reader))
            case .writeResponse: .write
            case .prepareWriteResponse:
                .prepareWrite(
                    try reader.handle(), offset: try reader.u16("value offset"), value: reader.rest())
            case .executeWriteResponse: .executeWrite
            default: throw reader.invalid("opcode", value: opcode.rawValue, width: 1)
            }
        }
    }

    package var encodedCount: Int {
        switch self {
        case .write, .executeWrite: 1
        case .exchangeMTU: 3
        case .error: 5
        case .read(let value), .readBlob(let value), .readMultiple(let value): 1 + value.count
        case .findInformation(let list): 2 + list.bytes.count
        case .findByTypeValue(let list): 1 + list.bytes.count
        case .readByType(let list): 2 + list.bytes.count
        case .readByGroupType(let list): 2 + list.bytes.count
        case .readMultipleVariable(let list): 1 + list.bytes.count
        case .prepareWrite(_, _, let value): 5 + value.count
        }
    }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(opcode.rawValue)
        switch self {
        case .write, .executeWrite: break
        case .error(let error): error.encode(into: &output)
        case .exchangeMTU(let mtu): output.u16(mtu)
        case .findInformation(let list):
            output.u8(list.entryLength == 4 ? 1 : 2)
            output.bytes(list.bytes)
        case .findByTypeValue(let list): output.bytes(list.bytes)
        case .readByType(let list):
            output.u8(UInt8(truncatingIfNeeded: list.entryLength))
            output.bytes(list.bytes)
        case .readByGroupType(let list):
            output.u8(UInt8(truncatingIfNeeded: list.entryLength))
            output.bytes(list.bytes)
        case .read(let value), .readBlob(let value), .readMultiple(let value): output.bytes(value)
        case .readMultipleVariable(let list): output.bytes(list.bytes)
        case .prepareWrite(let handle, let offset, let value):
            output.handle(handle)
            output.u16(offset)
            output.bytes(value)
        }
    }
}

extension ATTErrorResponse {
    fileprivate init(decoding reader: inout ByteReader) throws(DecodeError) {
        self.init(
            ATTOpcode(try reader.u8("request opcode in error")),
            try reader.handle("attribute handle in error"),
            ATTErrorCode(try reader.u8("error code")))
    }

    fileprivate func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(requestOpcode.rawValue)
        output.handle(handle)
        output.u8(code.rawValue)
    }
}

extension ByteReader {
    /// Reads the list of a Find Information Response. Format 1 has 16-bit UUIDs, format 2 has 128-bit ones
    /// (3.4.3.2).
    @_lifetime(self: copy self)
    fileprivate mutating func information() throws(DecodeError) -> ATTEntryList<ATTInformation> {
        let format = try u8("format")
        guard format == 1 || format == 2 else { throw invalid("format", value: format, width: 1) }
        return try ATTEntryList(entryLength: format == 1 ? 4 : 18, decoding: &self)
    }
}
