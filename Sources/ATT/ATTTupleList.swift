import BLECore

/// An element of a list in which each value is preceded by its length.
@usableFromInline package protocol ATTTuple: Hashable, Sendable {
    /// The number of octets before the length: 2 if a handle comes first, otherwise 0.
    static var handleLength: Int { get }
    /// Creates a tuple that states `length` and of whose value the PDU contains `value`. `handle` is ignored
    /// by tuples without a handle.
    init(handle: AttributeHandle, length: Int, value: ArraySlice<UInt8>)
    /// The attribute's handle, or `.none` if the tuple has no handle.
    var handle: AttributeHandle { get }
    /// The length of the whole value in octets, 0 to 65,535.
    var length: Int { get }
    /// The octets of the value that the PDU contains.
    var value: ArraySlice<UInt8> { get }
}

extension ATTTuple {
    /// The number of octets before the value.
    @inlinable static var headerLength: Int { handleLength &+ 2 }

    /// Whether the PDU was full before the value ended.
    @inlinable package var isTruncated: Bool { value.count < length }
}

/// Values with their lengths, kept as received and read in place. The PDU can be full in the middle of the
/// last value, which is then truncated. A header is never truncated (Core Specification 5.4, Vol 3, Part F,
/// 3.4.4.12); one that a peer has truncated nevertheless is omitted.
@usableFromInline package struct ATTTupleList<Tuple: ATTTuple>: Hashable, Sendable {
    /// The octets of all tuples, one after the other.
    package private(set) var bytes: [UInt8]

    /// Creates an empty list; `capacity` is the number of octets that the list can grow to.
    package init(capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Appends a tuple, and truncates its value where the list would exceed `limit` octets. A tuple whose
    /// header does not fit is omitted. Returns whether nothing was truncated or omitted.
    @discardableResult
    package mutating func append(_ tuple: Tuple, limit: Int = .max) -> Bool {
        guard bytes.count + Tuple.headerLength <= limit else { return false }
        if Tuple.handleLength > 0 { bytes.append(littleEndian: tuple.handle.rawValue) }
        bytes.append(littleEndian: UInt16(clamping: tuple.length))
        bytes.append(contentsOf: tuple.value)
        guard bytes.count > limit else { return true }
        bytes.removeLast(bytes.count - limit)
        return false
    }

    /// Reads a list, which takes all remaining octets. The specification requires at least two tuples; a
    /// single one is accepted as well, because BlueZ sends it.
    init(decoding reader: inout ByteReader) throws(DecodeError) {
        guard reader.remaining >= Tuple.headerLength else {
            throw reader.failure(
                "tuple list", .truncated(needed: Tuple.headerLength, available: reader.remaining))
        }
        bytes = reader.rest()
    }
}

extension ATTTupleList: Collection {
    /// The position of a tuple: the offset of its first octet.
    @usableFromInline package struct Index: Comparable, Hashable, Sendable {
        let offset: Int

        @usableFromInline package static func < (left: Index, right: Index) -> Bool {
            left.offset < right.offset
        }
    }

    /// The position of the first tuple, or `endIndex` if there is no complete header.
    @usableFromInline package var startIndex: Index { position(0) }

    /// The position after the last tuple that has a complete header.
    @usableFromInline package var endIndex: Index { Index(offset: bytes.count) }

    /// Returns the position of the tuple after the one at `index`.
    @usableFromInline package func index(after index: Index) -> Index {
        position(index.offset + Tuple.headerLength + self[index].value.count)
    }

    /// The tuple at `index`, without a copy of its value.
    @usableFromInline package subscript(index: Index) -> Tuple {
        let start = index.offset + Tuple.headerLength
        let length = Int(word(at: start - 2))
        return Tuple(
            handle: Tuple.handleLength == 0 ? .none : AttributeHandle(word(at: index.offset)),
            length: length,
            value: bytes[start..<Swift.min(start + length, bytes.count)])
    }

    /// Returns `offset` if a complete header begins there, otherwise the end.
    private func position(_ offset: Int) -> Index {
        Index(offset: offset + Tuple.headerLength <= bytes.count ? offset : bytes.count)
    }

    private func word(at offset: Int) -> UInt16 { UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8 }
}

/// A value of a Read Multiple Variable Response (Core Specification 5.4, Vol 3, Part F, 3.4.4.12). The
/// request determines which attribute it belongs to.
@usableFromInline package struct ATTLengthValue: ATTTuple {
    @usableFromInline package static var handleLength: Int { 0 }
    /// The length of the whole value in octets, even if it is truncated.
    @usableFromInline package let length: Int
    /// The octets that the PDU contains.
    @usableFromInline package let value: ArraySlice<UInt8>

    /// Always `.none`: the handles are in the request.
    @usableFromInline package var handle: AttributeHandle { .none }

    /// Creates a value that the PDU contains completely.
    package init(_ value: [UInt8]) { self.init(handle: .none, length: value.count, value: value[...]) }

    /// Creates a value of `length` octets, of which the PDU contains `value`.
    @usableFromInline package init(handle: AttributeHandle, length: Int, value: ArraySlice<UInt8>) {
        self.length = length
        self.value = value
    }
}

/// A value of a Multiple Handle Value Notification (3.4.7.4).
@usableFromInline package struct ATTHandleLengthValue: ATTTuple {
    @usableFromInline package static var handleLength: Int { 2 }
    @usableFromInline package let handle: AttributeHandle
    /// The length of the whole value in octets, even if it is truncated.
    @usableFromInline package let length: Int
    /// The octets that the PDU contains.
    @usableFromInline package let value: ArraySlice<UInt8>

    /// Creates a value that the PDU contains completely.
    package init(_ handle: AttributeHandle, _ value: [UInt8]) {
        self.init(handle: handle, length: value.count, value: value[...])
    }

    /// Creates a value of `length` octets, of which the PDU contains `value`.
    @usableFromInline package init(handle: AttributeHandle, length: Int, value: ArraySlice<UInt8>) {
        self.handle = handle
        self.length = length
        self.value = value
    }
}
