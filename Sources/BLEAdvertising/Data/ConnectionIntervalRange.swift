import BLECore

/// The connection intervals that a peripheral would like, in units of 1.25 ms (Core Specification
/// Supplement v11, Part A, 1.9).
package struct ConnectionIntervalRange: Hashable, Sendable {
    /// The least, 6 to 3200, or `unspecified`.
    package var minimum: UInt16
    /// The greatest, 6 to 3200 and not below `minimum`, or `unspecified`.
    package var maximum: UInt16

    /// The value of a limit that the peripheral leaves open.
    package static let unspecified: UInt16 = 0xffff

    /// A range in units of 1.25 ms.
    package init(minimum: UInt16, maximum: UInt16) {
        self.minimum = minimum
        self.maximum = maximum
    }
}

extension ConnectionIntervalRange: PacketDecodable, PacketEncodable {
    package static var packetName: String { "Peripheral Connection Interval Range" }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        minimum = try reader.u16("minimum connection interval")
        maximum = try reader.u16("maximum connection interval")
    }

    package var encodedCount: Int { 4 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u16(minimum)
        output.u16(maximum)
    }
}
