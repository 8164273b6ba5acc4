/// The roles of a device (Core Specification Supplement v11, Part A, 1.17).
public struct LERole: Hashable, Sendable, IntegerField {
    /// For errors.
    package static var packetName: String { "LE Role" }
    /// The number.
    public let rawValue: UInt8

    /// The role with that number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Peripheral only.
    public static let peripheral = Self(rawValue: 0)
    /// Central only.
    public static let central = Self(rawValue: 1)
    /// Both, rather peripheral.
    public static let peripheralPreferred = Self(rawValue: 2)
    /// Both, rather central.
    public static let centralPreferred = Self(rawValue: 3)
}
