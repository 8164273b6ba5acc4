import BLECore

/// Any PDU of the attribute protocol, for code that handles both directions: recordings, dissectors, tests.
/// The client and the server of a bearer use the types of its cases.
package enum ATTPDU: Hashable, Sendable {
    /// A request of the client, which the server answers.
    case request(ATTRequest)
    /// The server's response to a request.
    case response(ATTResponse)
    /// A command of the client, which has no response.
    case command(ATTCommand)
    /// A notification or indication of the server.
    case unsolicited(ATTUnsolicited)
    /// The client's confirmation that an indication arrived (Core Specification 5.4, Vol 3, Part F, 3.4.7.3).
    case confirmation
}

extension ATTPDU {
    package var opcode: ATTOpcode {
        switch self {
        case .request(let request): request.opcode
        case .response(let response): response.opcode
        case .command(let command): command.opcode
        case .unsolicited(let unsolicited): unsolicited.opcode
        case .confirmation: .handleValueConfirmation
        }
    }
}

extension ATTPDU: PacketCodable {
    /// The name in errors that occur before the opcode is known.
    package static var packetName: String { "ATT PDU" }

    /// Reads a PDU, which takes all remaining octets; an undefined opcode is an error.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        var ahead = reader
        let opcode = ATTOpcode(try ahead.u8("opcode"))
        switch opcode.kind {
        case .request: self = .request(try ATTRequest(decoding: &reader))
        case .response: self = .response(try ATTResponse(decoding: &reader))
        case .command: self = .command(try ATTCommand(decoding: &reader))
        case .unsolicited: self = .unsolicited(try ATTUnsolicited(decoding: &reader))
        case .confirmation:
            self = .confirmation
            reader = ahead
        case nil: throw ahead.invalid("opcode", value: opcode.rawValue, width: 1)
        }
    }

    package var encodedCount: Int {
        switch self {
        case .request(let request): request.encodedCount
        case .response(let response): response.encodedCount
        case .command(let command): command.encodedCount
        case .unsolicited(let unsolicited): unsolicited.encodedCount
        case .confirmation: 1
        }
    }

    package func encode(into output: inout OutputSpan<UInt8>) {
        switch self {
        case .request(let request): request.encode(into: &output)
        case .response(let response): response.encode(into: &output)
        case .command(let command): command.encode(into: &output)
        case .unsolicited(let unsolicited): unsolicited.encode(into: &output)
        case .confirmation: output.u8(opcode.rawValue)
        }
    }
}

/// Runs `decode`, and puts the name of the PDU with `opcode` into an error that `decode` throws.
func naming<Value>(
    _ opcode: ATTOpcode, _ decode: () throws(DecodeError) -> Value
) throws(DecodeError) -> Value {
    do {
        return try decode()
    } catch {
        var named = error
        named.packet = opcode.name ?? named.packet
        throw named
    }
}
