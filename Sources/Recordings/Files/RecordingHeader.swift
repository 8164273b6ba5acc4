import BLECore

/// The header of a recording file.
struct RecordingHeader {
    /// The format of the records that follow.
    var format: any RecordFormat
    /// The length of the file header, in octets.
    var count: Int

    /// Reads the header; returns nil if more octets are needed. `whole` means that no more octets follow.
    init?(_ bytes: Span<UInt8>, whole: Bool) throws(RecordingError) {
        let start = [UInt8](copying: bytes.extracting(first: BTSnoopHeader.magic.count))
        if start.starts(with: Pcapng.magic) {
            // A section header is a block like others, so nothing is consumed.
            guard bytes.count >= 12 || whole else { return nil }
            guard let pcapng = Pcapng(bytes) else {
                throw bytes.count < 12 ? .incompleteHeader(bytes.count) : .unknownFormat(start)
            }
            (format, count) = (pcapng, 0)
            return
        }
        let pcap = Self.pcapMagics.first { start.starts(with: $0.magic) }
        count = pcap == nil ? BTSnoopHeader.count : Pcap.fileHeaderCount
        guard bytes.count >= count else {
            guard whole else { return nil }
            throw pcap != nil || start == BTSnoopHeader.magic
                ? .incompleteHeader(bytes.count) : .unknownFormat(start)
        }
        if let pcap {
            let order = pcap.bigEndian
            let version = Self.word(bytes, at: 4, bigEndian: order)
            guard version == (order ? 0x0002_0004 : 0x0004_0002) else { throw .unsupportedVersion(version) }
            // The upper half describes frame check sequences, which HCI does not have.
            let type = Self.word(bytes, at: 20, bigEndian: order) & 0xffff
            guard let type = PcapLinkType(rawValue: type) else { throw .unsupportedLinkType(type) }
            format = Pcap(bigEndian: order, nanoseconds: pcap.nanoseconds, linkType: type)
        } else {
            guard start == BTSnoopHeader.magic else { throw .unknownFormat(start) }
            let version = Self.word(bytes, at: 8, bigEndian: true)
            guard version == BTSnoopHeader.version else { throw .unsupportedVersion(version) }
            let type = Self.word(bytes, at: 12, bigEndian: true)
            guard let datalink = BTSnoopDatalink(rawValue: type) else { throw .unsupportedLinkType(type) }
            format = BTSnoop(datalink: datalink)
        }
    }

    /// The magic numbers, which determine the byte order and the precision.
    private static let pcapMagics: [(magic: [UInt8], bigEndian: Bool, nanoseconds: Bool)] = [
        ([0xa1, 0xb2, 0xc3, 0xd4], true, false),
        ([0xd4, 0xc3, 0xb2, 0xa1], false, false),
        ([0xa1, 0xb2, 0x3c, 0x4d], true, true),
        ([0x4d, 0x3c, 0xb2, 0xa1], false, true),
    ]

    /// Returns four octets of a header whose presence the caller has checked.
    private static func word(_ bytes: Span<UInt8>, at offset: Int, bigEndian: Bool) -> UInt32 {
        let word = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[offset + $1]) }
        return bigEndian ? word : word.byteSwapped
    }
}
