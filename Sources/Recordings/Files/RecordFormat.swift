import BLECore

/// A file format that consists of records: a header, which gives the length of the body, then the body.
protocol RecordFormat: Sendable {
    /// The length of a record header, in octets.
    var headerCount: Int { get }
    /// Whether the file can contain notes and records of several adapters.
    var isOfMonitor: Bool { get }
    /// The number of packets so far that are not HCI packets.
    var leftOut: Int { get }
    /// Reads a header; throws for values that no writer produces, which is how damage is detected.
    func header(_ reader: inout ByteReader) throws(DecodeError) -> RecordHeader
    /// Returns the record of a body; nil if it contains no packet. Information that applies to later records
    /// is stored.
    mutating func record(_ header: RecordHeader, _ body: Span<UInt8>) throws(DecodeError) -> Record?
}

extension RecordFormat {
    var leftOut: Int { 0 }
}

/// The fields that the record headers of all formats contain.
struct RecordHeader {
    /// The length of the body in the file, in octets.
    var included: Int
    /// The original length of the body when it was recorded, in octets.
    var original: Int
    var time: RecordingTime
    var flags: UInt32 = 0
    var drops: UInt32 = 0

    /// The maximum length of a body in octets: an ACL packet of 65,535 octets with its header and type, after
    /// the four octets that can precede it in pcap.
    static let limit = 65_535 + 4 + 1 + 4

    /// Creates a header with these lengths; throws if they contradict each other or exceed the limits of
    /// Bluetooth.
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

    /// Creates the header of a pcapng block from its type, the length of the octets that follow, and the
    /// field before them. All other fields are in the body.
    init(blockType: UInt32, length: Int, first: UInt32) {
        (included, original, time) = (length, length, RecordingTime(microseconds: 0))
        (flags, drops) = (blockType, first)
    }

    /// The number of octets that the recorder omitted.
    var missing: Int { original - included }
}

extension ByteReader {
    /// Reads four octets in the byte order of the file.
    @_lifetime(self: copy self)
    mutating func word(_ field: String, bigEndian: Bool) throws(DecodeError) -> UInt32 {
        bigEndian ? try bigEndian32(field) : try u32(field)
    }
}
