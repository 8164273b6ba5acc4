import BLECore

/// A field that is one little-endian integer on the wire, whose values can be unknown. A conforming type
/// supplies a raw value and gets its coding.
package protocol IntegerField: PacketDecodable, PacketEncodable, RawRepresentable
where RawValue: FixedWidthInteger & Sendable {}

extension IntegerField {
    package var encodedCount: Int { RawValue.bitWidth / 8 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.little(UInt64(truncatingIfNeeded: rawValue), encodedCount)
    }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let width = RawValue.bitWidth / 8
        let number = try reader.unsigned(octets: width, Self.packetName)
        guard let value = Self(rawValue: RawValue(truncatingIfNeeded: number)) else {
            throw reader.invalid(Self.packetName, value: number, width: width)
        }
        self = value
    }
}

/// The discoverability of a device and the transports it supports (Core Specification Supplement v11, Part A,
/// 1.3).
public struct AdvertisingFlags: OptionSet, Hashable, Sendable, IntegerField {
    package static var packetName: String { "Flags" }
    /// The octet of the AD structure.
    public let rawValue: UInt8

    /// Creates flags from that octet, including reserved bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// LE Limited Discoverable Mode (Core Specification Supplement, Part A, 1.3).
    public static let leLimitedDiscoverable = Self(rawValue: 0x01)
    /// LE General Discoverable Mode: the device is discoverable without a time limit.
    public static let leGeneralDiscoverable = Self(rawValue: 0x02)
    /// BR/EDR Not Supported: the device supports only LE.
    public static let brEDRNotSupported = Self(rawValue: 0x04)
    /// The controller supports LE and BR/EDR at the same time.
    public static let simultaneousController = Self(rawValue: 0x08)
    /// The host supports LE and BR/EDR at the same time; reserved since 5.0.
    public static let simultaneousHost = Self(rawValue: 0x10)

    /// The flags of a general discoverable LE-only device: 0x06.
    public static let discoverable: Self = [.leGeneralDiscoverable, .brEDRNotSupported]
}

/// The roles of a device (Core Specification Supplement v11, Part A, 1.17).
public struct LERole: Hashable, Sendable, IntegerField {
    package static var packetName: String { "LE Role" }
    /// The octet of the AD structure.
    public let rawValue: UInt8

    /// Creates a role from its number, which can be unknown.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device is a peripheral only.
    public static let peripheral = Self(rawValue: 0)
    /// The device is a central only.
    public static let central = Self(rawValue: 1)
    /// The device can be both, and prefers to be the peripheral.
    public static let peripheralPreferred = Self(rawValue: 2)
    /// The device can be both, and prefers to be the central.
    public static let centralPreferred = Self(rawValue: 3)
}

/// The available out-of-band data of LE pairing (Core Specification Supplement v11, Part A, 1.7).
package struct SecurityManagerFlags: OptionSet, Hashable, Sendable, IntegerField {
    package static var packetName: String { "Security Manager Out of Band Flags" }
    package let rawValue: UInt8

    /// Creates flags from that octet, including reserved bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Out-of-band data is present.
    package static let dataPresent = Self(rawValue: 0x01)
    /// The host supports LE.
    package static let leSupported = Self(rawValue: 0x02)
    /// The host supports LE and BR/EDR at the same time; reserved since 5.0.
    package static let simultaneousHost = Self(rawValue: 0x04)
    /// The address is random; otherwise it is public.
    package static let randomAddress = Self(rawValue: 0x08)
}

/// The appearance of a device: a category, and a subcategory within it (Assigned Numbers, 2.6; Core
/// Specification Supplement v11, Part A, 1.12).
public struct Appearance: Hashable, Sendable, IntegerField {
    package static var packetName: String { "Appearance" }
    /// The number: the category in the upper ten bits, the subcategory in the lower six.
    public let rawValue: UInt16

    /// Creates an appearance from its number: the category in the upper 10 bits, the subcategory in the lower
    /// 6.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The category, 0 to 1023: 3 is a watch.
    public var category: UInt16 { rawValue >> 6 }

    /// The subcategory within the category, 0 to 63; 0 is a generic device of the category.
    public var subcategory: UInt16 { rawValue & 0x3f }

    /// Unknown (0x0000): the device has no category.
    public static let unknown: Self = 0
}

extension Appearance: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Creates an appearance from its number: the category in the upper 10 bits, the subcategory in the lower
    /// 6.
    public init(integerLiteral value: UInt16) { self.init(rawValue: value) }

    /// The number in hexadecimal, for example `0x00c1`.
    public var description: String { "0x" + rawValue.hex }
}

/// The class of a BR/EDR device: 24 bits (Assigned Numbers, 2.8).
package struct ClassOfDevice: Hashable, Sendable {
    /// The class of device, in the low 24 bits.
    package let rawValue: UInt32

    /// Creates a class from the low 24 bits.
    package init(_ rawValue: UInt32) { self.rawValue = rawValue & 0xff_ffff }

    /// The service classes, bits 13 to 23.
    package var services: UInt32 { rawValue >> 13 }
    /// The major class, bits 8 to 12: 1 is a computer, 2 a phone.
    package var majorClass: UInt32 { rawValue >> 8 & 0x1f }
    /// The minor class, bits 2 to 7, whose meaning depends on the major class.
    package var minorClass: UInt32 { rawValue >> 2 & 0x3f }
}

extension ClassOfDevice: PacketDecodable, PacketEncodable {
    package static var packetName: String { "Class of Device" }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        self.init(try reader.u24("class of device"))
    }

    package var encodedCount: Int { 3 }

    package func encode(into output: inout OutputSpan<UInt8>) { output.u24(rawValue) }
}

/// The Link Layer features of a device, in as many octets of the mask as it sends (Core Specification
/// Supplement v11, Part A, 1.19; the bits are in Vol 6, Part B, 4.6).
package struct LESupportedFeatures: Hashable, Sendable {
    /// The mask, bits 0 to 7 first.
    package var octets: [UInt8]

    package init(octets: [UInt8]) { self.octets = octets }

    /// Returns whether the feature with that bit number is supported. Bits that were not sent are not
    /// supported.
    package func contains(bit: Int) -> Bool {
        bit >= 0 && bit / 8 < octets.count && octets[bit / 8] >> (bit % 8) & 1 == 1
    }
}

extension LESupportedFeatures: PacketDecodable, PacketEncodable {
    package static var packetName: String { "LE Supported Features" }

    /// Reads all remaining octets; never throws.
    package init(decoding reader: inout ByteReader) throws(DecodeError) { octets = reader.rest() }

    package var encodedCount: Int { octets.count }

    package func encode(into output: inout OutputSpan<UInt8>) { output.bytes(octets) }
}
