import BLECore

/// A number that two devices exchange out of band before they pair, and of which each takes 16 octets
/// (Core Specification Supplement v11, Part A, 1.6 to 1.8).
package struct OutOfBandValue: Hashable, Sendable {
    /// Which number; the raw value is its AD type.
    package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// BR/EDR: hash C of P-192.
        case hashC192 = 0x0e
        /// BR/EDR: randomizer R of P-192.
        case randomizerR192 = 0x0f
        /// LE legacy pairing: TK.
        case temporaryKey = 0x10
        /// BR/EDR: hash C of P-256.
        case hashC256 = 0x1d
        /// BR/EDR: randomizer R of P-256.
        case randomizerR256 = 0x1e
        /// LE Secure Connections: confirmation value.
        case confirmation = 0x22
        /// LE Secure Connections: random value.
        case random = 0x23
    }

    package var kind: Kind
    package var value: UInt128

    package init(_ kind: Kind, _ value: UInt128) {
        self.kind = kind
        self.value = value
    }
}

extension OutOfBandValue: PacketEncodable {
    package var encodedCount: Int { 16 }

    package func encode(into output: inout OutputSpan<UInt8>) { output.u128(value) }

    init(decoding reader: inout ByteReader, kind: Kind) throws(DecodeError) {
        self.init(kind, try reader.u128("value"))
    }
}
