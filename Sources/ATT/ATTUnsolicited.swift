import BLECore

/// A PDU that a server sends without a request (Core Specification 5.4, Vol 3, Part F, 3.4.7).
package enum ATTUnsolicited: Hashable, Sendable {
    /// A value that the client does not confirm (3.4.7.1).
    case notification(AttributeHandle, value: [UInt8])
    /// A value that the client confirms (3.4.7.2).
    case indication(AttributeHandle, value: [UInt8])
    /// Two or more values (3.4.7.4).
    case multipleNotification(ATTTupleList<ATTHandleLengthValue>)
}

extension ATTUnsolicited {
    package var opcode: ATTOpcode {
        switch self {
        case .notification: .handleValueNotification
        case .indication: .handleValueIndication
        case .multipleNotification: .multipleHandleValueNotification
        }
    }
}

extension ATTUnsolicited: PacketCodable {
    /// The name in errors that occur before the opcode is known.
    package static var packetName: String { "ATT notification" }

    /// Reads a notification or an indication, which takes all remaining octets.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let opcode = ATTOpcode(try reader.u8("opcode"))
        self = try naming(opcode) { () throws(DecodeError) in
            switch opcode {
            case .handleValueNotification: .notification(try reader.handle(), value: reader.rest())
            case .handleValueIndication: .indication(try reader.handle(), value: reader.rest())
            case .multipleHandleValueNotification:
                .multipleNotification(try ATTTupleList(decoding: &reader))
            default: throw reader.invalid("opcode", value: opcode.rawValue, width: 1)
            }
        }
    }

    package var encodedCount: Int {
        switch self {
        case .notification(_, let value), .indication(_, let value): 3 + value.count
        case .multipleNotification(let list): 1 + list.bytes.count
        }
    }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(opcode.rawValue)
        switch self {
        case .notification(let handle, let value), .indication(let handle, let value):
            output.handle(handle)
            output.bytes(value)
        case .multipleNotification(let list): output.bytes(list.bytes)
        }
    }
}
