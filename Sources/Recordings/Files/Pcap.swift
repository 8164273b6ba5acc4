import BLECore

/// The records of a pcap file, in either byte order, with timestamps in microseconds or nanoseconds.
struct Pcap: RecordFormat {
    var bigEndian: Bool
    var nanoseconds: Bool
    var linkType: PcapLinkType

    /// The length of the file header, in octets.
    static let fileHeaderCount = 24

    var headerCount: Int { 16 }
    var isOfMonitor: Bool { linkType == .monitor }

    func header(_ reader: inout ByteReader) throws(DecodeError) -> RecordHeader {
        let seconds = try reader.word("seconds", bigEndian: bigEndian)
        let fraction = try reader.word("fraction", bigEndian: bigEndian)
        guard fraction < (nanoseconds ? 1_000_000_000 : 1_000_000) else {
            throw reader.invalid("fraction", value: fraction, width: 4)
        }
        let included = try reader.word("included length", bigEndian: bigEndian)
        let original = try reader.word("original length", bigEndian: bigEndian)
        let microseconds = Int64(seconds) * 1_000_000 + Int64(nanoseconds ? fraction / 1000 : fraction)
        return try RecordHeader(
            included: included, original: original, least: linkType.leastBody,
            time: RecordingTime(microseconds: microseconds), reader)
    }

    func record(_ header: RecordHeader, _ body: Span<UInt8>) -> Record? {
        linkType.record(header, body)
    }
}
