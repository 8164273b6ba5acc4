import BLECore

/// The handles a request covers, both ends included (Core Specification 5.4, Vol 3, Part F, 3.4.3.1). A
/// peer may send any two numbers, so unlike a `ClosedRange` this can have its start above its end.
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

    /// Whether a server may look into it: it begins at 0x0001 or later and not after its end.
    @inlinable package var isValid: Bool { start != .none && start <= end }

    /// Returns whether `handle` is one of the range.
    @inlinable
    public func contains(_ handle: AttributeHandle) -> Bool { start <= handle && handle <= end }

    /// Whether a handle lies in both.
    @inlinable
    package func overlaps(_ other: AttributeRange) -> Bool { start <= other.end && other.start <= end }

    /// The least range that holds both.
    @inlinable
    package func union(_ other: AttributeRange) -> AttributeRange {
        AttributeRange(min(start, other.start), max(end, other.end))
    }

    /// What is left of the range after `handle`, or nil when nothing is.
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

/// An attribute's type as a request spells it: a UUID in 2 or 16 octets (3.2.1). A 16-bit UUID may come
/// in its long form, means the same then, and is kept so that the PDU encodes as it came.
package struct AttributeType: Hashable, Sendable {
    package let uuid: BluetoothUUID
    /// Whether the PDU has it in 16 octets.
    package let isLong: Bool

    /// The type `uuid` in its shortest form.
    @inlinable
    package init(_ uuid: BluetoothUUID) { self.init(uuid, isLong: false) }

    /// The type `uuid`, in 16 octets where asked or where it needs them.
    @inlinable
    package init(_ uuid: BluetoothUUID, isLong: Bool) {
        self.uuid = uuid
        self.isLong = isLong || uuid.uint16 == nil
    }

    @inlinable var width: UUIDWidth { isLong ? .sixteen : .two }
}

extension AttributeType: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// A 16-bit UUID in 2 octets.
    @inlinable
    package init(integerLiteral value: UInt16) { self.init(BluetoothUUID(value)) }

    package var description: String { uuid.description }
}

extension ByteReader {
    mutating func handle(_ field: String = "attribute handle") throws(DecodeError) -> AttributeHandle {
        AttributeHandle(try u16(field))
    }

    mutating func range() throws(DecodeError) -> AttributeRange {
        AttributeRange(try handle("starting handle"), try handle("ending handle"))
    }

    mutating func attributeType(_ field: String) throws(DecodeError) -> AttributeType {
        let isLong = remaining == 16
        return AttributeType(try attUUID(field), isLong: isLong)
    }

    /// The list of handles that a Read Multiple Request is: two or more, nothing else.
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
    mutating func handle(_ handle: AttributeHandle) { u16(handle.rawValue) }

    mutating func range(_ range: AttributeRange) {
        handle(range.start)
        handle(range.end)
    }

    mutating func handles(_ list: [AttributeHandle]) {
        for each in list { handle(each) }
    }
}
