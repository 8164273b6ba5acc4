import BLECore
import HCI

/// The content of an interface block of a pcapng file.
struct PcapngInterface: Sendable {
    /// The link type; nil if the interface's packets are not HCI packets.
    var linkType: PcapLinkType?
    /// The maximum number of octets that are captured of a packet; 0 means no limit.
    var snapLength: UInt32 = 0
    /// The resolution of timestamps: the negative exponent of a power of ten, or of a power of two if the
    /// highest bit is set.
    private var resolution: UInt8 = 6
    /// The seconds that are added to each timestamp.
    private var offset: Int64 = 0

    init(linkType: PcapLinkType?) { self.linkType = linkType }

    /// Applies an option that affects timestamps; ignores other options.
    mutating func take(_ option: PcapngOption) {
        switch (option.code, option.value.count) {
        case (PcapngOption.resolution, 1): resolution = option.value[0]
        case (PcapngOption.timeOffset, 8): offset = Int64(bitPattern: option.number)
        default: break
        }
    }

    /// Returns the time of a timestamp. It wraps around if a damaged timestamp would overflow.
    func time(_ ticks: UInt64) -> RecordingTime {
        let exponent = Int(resolution & 0x7f)
        let microseconds: UInt64
        if resolution & 0x80 != 0 {
            guard exponent < 64 else { return RecordingTime(microseconds: offset &* 1_000_000) }
            let fraction = ticks & ((1 << exponent) &- 1)
            let (high, low) = fraction.multipliedFullWidth(by: 1_000_000)
            let part = exponent == 0 ? 0 : high << (64 - exponent) | low >> exponent
            microseconds = (ticks >> exponent) &* 1_000_000 &+ part
        } else if exponent <= 6 {
            microseconds = ticks &* Self.powerOfTen(6 - exponent)
        } else {
            microseconds = exponent - 6 > 19 ? 0 : ticks / Self.powerOfTen(exponent - 6)
        }
        return RecordingTime(
            microseconds: Int64(truncatingIfNeeded: microseconds) &+ offset &* 1_000_000)
    }

    private static func powerOfTen(_ exponent: Int) -> UInt64 {
        (0..<exponent).reduce(1) { power, _ in power &* 10 }
    }
}

/// An option of a pcapng block.
struct PcapngOption {
    let code: UInt16
    let value: [UInt8]
    private let bigEndian: Bool

    /// The code of if_tsresol, an option of interface blocks.
    static let resolution: UInt16 = 9
    /// The code of if_tsoffset, an option of interface blocks.
    static let timeOffset: UInt16 = 14
    /// The code of epb_flags, an option of packet blocks.
    static let flags: UInt16 = 2

    /// The value as an integer of up to 64 bits, in the file's byte order.
    var number: UInt64 {
        (bigEndian ? value : value.reversed()).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The direction that the flags of a packet give, if any.
    var direction: HCIDirection? {
        guard code == Self.flags, value.count == 4 else { return nil }
        return switch number & 3 {
        case 1: .controllerToHost
        case 2: .hostToController
        default: nil
        }
    }

    /// Calls `body` with each option up to the end of the block, where the block length takes four octets.
    static func forEach(
        in reader: inout ByteReader, bigEndian: Bool, _ body: (PcapngOption) -> Void
    ) throws(DecodeError) {
        while reader.remaining >= 8 {
            let word = try reader.word("option", bigEndian: bigEndian)
            let (code, count) = bigEndian ? (word >> 16, word & 0xffff) : (word & 0xffff, word >> 16)
            guard code != 0 else { return }
            let value = try reader.bytes(Int(count), "option")
            _ = try reader.bytes(min(-value.count & 3, reader.remaining), "padding")
            body(PcapngOption(code: UInt16(code), value: value, bigEndian: bigEndian))
        }
    }
}
