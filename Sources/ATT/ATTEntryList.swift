import BLECore

// What is usable from inline here, and of tuples, is so for the sake of other targets, where the compiler
// makes code for each kind of entry only then; without that, reading a list takes an allocation an entry.

/// One entry of a list in a response whose entries all have the same length.
@usableFromInline package protocol ATTEntry: Hashable, Sendable {
    /// Octets that an entry may take.
    static func allows(length: Int) -> Bool
    /// The length of the entry, in octets.
    var length: Int { get }
    /// The entry that `octets` are; their number is one that `allows(length:)` allows.
    init(octets: ArraySlice<UInt8>)
    /// Adds the entry's octets to `bytes`.
    func append(to bytes: inout [UInt8])
}

/// The list in a response: one entry or more, all of one length, as they came and read where they lie.
/// Entries of different lengths cannot share a list, so a server that uses it cannot mix them.
@usableFromInline package struct ATTEntryList<Entry: ATTEntry>: Hashable, Sendable {
    /// The length of each entry, in octets.
    @usableFromInline package let entryLength: Int
    /// All entries, one after the other.
    @usableFromInline package private(set) var bytes: [UInt8]

    /// A list of `first` alone; nil when its length is not allowed in this response. `capacity` is how many
    /// octets the list may grow to, if that is known.
    package init?(_ first: Entry, capacity: Int = 0) {
        guard Entry.allows(length: first.length) else { return nil }
        entryLength = first.length
        bytes = []
        bytes.reserveCapacity(Swift.max(capacity, first.length))
        first.append(to: &bytes)
    }

    /// Adds `entry`; false, and nothing added, when its length is not the list's.
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
