import BLECore

/// The parameters for finding and receiving a broadcast isochronous group (Core Specification 5.4, Vol 6,
/// Part B, 4.4.6.11), as in its periodic advertising train (Core Specification Supplement v11, Part A, 1.21).
///
/// The fields have unusual widths; only the bits of the stated width are encoded.
package struct BIGInfo: Hashable, Sendable {
    /// The time from this packet to the group's next event, 14 bits, in `offsetUnits`.
    package var offset: UInt16 = 0
    /// The unit of `offset`: 300 µs if true, 30 µs if false.
    package var offsetUnits = false
    /// The time from one event of the group to the next, 12 bits, in units of 1.25 ms.
    package var isoInterval: UInt16 = 0
    /// The number of streams in the group, 5 bits, 1 to 31.
    package var streamCount: UInt8 = 0
    /// The number of subevents of each stream in an event, 5 bits.
    package var subeventCount: UInt8 = 0
    /// The number of new payloads of each stream in an event, 3 bits.
    package var burstNumber: UInt8 = 0
    /// The time from one subevent of a stream to the next, 20 bits, in microseconds.
    package var subInterval: UInt32 = 0
    /// The pre-transmission offset, 4 bits, in events.
    package var pretransmissionOffset: UInt8 = 0
    /// The time from a subevent of one stream to that of the next stream, 20 bits, in microseconds.
    package var streamSpacing: UInt32 = 0
    /// The number of transmissions of a payload in an event, 4 bits.
    package var repetitionCount: UInt8 = 0
    /// The maximum length of a payload, in octets.
    package var maximumPDU: UInt8 = 0
    /// Bits reserved for future use, encoded as they were received.
    package var reserved: UInt8 = 0
    /// The seed from which the access addresses of the group are derived.
    package var seedAccessAddress: UInt32 = 0
    /// The time from one SDU to the next, 20 bits, in microseconds.
    package var sduInterval: UInt32 = 0
    /// The maximum length of an SDU, 12 bits, in octets.
    package var maximumSDU: UInt16 = 0
    /// The base from which the CRC initial values of the group are derived.
    package var baseCRCInit: UInt16 = 0
    /// The channel map, 37 bits: one for each data channel.
    package var channels: UInt64 = 0
    /// The PHY, 3 bits: 0 for LE 1M, 1 for LE 2M, 2 for LE Coded.
    package var phy: UInt8 = 0
    /// The number of payloads of a stream up to this packet, 39 bits.
    package var payloadCount: UInt64 = 0
    /// Whether SDUs are framed.
    package var isFramed = false
    /// The parameters of the encryption; nil if the group is not encrypted.
    package var encryption: Encryption?

    /// The values that a receiver needs in addition to the Broadcast_Code.
    package struct Encryption: Hashable, Sendable {
        /// The Group Initialization Vector (GIV), 64 bits.
        package var initializationVector: UInt64
        /// The diversifier of the group session key.
        package var sessionKeyDiversifier: UInt128

        package init(initializationVector: UInt64, sessionKeyDiversifier: UInt128) {
            self.initializationVector = initializationVector
            self.sessionKeyDiversifier = sessionKeyDiversifier
        }
    }

    package init() {}
}

extension BIGInfo: PacketDecodable, PacketEncodable {
    package static var packetName: String { "BIGInfo" }

    /// Reads 33 octets, and 24 more if the group is encrypted.
    package init(decoding reader: inout ByteReader) throws(DecodeError) {
        var bits = Bits(word: UInt64(try reader.u32("BIG_Offset")))
        offset = bits.take(14)
        offsetUnits = bits.take(1) as UInt8 == 1
        isoInterval = bits.take(12)
        streamCount = bits.take(5)
        bits = Bits(word: try reader.unsigned(octets: 7, "NSE"))
        subeventCount = bits.take(5)
        burstNumber = bits.take(3)
        subInterval = bits.take(20)
        pretransmissionOffset = bits.take(4)
        streamSpacing = bits.take(20)
        repetitionCount = bits.take(4)
        maximumPDU = try reader.u8("Max_PDU")
        reserved = try reader.u8("RFU")
        seedAccessAddress = try reader.u32("SeedAccessAddress")
        bits = Bits(word: UInt64(try reader.u32("SDU_Interval")))
        sduInterval = bits.take(20)
        maximumSDU = bits.take(12)
        baseCRCInit = try reader.u16("BaseCRCInit")
        bits = Bits(word: try reader.unsigned(octets: 5, "ChM"))
        channels = bits.take(37)
        phy = bits.take(3)
        bits = Bits(word: try reader.unsigned(octets: 5, "bisPayloadCount"))
        payloadCount = bits.take(39)
        isFramed = bits.take(1) as UInt8 == 1
        guard reader.remaining > 0 else { return }
        encryption = Encryption(
            initializationVector: try reader.u64("GIV"), sessionKeyDiversifier: try reader.u128("GSKD"))
    }

    /// The length in octets: 33, or 57 with encryption.
    package var encodedCount: Int { encryption == nil ? 33 : 57 }

    package func encode(into output: inout OutputSpan<UInt8>) {
        output.little(
            Bits.pack((offset, 14), (offsetUnits ? 1 : 0 as UInt8, 1), (isoInterval, 12), (streamCount, 5)), 4
        )
        output.little(
            Bits.pack(
                (subeventCount, 5), (burstNumber, 3), (subInterval, 20), (pretransmissionOffset, 4),
                (streamSpacing, 20), (repetitionCount, 4)), 7)
        output.u8(maximumPDU)
        output.u8(reserved)
        output.u32(seedAccessAddress)
        output.little(Bits.pack((sduInterval, 20), (maximumSDU, 12)), 4)
        output.u16(baseCRCInit)
        output.little(Bits.pack((channels, 37), (phy, 3)), 5)
        output.little(Bits.pack((payloadCount, 39), (isFramed ? 1 : 0 as UInt8, 1)), 5)
        guard let encryption else { return }
        output.u64(encryption.initializationVector)
        output.u128(encryption.sessionKeyDiversifier)
    }
}

/// Reads numbers of various widths from one word, from the lowest bits up.
private struct Bits {
    var word: UInt64

    mutating func take<Number: FixedWidthInteger>(_ width: UInt64) -> Number {
        defer { word >>= width }
        return Number(truncatingIfNeeded: word & ((1 << width) - 1))
    }

    static func pack<each Number: FixedWidthInteger>(_ fields: repeat (each Number, UInt64)) -> UInt64 {
        var word: UInt64 = 0
        var position: UInt64 = 0
        for (number, width) in repeat each fields {
            word |= (UInt64(truncatingIfNeeded: number) & ((1 << width) - 1)) << position
            position += width
        }
        return word
    }
}
