import BLECore

/// What a device looks like: a category, and a kind within it (Assigned Numbers, 2.6; Core Specification
/// Supplement v11, Part A, 1.12).
public struct Appearance: Hashable, Sendable, IntegerField {
    package static var packetName: String { "Appearance" }
    /// The number: the category in the upper ten bits, the kind in the lower six.
    public let rawValue: UInt16

    /// Creates an appearance from its number; category in the upper 10 bits, subcategory in the lower 6.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The category, 0 to 1023: 3 is a watch.
    public var category: UInt16 { rawValue >> 6 }

    /// The kind within the category, 0 to 63; 0 says nothing more than the category.
    public var subcategory: UInt16 { rawValue & 0x3f }

    /// Unknown: the device has no category (0x0000).
    public static let unknown: Self = 0
}

extension Appearance: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Creates an appearance from its number; category in the upper 10 bits, subcategory in the lower 6.
    public init(integerLiteral value: UInt16) { self.init(rawValue: value) }

    /// The number in hexadecimal, for example `0x00c1`.
    public var description: String { "0x" + rawValue.hex }
}
