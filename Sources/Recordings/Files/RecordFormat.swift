import BLECore

/// A file format made of records: a header that tells the body's length, then the body.
protocol RecordFormat: Sendable {
    /// Octets of a record's header.
    var headerCount: Int { get }
    /// Octets that every body has.
    var leastBody: Int { get }
    /// Reads a header; refuses what no writer writes, since that is how damage is found.
    func header(_ reader: inout ByteReader) throws(DecodeError) -> RecordHeader
    /// The record of a body, which has at least `leastBody` octets.
    func record(_ header: RecordHeader, _ body: Span<UInt8>) -> Record
}

/// What the record headers of all formats tell.
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

    /// Octets that the recorder left out.
    var missing: Int { original - included }
}

extension ByteReader {
    /// Four octets, most significant first.
    mutating func bigEndian32(_ field: String) throws(DecodeError) -> UInt32 { try u32(field).byteSwapped }
}
