import BLECore

/// The connection intervals that a peripheral prefers, in units of 1.25 ms (Core Specification Supplement
/// v11, Part A, 1.9).
package struct ConnectionIntervalRange: Hashable, Sendable {
    /// The minimum interval, 6 to 3200, or `unspecified`.
    package var minimum: UInt16
    /// The maximum interval, 6 to 3200 and not less than `minimum`, or `unspecified`.
    package var maximum: UInt16

    /// The value of a limit that the peripheral does not specify.
    package static let unspecified: UInt16 = 0xffff

    /// Creates a range in units of 1.25 ms.
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

/// The address of the sender in out-of-band data (Core Specification Supplement v11, Part A, 1.16): six
/// octets of address, then an octet whose lowest bit is the type.
package struct LEDeviceAddress: Hashable, Sendable {
    package var address: DeviceAddress

    package init(_ address: DeviceAddress) { self.address = address }
}

extension LEDeviceAddress: PacketDecodable, PacketEncodable {
    package static var packetName: String { "LE Bluetooth Device Address" }

    /// Reads seven octets; throws if reserved bits are set.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        let value = try reader.u48("device address")
        let number = try reader.u8("address type")
        guard let type = DeviceAddress.AddressType(rawValue: number) else {
            throw reader.invalid("address type", value: number, width: 1)
        }
        address = DeviceAddress(value, type: type)
    }

    package var encodedCount: Int { 7 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u48(address.value)
        output.u8(address.type.rawValue)
    }
}

/// A value of 16 octets that two devices exchange out of band before they pair (Core Specification Supplement
/// v11, Part A, 1.6 to 1.8).
package struct OutOfBandValue: Hashable, Sendable {
    /// The kind of the value; the raw value is its AD type.
    package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// BR/EDR: hash C of P-192.
        case hashC192 = 0x0e
        /// BR/EDR: randomizer R of P-192.
        case randomizerR192 = 0x0f
        /// LE legacy pairing: TK.
        case temporaryKey = 0x10
        /// BR/EDR: hash C of P-256.
        case hashC256 = 0x1d
        /// BR/EDR: randomizer R of P-256.
        case randomizerR256 = 0x1e
        /// LE Secure Connections: confirmation value.
        case confirmation = 0x22
        /// LE Secure Connections: random value.
        case random = 0x23
    }

    package var kind: Kind
    package var value: UInt128

    package init(_ kind: Kind, _ value: UInt128) {
        self.kind = kind
        self.value = value
    }
}

extension OutOfBandValue: PacketEncodable {
    package var encodedCount: Int { 16 }

    package func encode(into output: inout OutputSpan<UInt8>) { output.u128(value) }

    init(decoding reader: inout ByteReader, kind: Kind) throws(DecodeError) {
        self.init(kind, try reader.u128("value"))
    }
}

/// An identifier that shows devices with the set's key which coordinated set a device belongs to (Coordinated
/// Set Identification Service 1.0.1, 3.1): a random part, and its hash under the key.
package struct ResolvableSetIdentifier: Hashable, Sendable {
    /// The 48 bits of both parts.
    package let value: UInt64

    /// Creates an identifier from the low 48 bits.
    package init(_ value: UInt64) { self.value = value & 0xffff_ffff_ffff }

    /// The hash in the lower 24 bits.
    package var hash: UInt32 { UInt32(truncatingIfNeeded: value & 0xff_ffff) }
    /// The random part in the upper 24 bits.
    package var random: UInt32 { UInt32(truncatingIfNeeded: value >> 24) }
}

extension ResolvableSetIdentifier: PacketDecodable, PacketEncodable {
    package static var packetName: String { "Resolvable Set Identifier" }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        self.init(try reader.u48("resolvable set identifier"))
    }

    package var encodedCount: Int { 6 }

    package func encode(into output: inout OutputSpan<UInt8>) { output.u48(value) }
}

