/// The number of an attribute in a server's database, 0x0001 to 0xffff (Core Specification 5.4, Vol 3, Part
/// F, 3.2.2). 0x0000 is reserved; a server rejects requests for it with Invalid Handle.
public struct AttributeHandle: RawRepresentable, Hashable, Comparable, Sendable {
    /// The 16 bits of the handle.
    public let rawValue: UInt16

    /// Creates a handle from its number; 0x0000 is not a valid attribute handle.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Creates a handle from its number; 0x0000 is not a valid attribute handle.
    @inlinable
    public init(_ rawValue: UInt16) { self.rawValue = rawValue }

    /// The reserved handle, which identifies no attribute.
    @usableFromInline package static let none = AttributeHandle(0x0000)
    /// The lowest handle of an attribute.
    public static let first = AttributeHandle(0x0001)
    /// The highest handle of an attribute.
    public static let last = AttributeHandle(0xffff)

    /// The next handle, or nil if this is the last.
    @inlinable
    package var next: AttributeHandle? { rawValue == .max ? nil : AttributeHandle(rawValue &+ 1) }

    /// Orders handles by their number.
    @inlinable
    public static func < (left: AttributeHandle, right: AttributeHandle) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension AttributeHandle: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Creates a handle from its number; 0x0000 is not a valid attribute handle.
    @inlinable
    public init(integerLiteral value: UInt16) { self.init(value) }

    /// The number in hexadecimal, for example `0x0012`.
    public var description: String { "0x" + rawValue.hex }
}
