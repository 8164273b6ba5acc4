import BLECore

/// What there is in out-of-band data of LE pairing (Core Specification Supplement v11, Part A, 1.7).
package struct SecurityManagerFlags: OptionSet, Hashable, Sendable, IntegerField {
    package static var packetName: String { "Security Manager Out of Band Flags" }
    package let rawValue: UInt8

    /// The flags of that octet, reserved bits included.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Out-of-band data is present.
    package static let dataPresent = Self(rawValue: 0x01)
    /// The host supports LE.
    package static let leSupported = Self(rawValue: 0x02)
    /// The host supports LE and BR/EDR at the same time; reserved since 5.0.
    package static let simultaneousHost = Self(rawValue: 0x04)
    /// The address is random, else public.
    package static let randomAddress = Self(rawValue: 0x08)
}
