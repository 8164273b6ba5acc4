import BLECore

/// One value of a list in which each value says its own length.
@usableFromInline package protocol ATTTuple: Hashable, Sendable {
    /// Octets before the length: 2 where a handle comes first, else none.
    static var handleLength: Int { get }
    /// A tuple that says `length` and of whose value the PDU has `value`, after `handle` if it says one.
    init(handle: AttributeHandle, length: Int, value: ArraySlice<UInt8>)
    /// The attribute, or `.none` where the tuple does not say.
    var handle: AttributeHandle { get }
    /// Octets of the whole value, 0 to 65,535.
    var length: Int { get }
    /// The octets of it that the PDU has.
    var value: ArraySlice<UInt8> { get }
}

extension ATTTuple {
    /// The octets before the value.
    @inlinable static var headerLength: Int { handleLength &+ 2 }

    /// Whether the PDU was full before the value ended.
    @inlinable package var isTruncated: Bool { value.count < length }
}

/// Values with their lengths, as they came and read where they lie. The PDU may be full in the middle of
/// the last value, which then comes with what there is of it; a header is never cut (Core Specification
/// 5.4, Vol 3, Part F, 3.4.4.12), and what a peer cut nevertheless is left out.
@usableFromInline package struct ATTTupleList<Tuple: ATTTuple>: Hashable, Sendable {
    /// All tuples, one after the other.
    package private(set) var bytes: [UInt8]

    /// No tuples; `capacity` is how many octets the list may grow to.
    package init(capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Adds a tuple and cuts its value where the list would pass `limit` octets; a tuple whose header does
    /// not fit is left out. Says whether nothing was cut.
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

    /// Reads a list, which takes all that is left. The specification requires two tuples or more; one is accepted
    /// as well, because BlueZ sends it.
    init(decoding reader: inout ByteReader) throws(DecodeError) {
        guard reader.remaining >= Tuple.headerLength else {
            throw reader.failure(
                "tuple list", .truncated(needed: Tuple.headerLength, available: reader.remaining))
        }
        bytes = reader.rest()
    }
}

extension ATTTupleList: Collection {
    /// Where a tuple begins, in octets.
    @usableFromInline package struct Index: Comparable, Hashable, Sendable {
        let offset: Int

        @usableFromInline package static func < (left: Index, right: Index) -> Bool {
            left.offset < right.offset
        }
    }

    /// The first tuple, or `endIndex` when no header is whole.
    @usableFromInline package var startIndex: Index { position(0) }

    /// After the last tuple whose header is whole.
    @usableFromInline package var endIndex: Index { Index(offset: bytes.count) }

    /// The tuple after the one at `index`.
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

    /// `offset` if a whole header is there, else the end.
    private func position(_ offset: Int) -> Index {
        Index(offset: offset + Tuple.headerLength <= bytes.count ? offset : bytes.count)
    }

    private func word(at offset: Int) -> UInt16 { UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8 }
}

/// A value of a Read Multiple Variable Response (Core Specification 5.4, Vol 3, Part F, 3.4.4.12); the
/// request said which attribute it is of.
@usableFromInline package struct ATTLengthValue: ATTTuple {
    @usableFromInline package static var handleLength: Int { 0 }
    /// The length of the whole value, in octets, also where it is truncated.
    @usableFromInline package let length: Int
    /// The octets that the PDU has.
    @usableFromInline package let value: ArraySlice<UInt8>

    /// None: the request has the handles.
    @usableFromInline package var handle: AttributeHandle { .none }

    /// A value of which the PDU has all octets.
    package init(_ value: [UInt8]) { self.init(handle: .none, length: value.count, value: value[...]) }

    /// A value of `length` octets, of which the PDU has `value`.
    @usableFromInline package init(handle: AttributeHandle, length: Int, value: ArraySlice<UInt8>) {
        self.length = length
        self.value = value
    }
}

/// A value of a Multiple Handle Value Notification (3.4.7.4).
@usableFromInline package struct ATTHandleLengthValue: ATTTuple {
    @usableFromInline package static var handleLength: Int { 2 }
    @usableFromInline package let handle: AttributeHandle
    /// The length of the whole value, in octets, also where it is truncated.
    @usableFromInline package let length: Int
    /// The octets that the PDU has.
    @usableFromInline package let value: ArraySlice<UInt8>

    /// A value of which the PDU has all octets.
    package init(_ handle: AttributeHandle, _ value: [UInt8]) {
        self.init(handle: handle, length: value.count, value: value[...])
    }

    /// A value of `length` octets, of which the PDU has `value`.
    @usableFromInline package init(handle: AttributeHandle, length: Int, value: ArraySlice<UInt8>) {
        self.handle = handle
        self.length = length
        self.value = value
    }
}
