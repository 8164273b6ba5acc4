import BLECore

/// An event: code, length, parameters (Core Specification 5.4, Vol 4, Part E, 5.4.4).
package struct HCIEventPacket: Hashable, Sendable {
    package let code: HCIEventCode
    /// The parameters of the event, at most 255 octets.
    package let parameters: [UInt8]

    /// Creates an event with these parameters. More than 255 octets is a programming error.
    package init(code: HCIEventCode, parameters: [UInt8]) {
        precondition(parameters.count <= 255, "an event has at most 255 octets of parameters")
        self.code = code
        self.parameters = parameters
    }
}

extension HCIEventPacket: PacketCodable {
    package static let packetName = "HCI event"

    /// Reads the header and as many octets as its length field states.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        code = HCIEventCode(rawValue: try reader.u8("Event_Code"))
        parameters = try reader.bytes(Int(try reader.u8("Parameter_Total_Length")), "Event_Parameters")
    }

    /// The encoded size in octets: the 2 octets of the header and the parameters.
    package var encodedCount: Int { 2 + parameters.count }

    /// Writes the header and the parameters.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(code.rawValue)
        output.u8(UInt8(clamping: parameters.count))
        output.bytes(parameters)
    }
}
