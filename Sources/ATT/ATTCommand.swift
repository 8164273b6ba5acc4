import BLECore

/// A PDU of a client that has no response (Core Specification 5.4, Vol 3, Part F, 3.4.5).
package enum ATTCommand: Hashable, Sendable {
    /// Writes a value (3.4.5.3).
    case write(AttributeHandle, value: [UInt8])
    /// Writes a value that is authenticated by the client's signature (3.4.5.4).
    case signedWrite(AttributeHandle, value: [UInt8], signature: ATTSignature)
}

/// The authentication signature of a Signed Write Command: 12 octets (Core Specification 5.4, Vol 3, Part
/// C, 10.4.1).
package struct ATTSignature: Hashable, Sendable {
    /// The client's SignCounter, which never repeats.
    package var counter: UInt32
    /// The message authentication code, least significant octet first.
    package var mac: UInt64

    /// Creates a signature from its two parts.
    @inlinable
    package init(counter: UInt32, mac: UInt64) {
        self.counter = counter
        self.mac = mac
    }

    package static let encodedCount = 12
}

extension ATTCommand {
    package var opcode: ATTOpcode {
        switch self {
        case .write: .writeCommand
        case .signedWrite: .signedWriteCommand
        }
    }

    /// The handle of the attribute to write.
    package var handle: AttributeHandle {
        switch self {
        case .write(let handle, _), .signedWrite(let handle, _, _): handle
        }
    }

    package var value: [UInt8] {
        switch self {
        case .write(_, let value), .signedWrite(_, let value, _): value
        }
    }
}

extension ATTCommand: PacketCodable {
    /// The name in errors that occur before the opcode is known.
    package static var packetName: String { "ATT command" }

    /// Reads a command, which takes all remaining octets.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let opcode = ATTOpcode(try reader.u8("opcode"))
        self = try naming(opcode) { () throws(DecodeError) in
            switch opcode {
            case .writeCommand: .write(try reader.handle(), value: reader.rest())
            case .signedWriteCommand: try .signedWrite(decoding: &reader)
            default: throw reader.invalid("opcode", value: opcode.rawValue, width: 1)
            }
        }
    }

    private static func signedWrite(decoding reader: inout ByteReader) throws(DecodeError) -> ATTCommand {
        let handle = try reader.handle()
        guard reader.remaining >= ATTSignature.encodedCount else {
            throw reader.failure(
                "authentication signature",
                .truncated(needed: ATTSignature.encodedCount, available: reader.remaining))
        }
        let value = try reader.bytes(reader.remaining - ATTSignature.encodedCount, "attribute value")
        let signature = ATTSignature(counter: try reader.u32("sign counter"), mac: try reader.u64("MAC"))
        return .signedWrite(handle, value: value, signature: signature)
    }

    package var encodedCount: Int {
        switch self {
        case .write(_, let value): 3 + value.count
        case .signedWrite(_, let value, _): 3 + value.count + ATTSignature.encodedCount
        }
    }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(opcode.rawValue)
        output.handle(handle)
        output.bytes(value)
        if case .signedWrite(_, _, let signature) = self {
            output.u32(signature.counter)
            output.u64(signature.mac)
        }
    }
}
