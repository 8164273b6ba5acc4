import BLECore

extension ATTResponse: PacketCodable {
    /// For errors before the opcode is known.
    package static var packetName: String { "ATT response" }

    /// Reads a response that takes all that is left.
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

    /// Octets of the whole PDU.
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

    /// Writes the whole PDU.
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
    /// Format 1 is 16-bit UUIDs, format 2 is 128-bit ones (3.4.3.2).
    fileprivate mutating func information() throws(DecodeError) -> ATTEntryList<ATTInformation> {
        let format = try u8("format")
        guard format == 1 || format == 2 else { throw invalid("format", value: format, width: 1) }
        return try ATTEntryList(entryLength: format == 1 ? 4 : 18, decoding: &self)
    }
}
