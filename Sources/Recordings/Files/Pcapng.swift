import BLECore
import HCI

/// The blocks of a pcapng file (IETF draft-ietf-opsawg-pcapng): sections in either byte order, each with the
/// interfaces to which its packets refer.
struct Pcapng: RecordFormat {
    /// The block type of a section header, which is the same in both byte orders.
    static let magic: [UInt8] = [0x0a, 0x0d, 0x0d, 0x0a]

    private var bigEndian: Bool
    private var interfaces: [PcapngInterface] = []
    private(set) var leftOut = 0

    /// Creates the format of a file that begins with these octets; returns nil if they are not a section
    /// header.
    init?(_ start: Span<UInt8>) {
        guard start.count >= Self.headerLength, let order = Self.order(start) else { return nil }
        bigEndian = order
    }

    private static let headerLength = 12
    private static let byteOrderMagic: UInt32 = 0x1a2b_3c4d
    /// The maximum length of a block in octets; a larger length is treated as damage. Packets have at most 64
    /// KiB, and larger blocks contain nothing that this reader uses.
    private static let blockLimit = 1 << 20
    private static let interfaceLimit = 4096

    private enum Block {
        static let section: UInt32 = 0x0a0d_0d0a
        static let interface: UInt32 = 1
        static let packet: UInt32 = 2
        static let simplePacket: UInt32 = 3
        static let enhancedPacket: UInt32 = 6
    }

    /// The length of the block type, the block length, and the four octets that follow them in all blocks.
    var headerCount: Int { Self.headerLength }
    var isOfMonitor: Bool { interfaces.contains { $0.linkType == .monitor } }

    /// Returns whether the byte-order magic of a section header is big-endian; nil if it is invalid.
    private static func order(_ block: Span<UInt8>) -> Bool? {
        let magic = (8..<12).reduce(UInt32(0)) { $0 << 8 | UInt32(block[$1]) }
        return magic == byteOrderMagic ? true : magic.byteSwapped == byteOrderMagic ? false : nil
    }

    func header(_ reader: inout ByteReader) throws(DecodeError) -> RecordHeader {
        var ahead = reader
        var order = bigEndian
        let type = try reader.word("block type", bigEndian: order)
        if type == Block.section {
            guard let found = Self.order(try ahead.span(Self.headerLength, "byte-order magic")) else {
                throw reader.failure("byte-order magic", .malformed("no section begins so"))
            }
            order = found
        }
        let length = try reader.word("block length", bigEndian: order)
        // In a section header this field is the byte-order magic, which shows whether the byte order changes.
        let first = try reader.word("first field", bigEndian: bigEndian)
        guard length.isMultiple(of: 4), length >= Self.headerLength, length <= Self.blockLimit else {
            throw reader.failure(
                "block length", .malformed("\(length) octets, the limit is \(Self.blockLimit)"))
        }
        return RecordHeader(blockType: type, length: Int(length) - Self.headerLength, first: first)
    }

    mutating func record(_ header: RecordHeader, _ body: Span<UInt8>) throws(DecodeError) -> Record? {
        if header.flags == Block.section {
            bigEndian = header.drops == Self.byteOrderMagic ? bigEndian : !bigEndian
        }
        var reader = ByteReader(body, of: "pcapng block")
        let content = max(0, body.count - 4)
        // The block length is repeated at the end; in the shortest block that is its first field.
        if body.count >= 4 {
            var end = ByteReader(body.extracting(droppingFirst: content), of: "pcapng block")
            let length = try end.word("block length", bigEndian: bigEndian)
            guard length == UInt32(body.count + Self.headerLength) else {
                throw end.invalid("block length", value: length, width: 4)
            }
        } else if header.drops != Self.headerLength {
            throw reader.invalid("block length", value: header.drops, width: 0)
        }
        switch header.flags {
        case Block.section: interfaces = []
        case Block.interface: try add(linkType: header.drops, &reader)
        case Block.enhancedPacket: return try packet(header.drops, drops: 0, &reader)
        case Block.packet:
            let (interface, drops) = halves(header.drops)
            return try packet(interface, drops: drops, &reader)
        case Block.simplePacket: return try simplePacket(header.drops, &reader, count: content)
        default: break
        }
        return nil
    }

    /// Returns the two 16-bit fields of a 32-bit word.
    private func halves(_ word: UInt32) -> (first: UInt32, second: UInt32) {
        bigEndian ? (word >> 16, word & 0xffff) : (word & 0xffff, word >> 16)
    }
}

extension Pcapng {
    private mutating func add(linkType word: UInt32, _ reader: inout ByteReader) throws(DecodeError) {
        guard interfaces.count < Self.interfaceLimit else {
            throw reader.failure(
                "interface", .malformed("more interfaces than the limit of \(Self.interfaceLimit)"))
        }
        var interface = PcapngInterface(linkType: PcapLinkType(rawValue: halves(word).first))
        interface.snapLength = try reader.word("snap length", bigEndian: bigEndian)
        try PcapngOption.forEach(in: &reader, bigEndian: bigEndian) { option in interface.take(option) }
        interfaces.append(interface)
    }

    private mutating func packet(
        _ index: UInt32, drops: UInt32, _ reader: inout ByteReader
    ) throws(DecodeError) -> Record? {
        guard index < interfaces.count else { throw reader.invalid("interface", value: index, width: 0) }
        let interface = interfaces[Int(index)]
        let high = try reader.word("timestamp", bigEndian: bigEndian)
        let low = try reader.word("timestamp", bigEndian: bigEndian)
        let included = try reader.word("captured length", bigEndian: bigEndian)
        let original = try reader.word("original length", bigEndian: bigEndian)
        guard let linkType = interface.linkType else {
            leftOut += 1
            return nil
        }
        let time = interface.time(UInt64(high) << 32 | UInt64(low))
        let header = try RecordHeader(
            included: included, original: original, least: linkType.leastBody, time: time, drops: drops,
            reader)
        let body = try reader.bytes(header.included, "packet")
        _ = try reader.bytes(min(-header.included & 3, reader.remaining), "padding")
        var direction: HCIDirection?
        try PcapngOption.forEach(in: &reader, bigEndian: bigEndian) { option in
            direction = option.direction ?? direction
        }
        return linkType.record(header, body.span, direction: direction)
    }

    /// Reads a packet without a timestamp, which belongs to the first interface.
    private mutating func simplePacket(
        _ original: UInt32, _ reader: inout ByteReader, count: Int
    ) throws(DecodeError) -> Record? {
        guard let interface = interfaces.first else { throw reader.invalid("interface", value: 0, width: 0) }
        guard let linkType = interface.linkType else {
            leftOut += 1
            return nil
        }
        let limit = interface.snapLength == 0 ? original : min(original, interface.snapLength)
        let header = try RecordHeader(
            included: min(limit, UInt32(clamping: count)), original: original, least: linkType.leastBody,
            time: RecordingTime(microseconds: 0), reader)
        let body = try reader.bytes(header.included, "packet")
        return linkType.record(header, body.span)
    }
}
