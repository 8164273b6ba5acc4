import BLECore

/// A file format made of records: a header that gives the body's length, then the body.
protocol RecordFormat: Sendable {
    /// The length of a record header, in octets.
    var headerCount: Int { get }
    /// Whether records can be notes, and of several adapters.
    var isOfMonitor: Bool { get }
    /// Packets so far that are of another kind than HCI.
    var leftOut: Int { get }
    /// Reads a header; refuses what no writer writes, since that is how damage is found.
    func header(_ reader: inout ByteReader) throws(DecodeError) -> RecordHeader
    /// The record of a body; nil for one that holds no packet. What it says of those that follow is kept.
    mutating func record(_ header: RecordHeader, _ body: Span<UInt8>) throws(DecodeError) -> Record?
}

extension RecordFormat {
    var leftOut: Int { 0 }
}

/// What the record headers of all formats contain.
struct RecordHeader {
    /// Octets of the body in the file.
    var included: Int
    /// Octets of the body when it was recorded.
    var original: Int
    var time: RecordingTime
    var flags: UInt32 = 0
    var drops: UInt32 = 0

    /// The longest body: an ACL packet of 65,535 octets with its header and type, after the four octets
    /// that pcap may put before it.
    static let limit = 65_535 + 4 + 1 + 4

    /// A record of these lengths, unless they contradict each other or lie beyond what Bluetooth has.
    init(
        included: UInt32, original: UInt32, least: Int, time: RecordingTime, flags: UInt32 = 0,
        drops: UInt32 = 0,
        _ reader: borrowing ByteReader
    ) throws(DecodeError) {
        guard original <= Self.limit else {
            throw reader.failure("length", .malformed("\(original) octets, the limit is \(Self.limit)"))
        }
        guard included <= original, included >= least else {
            throw reader.failure("length", .malformed("\(included) of \(original) octets, at least \(least)"))
        }
        self.included = Int(included)
        self.original = Int(original)
        self.time = time
        self.flags = flags
        self.drops = drops
    }

    /// A block of a pcapng file: its type, the octets that follow, and the field before them. The rest is in its
    /// body.
    init(blockType: UInt32, length: Int, first: UInt32) {
        (included, original, time) = (length, length, RecordingTime(microseconds: 0))
        (flags, drops) = (blockType, first)
    }

    /// Octets that the recorder left out.
    var missing: Int { original - included }
}

extension ByteReader {
    /// Reads four octets, the most significant first.
    mutating func bigEndian32(_ field: String) throws(DecodeError) -> UInt32 { try u32(field).byteSwapped }

    /// Four octets in the byte order of a file.
    mutating func word(_ field: String, bigEndian: Bool) throws(DecodeError) -> UInt32 {
        bigEndian ? try bigEndian32(field) : try u32(field)
    }
}
