/// A cyclic redundancy check of up to 32 bits, as many devices have it at the end of their values. The parameters are
/// those by which data sheets and the catalogue of parametrised CRC algorithms (reveng.sourceforge.io) describe it.
///
/// ```swift
/// let value = [UInt8]("123456789".utf8)
/// let sum = CyclicRedundancyCheck.crc16Modbus.checksum(of: value)
/// let message = value + [UInt8](littleEndian: UInt16(sum))
/// ```
public struct CyclicRedundancyCheck: Hashable, Sendable {
    /// The number of bits of the checksum, 8 to 32.
    public let width: Int
    /// The generator polynomial without its highest term, the term of the highest power first.
    public let polynomial: UInt32
    /// The value of the register before the first octet.
    public let initial: UInt32
    /// Whether the bits of each octet, and those of the checksum, are processed with the least significant first.
    public let isReflected: Bool
    /// The bits that are inverted at the end.
    public let finalXOR: UInt32

    /// Creates a check. A width out of its range is replaced by the nearest one in it, and bits beyond the width are
    /// ignored.
    public init(
        width: Int, polynomial: UInt32, initial: UInt32 = 0, isReflected: Bool = false, finalXOR: UInt32 = 0
    ) {
        self.width = min(max(width, 8), 32)
        let mask = UInt32.max >> UInt32(32 - self.width)
        (self.polynomial, self.initial) = (polynomial & mask, initial & mask)
        self.isReflected = isReflected
        self.finalXOR = finalXOR & mask
    }

    /// Returns the checksum of `octets`, in the lowest `width` bits.
    public func checksum(of octets: some Sequence<UInt8>) -> UInt32 {
        // The register is at the upper end of the word, so that its highest bit is that of the word.
        let shift = UInt32(32 - width)
        var register = initial << shift
        for octet in octets {
            register ^= UInt32(isReflected ? octet.reversedBits : octet) << 24
            for _ in 0..<8 {
                let isSet = register & 0x8000_0000 != 0
                register <<= 1
                if isSet { register ^= polynomial << shift }
            }
        }
        let sum = register >> shift
        return (isReflected ? sum.reversedBits >> shift : sum) ^ finalXOR
    }
}

extension CyclicRedundancyCheck {
    /// CRC-8/SMBUS: polynomial 0x07, initially 0.
    public static let crc8 = Self(width: 8, polynomial: 0x07)
    /// CRC-8/MAXIM-DOW, of 1-Wire: polynomial 0x31, reflected.
    public static let crc8Maxim = Self(width: 8, polynomial: 0x31, isReflected: true)
    /// CRC-16/IBM-3740, often called CCITT-FALSE: polynomial 0x1021, initially 0xffff.
    public static let crc16CCITT = Self(width: 16, polynomial: 0x1021, initial: 0xffff)
    /// CRC-16/XMODEM: polynomial 0x1021, initially 0.
    public static let crc16XMODEM = Self(width: 16, polynomial: 0x1021)
    /// CRC-16/MODBUS: polynomial 0x8005, reflected, initially 0xffff.
    public static let crc16Modbus = Self(width: 16, polynomial: 0x8005, initial: 0xffff, isReflected: true)
    /// CRC-32/ISO-HDLC, of Ethernet and zip: polynomial 0x04c11db7, reflected, initially and finally inverted.
    public static let crc32 = Self(
        width: 32, polynomial: 0x04c1_1db7, initial: .max, isReflected: true, finalXOR: .max)
}

extension FixedWidthInteger {
    /// The number with its bits in the opposite order.
    fileprivate var reversedBits: Self {
        var (rest, reversed) = (self, Self.zero)
        for _ in 0..<Self.bitWidth {
            reversed = reversed << 1 | rest & 1
            rest >>= 1
        }
        return reversed
    }
}
