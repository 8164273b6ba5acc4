import BLECore

/// A basic L2CAP frame, a B-frame: length, channel, payload (Core Specification 5.4, Vol 3, Part A, 3.1).
package struct L2CAPFrame: Hashable, Sendable {
    /// The number of octets before the payload: length and channel.
    package static let headerLength = 4
    /// The maximum length of a payload, in octets.
    package static let maximumPayload = 0xffff

    /// The receiver's identifier of the channel.
    package let channel: L2CAPChannelID
    /// The payload, at most 65,535 octets.
    package let payload: [UInt8]

    /// Creates a frame. More than 65,535 octets is a programming error.
    package init(_ channel: L2CAPChannelID, _ payload: [UInt8]) {
        precondition(payload.count <= Self.maximumPayload, "an L2CAP frame takes at most 65,535 octets")
        (self.channel, self.payload) = (channel, payload)
    }
}

extension L2CAPFrame: PacketCodable {
    package static let packetName = "L2CAP frame"

    /// Reads the header and as many octets as its length field states.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let length = Int(try reader.u16("PDU Length"))
        channel = L2CAPChannelID(rawValue: try reader.u16("Channel ID"))
        payload = try reader.bytes(length, "Information payload")
    }

    /// The encoded size in octets: the 4 octets of the header and the payload.
    package var encodedCount: Int { Self.headerLength + payload.count }

    /// Writes the header and the payload.
    package func encode(into output: inout OutputSpan<UInt8>) {
        output.l2capHeader(channel, payloadLength: payload.count)
        output.bytes(payload)
    }
}

extension OutputSpan where Element == UInt8 {
    /// Writes the header of a frame with `payloadLength` octets, at most 65,535.
    @_lifetime(self: copy self)
    mutating func l2capHeader(_ channel: L2CAPChannelID, payloadLength: Int) {
        u16(UInt16(clamping: payloadLength))
        u16(channel.rawValue)
    }
}
