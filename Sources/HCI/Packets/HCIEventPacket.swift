import BLECore

/// An event: code, length, parameters (Core Specification 5.4, Vol 4, Part E, 5.4.4).
package struct HCIEventPacket: Hashable, Sendable {
    package let code: HCIEventCode
    /// The parameters of the event, at most 255 octets.
    package let parameters: [UInt8]

    /// An event of these parameters. More than 255 octets of them are a programming error.
    package init(code: HCIEventCode, parameters: [UInt8]) {
        precondition(parameters.count <= 255, "an event has at most 255 octets of parameters")
        self.code = code
        self.parameters = parameters
    }
}

extension HCIEventPacket: PacketCodable {
    package static let packetName = "HCI event"

    /// Reads the header and the octets that it counts.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        code = HCIEventCode(rawValue: try reader.u8("Event_Code"))
        parameters = try reader.bytes(Int(try reader.u8("Parameter_Total_Length")), "Event_Parameters")
    }

    /// The header's 2 octets and the parameters.
    package var encodedCount: Int { 2 + parameters.count }

    /// Writes the header and the parameters.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u8(code.rawValue)
        output.u8(UInt8(clamping: parameters.count))
        output.bytes(parameters)
    }
}
