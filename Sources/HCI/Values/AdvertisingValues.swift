import BLECore

/// The type of advertising with the legacy commands (Core Specification 5.4, Vol 4, Part E, 7.8.5).
package struct AdvertisingType: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Connectable and scannable undirected (ADV_IND).
    package static let connectable = AdvertisingType(rawValue: 0x00)
    /// Connectable, directed at one device, as fast as possible for 1.28 s (ADV_DIRECT_IND, high duty cycle).
    package static let directedHighDutyCycle = AdvertisingType(rawValue: 0x01)
    /// Scannable undirected, but not connectable (ADV_SCAN_IND).
    package static let scannable = AdvertisingType(rawValue: 0x02)
    /// Neither connectable nor scannable (ADV_NONCONN_IND).
    package static let nonconnectable = AdvertisingType(rawValue: 0x03)
    /// Connectable, directed at one device (ADV_DIRECT_IND, low duty cycle).
    package static let directedLowDutyCycle = AdvertisingType(rawValue: 0x04)
}

/// A set of the three primary advertising channels.
public struct AdvertisingChannels: OptionSet, HCICode {
    /// The bits of the channels: bit 0 for channel 37, 1 for 38, 2 for 39.
    public let rawValue: UInt8

    /// Creates a set from its bits: bit 0 is channel 37, bit 2 is channel 39.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Channel 37, at 2,402 MHz.
    public static let channel37 = AdvertisingChannels(rawValue: 1 << 0)
    /// Channel 38, at 2,426 MHz.
    public static let channel38 = AdvertisingChannels(rawValue: 1 << 1)
    /// Channel 39, at 2,480 MHz.
    public static let channel39 = AdvertisingChannels(rawValue: 1 << 2)
    /// All three advertising channels; the default.
    public static let all: AdvertisingChannels = [.channel37, .channel38, .channel39]
}

/// The devices whose requests an advertiser accepts (Core Specification 5.4, Vol 4, Part E, 7.8.5).
package struct AdvertisingFilterPolicy: OptionSet, HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The advertiser accepts scan requests only from devices in the filter accept list.
    package static let filterScanRequests = AdvertisingFilterPolicy(rawValue: 1 << 0)
    /// The advertiser accepts connection requests only from devices in the filter accept list.
    package static let filterConnections = AdvertisingFilterPolicy(rawValue: 1 << 1)
}

/// Whether a scanner requests scan responses (Core Specification 5.4, Vol 4, Part E, 7.8.10).
package struct ScanType: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The scanner sends no scan requests.
    package static let passive = ScanType(rawValue: 0x00)
    /// The scanner sends scan requests to scannable advertisers.
    package static let active = ScanType(rawValue: 0x01)
}

/// The advertising packets that a scanner accepts (Core Specification 5.4, Vol 4, Part E, 7.8.10).
package struct ScanFilterPolicy: OptionSet, HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The scanner accepts only devices in the filter accept list.
    package static let acceptListOnly = ScanFilterPolicy(rawValue: 1 << 0)
    /// The scanner also accepts directed advertising at a private address that the controller cannot resolve.
    package static let unresolvedDirected = ScanFilterPolicy(rawValue: 1 << 1)
}

/// The devices to which an initiator connects (Core Specification 5.4, Vol 4, Part E, 7.8.12).
package struct InitiatorFilterPolicy: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The peer in the command.
    package static let peer = InitiatorFilterPolicy(rawValue: 0x00)
    /// The first device in the filter accept list whose advertising is received; the peer in the command is
    /// ignored.
    package static let acceptList = InitiatorFilterPolicy(rawValue: 0x01)
}

/// Legacy advertising or scan response data: a length and always 31 octets, of which the first `length` are
/// used (Core Specification 5.4, Vol 4, Part E, 7.8.7).
package struct LegacyAdvertisingData: HCIField {
    /// The maximum number of octets.
    package static let capacity = 31
    /// The number of octets that are used. The controller rejects the command if it exceeds 31.
    package let length: UInt8
    private let octets: [UInt8]

    /// Creates the data, padded with zeros.
    /// - Throws: if there are more than 31 octets.
    package init(_ data: [UInt8]) throws(HCIParameterError) {
        guard data.count <= Self.capacity else {
            throw HCIParameterError(field: "Advertising_Data", value: data.count, limit: Self.capacity)
        }
        length = UInt8(truncatingIfNeeded: data.count)
        octets = data + [UInt8](repeating: 0, count: Self.capacity - data.count)
    }

    /// The octets that are used, or nil if the length exceeds `capacity`.
    package var data: [UInt8]? { length <= Self.capacity ? Array(octets.prefix(Int(length))) : nil }

    /// Reads the length and 31 octets.
    package init(reading reader: inout ByteReader) throws(DecodeError) {
        length = try reader.u8("")
        octets = try reader.bytes(Self.capacity, "")
    }

    package var fieldWidth: Int { 1 + Self.capacity }

    /// Writes the length and 31 octets.
    package func write(into output: inout OutputSpan<UInt8>) {
        output.u8(length)
        output.bytes(octets)
    }
}
