import BLECore

/// A packet on the LE signaling channel: code, identifier, length, data. A frame contains exactly one (Core
/// Specification 5.4, Vol 3, Part A, 4).
package struct LESignalingPDU: Hashable, Sendable {
    /// The number of octets before the data: code, identifier and length.
    package static let headerLength = 4

    package let code: LESignalingCode
    /// The number that matches a response to its request; never 0.
    package let identifier: UInt8
    /// The data, whose fields depend on the code.
    package let data: [UInt8]

    /// Creates a packet, whose code can be unknown. More than 65,535 octets is a programming error.
    package init(code: LESignalingCode, identifier: UInt8, data: [UInt8]) {
        precondition(data.count <= 0xffff, "a signaling packet takes at most 65,535 octets")
        (self.code, self.identifier, self.data) = (code, identifier, data)
    }

    package init<Message: LESignalingMessage>(_ message: Message, identifier: UInt8) {
        self.init(code: Message.code, identifier: identifier, data: message.encoded)
    }

    /// Decodes the message; nil if the code is unknown.
    package func message() throws(DecodeError) -> (any LESignalingMessage)? {
        guard let type = Self.messages[code] else { return nil }
        return try type.init(data)
    }

    /// The types of the messages on the LE signaling channel, by code.
    package static let messages: [LESignalingCode: any LESignalingMessage.Type] = {
        let types: [any LESignalingMessage.Type] = [
            CommandReject.self, DisconnectionRequest.self, DisconnectionResponse.self,
            ConnectionParameterUpdateRequest.self, ConnectionParameterUpdateResponse.self,
            LECreditBasedConnectionRequest.self, LECreditBasedConnectionResponse.self,
            FlowControlCredit.self, CreditBasedConnectionRequest.self, CreditBasedConnectionResponse.self,
            CreditBasedReconfigureRequest.self, CreditBasedReconfigureResponse.self,
        ]
        return Dictionary(types.map { ($0.code, $0) }) { first, _ in first }
    }()
}

/// The content of a signaling packet with a specific code.
package protocol LESignalingMessage: HCIParameters {
    /// The code and the fields in the order of the wire.
    static var definition: HCIDefinition<LESignalingCode, Self> { get }
}

extension LESignalingMessage {
    static func message<each Field: HCIField>(
        _ code: LESignalingCode, _ names: StaticString,
        _ make: @escaping @Sendable (repeat each Field) -> Self,
        _ fields: @escaping @Sendable (Self) -> (repeat each Field)
    ) -> HCIDefinition<LESignalingCode, Self> {
        HCIDefinition(code: code, layout: HCILayout(names, make, fields))
    }

    package static var code: LESignalingCode { definition.code }
    /// The fields in the order of the wire.
    package static var layout: HCILayout<Self> { definition.layout }
    package static var packetName: String { code.description }
}

extension LESignalingPDU: PacketCodable {
    package static let packetName = "LE signaling packet"

    /// Reads the header and as many octets as its length field states.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        code = LESignalingCode(rawValue: try reader.u8("Code"))
        identifier = try reader.u8("Identifier")
        data = try reader.bytes(Int(try reader.u16("Data Length")), "Data")
    }

    /// The encoded size in octets: the 4 octets of the header and the data.
    package var encodedCount: Int { Self.headerLength + data.count }

    /// Writes the header and the data.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(code.rawValue)
        output.u8(identifier)
        output.u16(UInt16(clamping: data.count))
        output.bytes(data)
    }
}
