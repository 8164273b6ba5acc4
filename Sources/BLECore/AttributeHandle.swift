/// The number of an attribute in a server's database, 0x0001 to 0xffff (Core Specification 5.4, Vol 3,
/// Part F, 3.2.2). 0x0000 names none; requests that carry it get Invalid Handle.
public struct AttributeHandle: RawRepresentable, Hashable, Comparable, Sendable {
    /// The 16 bits of the handle.
    public let rawValue: UInt16

    /// Creates a handle from its number; 0x0000 is no attribute's.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Creates a handle from its number; 0x0000 is no attribute's.
    @inlinable
    public init(_ rawValue: UInt16) { self.rawValue = rawValue }

    /// The reserved handle that names no attribute.
    @usableFromInline package static let none = AttributeHandle(0x0000)
    /// The least handle of an attribute.
    public static let first = AttributeHandle(0x0001)
    /// The greatest handle of an attribute.
    public static let last = AttributeHandle(0xffff)

    /// The handle after this one, or nil after the last.
    @inlinable
    package var next: AttributeHandle? { rawValue == .max ? nil : AttributeHandle(rawValue &+ 1) }

    /// Orders handles by their number.
    @inlinable
    public static func < (left: AttributeHandle, right: AttributeHandle) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension AttributeHandle: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Creates a handle from its number; 0x0000 is no attribute's.
    @inlinable
    public init(integerLiteral value: UInt16) { self.init(value) }

    /// The number in hexadecimal, for example `0x0012`.
    public var description: String { "0x" + rawValue.hex }
}
