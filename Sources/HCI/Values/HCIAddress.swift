import BLECore

/// The type of an address in HCI (Core Specification 5.4, Vol 4, Part E, 7.7.65.13).
package struct HCIAddressType: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let `public` = HCIAddressType(rawValue: 0x00)
    package static let random = HCIAddressType(rawValue: 0x01)
    /// A public identity address: the controller resolved a private address to it.
    package static let publicIdentity = HCIAddressType(rawValue: 0x02)
    /// A random static identity address: the controller resolved a private address to it.
    package static let randomIdentity = HCIAddressType(rawValue: 0x03)
    /// A private address that the controller could not resolve.
    package static let unresolved = HCIAddressType(rawValue: 0xfe)
    /// No address: the advertiser is anonymous.
    package static let anonymous = HCIAddressType(rawValue: 0xff)
}

/// The type of the address that a controller uses in its own packets (Core Specification 5.4, Vol 4, Part E,
/// 7.8.5).
package struct OwnAddressType: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The public device address of the controller.
    package static let `public` = OwnAddressType(rawValue: 0x00)
    /// The random address that the host has set.
    package static let random = OwnAddressType(rawValue: 0x01)
    /// A resolvable private address that the controller generates, or else the public address.
    package static let resolvableOrPublic = OwnAddressType(rawValue: 0x02)
    /// A resolvable private address that the controller generates, or else the random address.
    package static let resolvableOrRandom = OwnAddressType(rawValue: 0x03)
}

/// An address as encoded in HCI: a type octet, then 48 bits.
package struct HCIAddress: HCIField {
    /// The type of the address.
    package let type: HCIAddressType
    package let value: UInt64

    /// Creates an address from the low 48 bits of `value`.
    package init(_ value: UInt64, type: HCIAddressType) {
        self.value = value & 0xffff_ffff_ffff
        self.type = type
    }

    /// Creates the HCI address with the type and value of `address`.
    package init(_ address: DeviceAddress) {
        self.init(address.value, type: address.type == .public ? .public : .random)
    }

    /// The device address, or nil if the type is not that of a device address.
    package var deviceAddress: DeviceAddress? {
        switch type {
        case .public, .publicIdentity: DeviceAddress(value, type: .public)
        case .random, .randomIdentity, .unresolved: DeviceAddress(value, type: .random)
        default: nil
        }
    }

    /// Whether the controller resolved a private address, so that this is not the address on air.
    package var isResolved: Bool { type == .publicIdentity || type == .randomIdentity }

    /// Reads the type, then the address.
    package init(reading reader: inout ByteReader) throws(DecodeError) {
        type = try HCIAddressType(reading: &reader)
        value = try reader.u48("")
    }

    package var fieldWidth: Int { 7 }

    /// Writes the type, then the address.
    package func write(into output: inout OutputSpan<UInt8>) {
        type.write(into: &output)
        output.u48(value)
    }
}
