import BLECore

/// The advertising interval of the sender (Core Specification Supplement v11, Part A, 1.15).
package struct AdvertisingInterval: Hashable, Sendable {
    /// The number of octets of the interval on the wire.
    package enum Width: Int, Hashable, Sendable {
        /// Two octets: AD type 0x1a, Advertising Interval.
        case two = 2
        /// Three octets: AD type 0x2f, Advertising Interval - long.
        case three = 3
        /// Four octets: AD type 0x2f, Advertising Interval - long.
        case four = 4
    }

    /// The interval in units of 0.625 ms.
    package let units: UInt32
    package let width: Width

    /// Creates an interval of `units` times 0.625 ms. Its width is the smallest that holds it, or `width` if
    /// that is larger.
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

    /// Reads the long form, of three or four octets depending on how many remain.
    init(decodingLong reader: inout ByteReader) throws(DecodeError) {
        let width: Width = reader.remaining == 4 ? .four : .three
        let units = try reader.unsigned(octets: width.rawValue, "advertising interval")
        self.init(units: UInt32(truncatingIfNeeded: units), width: width)
    }
}
