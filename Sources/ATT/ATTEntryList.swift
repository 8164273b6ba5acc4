import BLECore

// The declarations here and in the tuple list are usable from inline for the sake of other targets, where the
// compiler generates specialized code for each kind of entry only then. Without specialization, reading a
// list takes one allocation per entry.

/// One entry of a list in a response whose entries all have the same length.
@usableFromInline package protocol ATTEntry: Hashable, Sendable {
    /// Returns whether an entry can have `length` octets.
    static func allows(length: Int) -> Bool
    /// The length of the entry, in octets.
    var length: Int { get }
    /// Creates the entry from `octets`, whose number must be one that `allows(length:)` allows.
    init(octets: ArraySlice<UInt8>)
    /// Appends the entry's octets to `bytes`.
    func append(to bytes: inout [UInt8])
}

/// The list in a response: one or more entries of the same length, kept as received and read in place.
/// Entries of different lengths cannot share a list, so a server that uses it cannot mix them.
@usableFromInline package struct ATTEntryList<Entry: ATTEntry>: Hashable, Sendable {
    /// The length of each entry, in octets.
    @usableFromInline package let entryLength: Int
    /// The octets of all entries, one after the other.
    @usableFromInline package private(set) var bytes: [UInt8]

    /// Creates a list of `first` alone; nil when the response does not allow its length. `capacity` is the
    /// number of octets that the list can grow to, if it is known.
    package init?(_ first: Entry, capacity: Int = 0) {
        guard Entry.allows(length: first.length) else { return nil }
        entryLength = first.length
        bytes = []
        bytes.reserveCapacity(Swift.max(capacity, first.length))
        first.append(to: &bytes)
    }

    /// Appends `entry`. Returns false, and appends nothing, when its length is not that of the list.
    package mutating func append(_ entry: Entry) -> Bool {
        guard entry.length == entryLength else { return false }
        entry.append(to: &bytes)
        return true
    }

    init(entryLength: Int, decoding reader: inout ByteReader) throws(DecodeError) {
        guard Entry.allows(length: entryLength) else {
            throw reader.invalid("length", value: entryLength, width: 1)
        }
        guard reader.remaining > 0, reader.remaining.isMultiple(of: entryLength) else {
            throw reader.failure(
                "data list", .malformed("\(reader.remaining) octets are not entries of \(entryLength)"))
        }
        self.entryLength = entryLength
        bytes = reader.rest()
    }
}

extension ATTEntryList: RandomAccessCollection {
    @inlinable package var startIndex: Int { 0 }

    @inlinable package var endIndex: Int { bytes.count / entryLength }

    /// The entry at `position`, without a copy of its value.
    @inlinable
    package subscript(position: Int) -> Entry {
        Entry(octets: bytes[(position * entryLength)..<((position + 1) * entryLength)])
    }
}

// MARK: - Entries

/// An attribute's handle and type, in a Find Information Response (Core Specification 5.4, Vol 3, Part F,
/// 3.4.3.2).
@usableFromInline package struct ATTInformation: ATTEntry {
    package let handle: AttributeHandle
    /// The attribute's type, in the UUID width of the list.
    package let type: AttributeType

    package init(handle: AttributeHandle, type: AttributeType) {
        self.handle = handle
        self.type = type
    }

    /// Returns whether `length` is 4 octets, with a 16-bit UUID, or 18, with a 128-bit UUID.
    @usableFromInline package static func allows(length: Int) -> Bool { length == 4 || length == 18 }

    @usableFromInline package var length: Int { 2 + type.width.rawValue }

    /// Reads the handle, then a UUID of 2 or 16 octets.
    @usableFromInline package init(octets: ArraySlice<UInt8>) {
        let isLong = octets.count == 18
        let uuid = octets.dropFirst(2)
        self.init(
            handle: octets.handle(at: 0),
            type: AttributeType(
                isLong
                    ? BluetoothUUID(UInt128(littleEndian: uuid)) : BluetoothUUID(UInt16(littleEndian: uuid)),
                isLong: isLong))
    }

    /// Appends the handle, then the UUID.
    @usableFromInline package func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: handle.rawValue)
        if type.isLong {
            bytes.append(littleEndian: type.uuid.value)
        } else {
            bytes.append(littleEndian: type.uuid.uint16 ?? 0)
        }
    }
}

