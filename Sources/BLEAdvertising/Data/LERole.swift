import BLECore

/// The roles of a device (Core Specification Supplement v11, Part A, 1.17).
public struct LERole: Hashable, Sendable, IntegerField {
    package static var packetName: String { "LE Role" }
    /// The octet of the AD structure.
    public let rawValue: UInt8

    /// Creates a role from its number; an unknown one is kept.
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