/// The channel map that a periodic advertising train will use, and the event from which it is valid (Core
/// Specification Supplement v11, Part A, 1.20).
package struct ChannelMapUpdate: Hashable, Sendable {
    /// The channel map: one bit for each data channel, 0 to 36. The bits above are reserved; only 40 are
    /// encoded.
    package var channels: UInt64
    /// The event counter of the train at which the new map becomes valid.
    package var instant: UInt16

    /// Creates an update to `channels` at the event `instant`.
    package init(channels: UInt64, instant: UInt16) {
        self.channels = channels
        self.instant = instant
    }
}

extension ChannelMapUpdate: PacketDecodable, PacketEncodable {
    package static var packetName: String { "Channel Map Update Indication" }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        channels = try reader.unsigned(octets: 5, "channel map")
        instant = try reader.u16("instant")
    }

    package var encodedCount: Int { 7 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.little(channels, 5)
        output.u16(instant)
    }
}

/// The timing and the access address of responses to a periodic advertising train (Core Specification
/// Supplement v11, Part A, 1.24).
package struct PeriodicAdvertisingResponseTiming: Hashable, Sendable {
    /// The access address of the responses.
    package var accessAddress: UInt32
    /// The number of subevents in a periodic advertising event, 1 to 128.
    package var subeventCount: UInt8
    /// The time from one subevent to the next, in units of 1.25 ms; 0 if there is only one.
    package var subeventInterval: UInt8
    /// The time from the start of a subevent to its first response slot, in units of 1.25 ms.
    package var responseSlotDelay: UInt8
    /// The time from one response slot to the next, in units of 0.125 ms.
    package var responseSlotSpacing: UInt8

    package init(
        accessAddress: UInt32, subeventCount: UInt8, subeventInterval: UInt8, responseSlotDelay: UInt8,
        responseSlotSpacing: UInt8
    ) {
        self.accessAddress = accessAddress
        self.subeventCount = subeventCount
        self.subeventInterval = subeventInterval
        self.responseSlotDelay = responseSlotDelay
        self.responseSlotSpacing = responseSlotSpacing
    }
}

extension PeriodicAdvertisingResponseTiming: PacketDecodable, PacketEncodable {
    package static var packetName: String { "Periodic Advertising Response Timing Information" }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        accessAddress = try reader.u32("RspAA")
        subeventCount = try reader.u8("numSubevents")
        subeventInterval = try reader.u8("subeventInterval")
        responseSlotDelay = try reader.u8("responseSlotDelay")
        responseSlotSpacing = try reader.u8("responseSlotSpacing")
    }

    package var encodedCount: Int { 8 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.u32(accessAddress)
        output.u8(subeventCount)
        output.u8(subeventInterval)
        output.u8(responseSlotDelay)
        output.u8(responseSlotSpacing)
    }
}

/// The vendor and product of a BR/EDR device, in extended inquiry responses (Device Identification Profile
/// 1.3, 5).
package struct DeviceID: Hashable, Sendable {
    /// The organization that assigned the vendor's number: 1 the Bluetooth SIG, 2 the USB Implementer's Forum.
    package var vendorSource: UInt16
    /// The number that `vendorSource` assigned to the vendor.
    package var vendor: UInt16
    /// The number that the vendor assigned to the product.
    package var product: UInt16
    /// The version in BCD: 0x0123 is 1.2.3.
    package var version: UInt16

    package init(vendorSource: UInt16, vendor: UInt16, product: UInt16, version: UInt16) {
        self.vendorSource = vendorSource
        self.vendor = vendor
        self.product = product
        self.version = version
    }
}

extension DeviceID: PacketDecodable, PacketEncodable {
    package static var packetName: String { "Device ID" }

    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        vendorSource = try reader.u16("vendor ID source")
        vendor = try reader.u16("vendor ID")
        product = try reader.u16("product ID")
        version = try reader.u16("version")
    }

    package var encodedCount: Int { 8 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        for value in [vendorSource, vendor, product, version] { output.u16(value) }
    }
}