/// A matching attribute and the last handle of its group, in a Find By Type Value Response (3.4.3.4).
@usableFromInline package struct ATTHandlesInformation: ATTEntry {
    package let handle: AttributeHandle
    /// The last handle of the attribute's group; the attribute's own handle if it groups nothing.
    package let groupEnd: AttributeHandle

    /// Creates an entry from an attribute and the end of its group.
    package init(handle: AttributeHandle, groupEnd: AttributeHandle) {
        self.handle = handle
        self.groupEnd = groupEnd
    }

    @usableFromInline package static func allows(length: Int) -> Bool { length == 4 }

    @usableFromInline package var length: Int { 4 }

    /// Reads the handle, then the last handle of the group.
    @usableFromInline package init(octets: ArraySlice<UInt8>) {
        self.init(handle: octets.handle(at: 0), groupEnd: octets.handle(at: 2))
    }

    /// Appends the handle, then the last handle of the group.
    @usableFromInline package func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: handle.rawValue)
        bytes.append(littleEndian: groupEnd.rawValue)
    }
}

/// An attribute and its value, in a Read By Type Response (3.4.4.2).
@usableFromInline package struct ATTAttributeData: ATTEntry {
    package let handle: AttributeHandle
    /// The attribute's value, or the beginning of a longer value.
    package let value: ArraySlice<UInt8>

    package init(handle: AttributeHandle, value: ArraySlice<UInt8>) {
        self.handle = handle
        self.value = value
    }

    /// Returns whether `length` is 2 to 255 octets: a handle and an optional value.
    @usableFromInline package static func allows(length: Int) -> Bool { (2...255).contains(length) }

    /// The number of octets of the handle and the value.
    @usableFromInline package var length: Int { 2 + value.count }

    /// Reads the handle, then the value.
    @usableFromInline package init(octets: ArraySlice<UInt8>) {
        self.init(handle: octets.handle(at: 0), value: octets.dropFirst(2))
    }

    /// Appends the handle, then the value.
    @usableFromInline package func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: handle.rawValue)
        bytes.append(contentsOf: value)
    }
}

/// A group and the value of its first attribute, in a Read By Group Type Response (3.4.4.10).
@usableFromInline package struct ATTGroupData: ATTEntry {
    /// The attribute that begins the group.
    package let handle: AttributeHandle
    /// The last attribute of the group.
    package let groupEnd: AttributeHandle
    /// The value of the first attribute: the service's UUID.
    package let value: ArraySlice<UInt8>

    package init(handle: AttributeHandle, groupEnd: AttributeHandle, value: ArraySlice<UInt8>) {
        self.handle = handle
        self.groupEnd = groupEnd
        self.value = value
    }

    /// Returns whether `length` is 4 to 255 octets: two handles and an optional value.
    @usableFromInline package static func allows(length: Int) -> Bool { (4...255).contains(length) }

    /// The number of octets of both handles and the value.
    @usableFromInline package var length: Int { 4 + value.count }

    /// Reads both handles, then the value.
    @usableFromInline package init(octets: ArraySlice<UInt8>) {
        self.init(
            handle: octets.handle(at: 0), groupEnd: octets.handle(at: 2), value: octets.dropFirst(4))
    }

    /// Appends both handles, then the value.
    @usableFromInline package func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: handle.rawValue)
        bytes.append(littleEndian: groupEnd.rawValue)
        bytes.append(contentsOf: value)
    }
}

extension ArraySlice where Element == UInt8 {
    /// Returns the handle that begins `offset` octets into the slice.
    fileprivate func handle(at offset: Int) -> AttributeHandle {
        let at = startIndex + offset
        return AttributeHandle(UInt16(self[at]) | UInt16(self[at + 1]) << 8)
    }
}
