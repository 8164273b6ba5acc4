import BLECore

/// The range of handles that a request covers, both ends included (Core Specification 5.4, Vol 3, Part F,
/// 3.4.3.1). A peer can send any two numbers, so unlike in a `ClosedRange` the start can be above the end.
public struct AttributeRange: Hashable, Sendable {
    /// The first handle of the range.
    public var start: AttributeHandle
    /// The last handle of the range, which belongs to it.
    public var end: AttributeHandle

    /// Creates the range of handles from `start` to `end`, both included.
    @inlinable
    public init(_ start: AttributeHandle, _ end: AttributeHandle) {
        self.start = start
        self.end = end
    }

    /// All handles that attributes can have, 0x0001 to 0xffff.
    public static let all = AttributeRange(.first, .last)

    /// Whether the range is valid in a request: it begins at 0x0001 or later and not after its end.
    @inlinable package var isValid: Bool { start != .none && start <= end }

    /// Returns whether the range contains `handle`.
    @inlinable
    public func contains(_ handle: AttributeHandle) -> Bool { start <= handle && handle <= end }

    /// Returns whether the two ranges have a handle in common.
    @inlinable
    package func overlaps(_ other: AttributeRange) -> Bool { start <= other.end && other.start <= end }

    /// Returns the smallest range that contains both ranges.
    @inlinable
    package func union(_ other: AttributeRange) -> AttributeRange {
        AttributeRange(min(start, other.start), max(end, other.end))
    }

    /// Returns the part of the range after `handle`, or nil if that part is empty.
    @inlinable
    package func after(_ handle: AttributeHandle) -> AttributeRange? {
        guard let next = handle.next, next <= end else { return nil }
        return AttributeRange(max(start, next), end)
    }
}

extension AttributeRange: CustomStringConvertible {
    /// The first and the last handle: `0x0001...0xffff`.
    public var description: String { "\(start)...\(end)" }
}

/// An attribute's type as a request encodes it: a UUID in 2 or 16 octets (3.2.1). A 16-bit UUID can be
/// encoded in its long form and has the same meaning then. The form is kept so that the PDU is encoded as it
/// was received.
package struct AttributeType: Hashable, Sendable {
    package let uuid: BluetoothUUID
    /// Whether the PDU encodes the UUID in 16 octets.
    package let isLong: Bool

    /// Creates the type `uuid` in its shortest form.
    @inlinable
    package init(_ uuid: BluetoothUUID) { self.init(uuid, isLong: false) }

    /// Creates the type `uuid`, in 16 octets if `isLong` is true or if the UUID requires them.
    @inlinable
    package init(_ uuid: BluetoothUUID, isLong: Bool) {
        self.uuid = uuid
        self.isLong = isLong || uuid.uint16 == nil
    }

    @inlinable var width: UUIDWidth { isLong ? .sixteen : .two }
}

extension AttributeType: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Creates the type of a 16-bit UUID in 2 octets.
    @inlinable
    package init(integerLiteral value: UInt16) { self.init(BluetoothUUID(value)) }

    package var description: String { uuid.description }
}

extension ByteReader {
    @_lifetime(self: copy self)
    mutating func handle(_ field: String = "attribute handle") throws(DecodeError) -> AttributeHandle {
        AttributeHandle(try u16(field))
    }

    @_lifetime(self: copy self)
    mutating func range() throws(DecodeError) -> AttributeRange {
        AttributeRange(try handle("starting handle"), try handle("ending handle"))
    }

    @_lifetime(self: copy self)
    mutating func attributeType(_ field: String) throws(DecodeError) -> AttributeType {
        let isLong = remaining == 16
        return AttributeType(try attUUID(field), isLong: isLong)
    }

    /// Reads the handles of a Read Multiple Request: two or more, and nothing else.
    @_lifetime(self: copy self)
    mutating func handles() throws(DecodeError) -> [AttributeHandle] {
        let octets = restInPlace()
        guard octets.count >= 4, octets.count.isMultiple(of: 2) else {
            throw failure("set of handles", .malformed("\(octets.count) octets are not two or more handles"))
        }
        return [AttributeHandle](capacity: octets.count / 2) { list in
            var at = 0
            while at < octets.count {
                list.append(AttributeHandle(UInt16(octets[at]) | UInt16(octets[at &+ 1]) << 8))
                at &+= 2
            }
        }
    }
}

extension OutputSpan where Element == UInt8 {
    @_lifetime(self: copy self)
    mutating func handle(_ handle: AttributeHandle) { u16(handle.rawValue) }

    @_lifetime(self: copy self)
    mutating func range(_ range: AttributeRange) {
        handle(range.start)
        handle(range.end)
    }

    @_lifetime(self: copy self)
    mutating func handles(_ list: [AttributeHandle]) {
        for each in list { handle(each) }
    }
}
