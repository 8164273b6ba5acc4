import BLECore

/// The number that a host assigns to an advertising set, 0x00 to 0xef.
package struct AdvertisingHandle: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// The type of an extended advertising report (Core Specification 5.4, Vol 4, Part E, 7.7.65.13).
package struct AdvertisingEventType: OptionSet, HCICode {
    /// The bits of the type; bits 5 and 6 are the data status.
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The advertiser accepts connections.
    package static let connectable = AdvertisingEventType(rawValue: 1 << 0)
    package static let scannable = AdvertisingEventType(rawValue: 1 << 1)
    /// The advertising is directed at one device.
    package static let directed = AdvertisingEventType(rawValue: 1 << 2)
    /// The report is for a scan response.
    package static let scanResponse = AdvertisingEventType(rawValue: 1 << 3)
    /// The data was received in a legacy advertising packet.
    package static let legacy = AdvertisingEventType(rawValue: 1 << 4)

    /// Whether more data follows, or the rest was lost.
    package enum DataStatus: UInt8, Hashable, Sendable {
        /// The data is complete, or this is its last part.
        case complete = 0b00
        /// More data follows in the next report.
        case moreToCome = 0b01
        /// The controller could not receive or store the rest.
        case truncated = 0b10
        case reserved = 0b11
    }

    /// Whether more data follows, or the rest was lost.
    package var dataStatus: DataStatus {
        switch rawValue >> 5 & 0b11 {
        case 0b00: .complete
        case 0b01: .moreToCome
        case 0b10: .truncated
        default: .reserved
        }
    }

    /// Returns the same type with that data status.
    package func with(_ status: DataStatus) -> AdvertisingEventType {
        AdvertisingEventType(rawValue: rawValue & ~0x60 | UInt16(status.rawValue) << 5)
    }
}
