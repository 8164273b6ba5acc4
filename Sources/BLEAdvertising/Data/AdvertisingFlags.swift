import BLECore

/// How a device can be discovered and what it supports (Core Specification Supplement v11, Part A, 1.3).
public struct AdvertisingFlags: OptionSet, Hashable, Sendable, IntegerField {
    package static var packetName: String { "Flags" }
    /// The octet of the AD structure.
    public let rawValue: UInt8

    /// The flags of that octet, reserved bits included.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// LE Limited Discoverable Mode (Core Specification Supplement, Part A, 1.3).
    public static let leLimitedDiscoverable = Self(rawValue: 0x01)
    /// LE General Discoverable Mode: the device can be found at any time.
    public static let leGeneralDiscoverable = Self(rawValue: 0x02)
    /// BR/EDR Not Supported: the device has LE only.
    public static let brEDRNotSupported = Self(rawValue: 0x04)
    /// LE and BR/EDR at the same time: the controller.
    public static let simultaneousController = Self(rawValue: 0x08)
    /// LE and BR/EDR at the same time: the host; reserved since 5.0.
    public static let simultaneousHost = Self(rawValue: 0x10)

    /// What a discoverable LE-only device says: 0x06.
    public static let discoverable: Self = [.leGeneralDiscoverable, .brEDRNotSupported]
}
