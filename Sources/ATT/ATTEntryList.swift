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
