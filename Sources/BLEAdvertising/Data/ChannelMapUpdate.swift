import BLECore

/// The channels that a periodic advertising train will use, and from when on (Core Specification
/// Supplement v11, Part A, 1.20).
package struct ChannelMapUpdate: Hashable, Sendable {
    /// A bit for each data channel, 0 to 36; the bits above are reserved, and only 40 reach the wire.
    package var channels: UInt64
    /// The event counter of the train at which the new map begins.
    package var instant: UInt16

    /// New channels from an event on.
    package init(channels: UInt64, instant: UInt16) {
        self.channels = channels
        self.instant = instant
    }
}

extension ChannelMapUpdate: PacketDecodable, PacketEncodable {
    package static var packetName: String { "Channel Map Update Indication" }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        channels = try reader.little(5, "channel map")
        instant = try reader.u16("instant")
    }

    package var encodedCount: Int { 7 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.little(channels, 5)
        output.u16(instant)
    }
}
