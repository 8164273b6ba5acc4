import BLECore

/// How often the sender advertises (Core Specification Supplement v11, Part A, 1.15).
package struct AdvertisingInterval: Hashable, Sendable {
    /// Octets that the interval takes on the wire.
    package enum Width: Int, Hashable, Sendable {
        /// The AD type is 0x1a, Advertising Interval.
        case two = 2
        /// The AD type is 0x2f, Advertising Interval - long.
        case three = 3
        /// The AD type is 0x2f, Advertising Interval - long.
        case four = 4
    }

    /// The interval in units of 0.625 ms.
    package let units: UInt32
    package let width: Width

    /// An interval of `units` times 0.625 ms, in the fewest octets that hold it, or in more when `width`
    /// says so.
    package init(units: UInt32, width: Width = .two) {
        let needed: Width = units <= 0xffff ? .two : units <= 0xff_ffff ? .three : .four
        self.units = units
        self.width = width.rawValue > needed.rawValue ? width : needed
    }

    package var duration: Duration { .microseconds(625) * Int(units) }

    var type: AdvertisingDataType { width == .two ? .advertisingInterval : .advertisingIntervalLong }
}

extension AdvertisingInterval: PacketEncodable {
    package var encodedCount: Int { width.rawValue }

    package func encode(into output: inout OutputSpan<UInt8>) { output.little(UInt64(units), width.rawValue) }

    /// Reads the long form, three or four octets by how many are left.
    init(decodingLong reader: inout ByteReader) throws(DecodeError) {
        let width: Width = reader.remaining == 4 ? .four : .three
        let units = try reader.little(width.rawValue, "advertising interval")
        self.init(units: UInt32(truncatingIfNeeded: units), width: width)
    }
}
