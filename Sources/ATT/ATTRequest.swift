import BLECore

/// A request of a client, to which the server owes one response (Core Specification 5.4, Vol 3, Part F, 3.4).
package enum ATTRequest: Hashable, Sendable {
    /// Exchanges the receive MTUs; this is the client's (3.4.2.1).
    case exchangeMTU(UInt16)
    /// Finds the handles and types of all attributes in a range (3.4.3.1).
    case findInformation(AttributeRange)
    /// Finds the attributes in a range with this 16-bit type and exactly this value (3.4.3.3).
    case findByTypeValue(AttributeRange, type: UInt16, value: [UInt8])
    /// Reads the values of the attributes in a range with this type (3.4.4.1).
    case readByType(AttributeRange, type: AttributeType)
    /// Reads the value of an attribute (3.4.4.3).
    case read(AttributeHandle)
    /// Reads a value from an offset on (3.4.4.5).
    case readBlob(AttributeHandle, offset: UInt16)
    /// Reads two or more values, joined (3.4.4.7).
    case readMultiple([AttributeHandle])
    /// Reads the values of the grouping attributes in a range with this type (3.4.4.9).
    case readByGroupType(AttributeRange, type: AttributeType)
    /// Reads two or more values with their lengths (3.4.4.11).
    case readMultipleVariable([AttributeHandle])
    /// Writes a value (3.4.5.1).
    case write(AttributeHandle, value: [UInt8])
    /// Queues a part of a value (3.4.6.1).
    case prepareWrite(AttributeHandle, offset: UInt16, value: [UInt8])
    /// Writes or discards the queued parts (3.4.6.3).
    case executeWrite(ATTExecuteFlag)
}

/// What the server does with the prepared writes (Core Specification 5.4, Vol 3, Part F, 3.4.6.3). Any other
/// number makes the request an invalid PDU.
package enum ATTExecuteFlag: UInt8, Hashable, Sendable {
    /// The server discards the prepared writes.
    case cancel = 0x00
    /// The server writes all prepared values in order.
    case write = 0x01
}

extension ATTRequest {
    package var opcode: ATTOpcode {
        switch self {
        case .exchangeMTU: .exchangeMTURequest
        case .findInformation: .findInformationRequest
        case .findByTypeValue: .findByTypeValueRequest
        case .readByType: .readByTypeRequest
        case .read: .readRequest
        case .readBlob: .readBlobRequest
        case .readMultiple: .readMultipleRequest
        case .readByGroupType: .readByGroupTypeRequest
        case .readMultipleVariable: .readMultipleVariableRequest
        case .write: .writeRequest
        case .prepareWrite: .prepareWriteRequest
        case .executeWrite: .executeWriteRequest
        }
    }
}

extension ATTRequest: PacketCodable {
    /// The name in errors that occur before the opcode is known.
    package static var packetName: String { "ATT request" }

    /// Reads a request, which takes all remaining octets.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let opcode = ATTOpcode(try reader.u8("opcode"))
        self = try naming(opcode) { () throws(DecodeError) in
            switch opcode {
            case .exchangeMTURequest: .exchangeMTU(try reader.u16("client receive MTU"))
            case .findInformationRequest: .findInformation(try reader.range())
            case .findByTypeValueRequest:
                .findByTypeValue(
                    try reader.range(), type: try reader.u16("attribute type"), value: reader.rest())
            case .readByTypeRequest:
                .readByType(try reader.range(), type: try reader.attributeType("attribute type"))
            case .readRequest: .read(try reader.handle())
            case .readBlobRequest: .readBlob(try reader.handle(), offset: try reader.u16("value offset"))
            case .readMultipleRequest: .readMultiple(try reader.handles())
            case .readByGroupTypeRequest:
                .readByGroupType(try reader.range(), type: try reader.attributeType("attribute group type"))
            case .readMultipleVariableRequest: .readMultipleVariable(try reader.handles())
            case .writeRequest: .write(try reader.handle(), value: reader.rest())
            case .prepareWriteRequest:
                .prepareWrite(
                    try reader.handle(), offset: try reader.u16("value offset"), value: reader.rest())
            case .executeWriteRequest: .executeWrite(try reader.executeFlag())
            default: throw reader.invalid("opcode", value: opcode.rawValue, width: 1)
            }
        }
    }

    package var encodedCount: Int {
        switch self {
        case .executeWrite: 2
        case .exchangeMTU, .read: 3
        case .findInformation, .readBlob: 5
        case .findByTypeValue(_, _, let value): 7 + value.count
        case .readByType(_, let type), .readByGroupType(_, let type): 5 + type.width.rawValue
        case .readMultiple(let handles), .readMultipleVariable(let handles): 1 + 2 * handles.count
        case .write(_, let value): 3 + value.count
        case .prepareWrite(_, _, let value): 5 + value.count
        }
    }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(opcode.rawValue)
        switch self {
        case .exchangeMTU(let mtu): output.u16(mtu)
        case .findInformation(let range): output.range(range)
        case .findByTypeValue(let range, let type, let value):
            output.range(range)
            output.u16(type)
            output.bytes(value)
        case .readByType(let range, let type), .readByGroupType(let range, let type):
            output.range(range)
            output.uuid(type.uuid, width: type.width)
        case .read(let handle): output.handle(handle)
        case .readBlob(let handle, let offset):
            output.handle(handle)
            output.u16(offset)
        case .readMultiple(let handles), .readMultipleVariable(let handles): output.handles(handles)
        case .write(let handle, let value):
            output.handle(handle)
            output.bytes(value)
        case .prepareWrite(let handle, let offset, let value):
            output.handle(handle)
            output.u16(offset)
            output.bytes(value)
        case .executeWrite(let flag): output.u8(flag.rawValue)
        }
    }
}

extension ByteReader {
    @_lifetime(self: copy self)
    fileprivate mutating func executeFlag() throws(DecodeError) -> ATTExecuteFlag {
        let flag = try u8("flags")
        guard let known = ATTExecuteFlag(rawValue: flag) else {
            throw invalid("flags", value: flag, width: 1)
        }
        return known
    }
}
