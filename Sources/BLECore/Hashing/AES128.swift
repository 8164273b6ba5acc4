/// A block cipher for blocks of 128 bits, with a fixed key.
package protocol BlockCipher: Sendable {
    /// Encrypts one block. Its most significant octet is in[0] of FIPS 197.
    func encrypt(_ block: UInt128) -> UInt128
}

/// AES with a 128-bit key, encryption only (FIPS 197). Its running time depends on the encrypted data,
/// because it uses lookup tables in memory. It is therefore only for hashes, for simulated controllers and
/// for readings of sensors. Keys that pairing distributes require a dedicated library, which builds without
/// pairing do not have.
package struct AES128: BlockCipher {
    /// Eleven round keys of four columns each; the first octet of a column is in its highest bits.
    private let roundKeys: [UInt32]

    /// Creates the cipher for a key. Its most significant octet is key[0] of FIPS 197.
    package init(key: UInt128) {
        var words = Self.columns(key)
        var constant: UInt8 = 1
        for index in 4..<44 {
            var word = words[index - 1]
            if index.isMultiple(of: 4) {
                word = Self.substituted(word << 8 | word >> 24) ^ UInt32(constant) << 24
                constant = Self.doubled(constant)
            }
            words.append(words[index - 4] ^ word)
        }
        roundKeys = words
    }

    /// Encrypts a block. Its most significant octet is in[0] of FIPS 197.
    package func encrypt(_ block: UInt128) -> UInt128 {
        let table = Self.rounds
        var (a, b, c, d) = (
            UInt32(truncatingIfNeeded: block >> 96) ^ roundKeys[0],
            UInt32(truncatingIfNeeded: block >> 64) ^ roundKeys[1],
            UInt32(truncatingIfNeeded: block >> 32) ^ roundKeys[2],
            UInt32(truncatingIfNeeded: block) ^ roundKeys[3]
        )
        // Computes one column of the next state: row r comes from the column r to the right (5.1.2), is
        // substituted by the S-box, and is multiplied into all four rows (5.1.3), which `table` contains for
        // row 0.
        func column(_ first: UInt32, _ second: UInt32, _ third: UInt32, _ fourth: UInt32) -> UInt32 {
            let rows = (
                table[Int(first >> 24)], table[Int(second >> 16 & 0xff)], table[Int(third >> 8 & 0xff)],
                table[Int(fourth & 0xff)]
            )
            return rows.0 ^ (rows.1 >> 8 | rows.1 << 24) ^ (rows.2 >> 16 | rows.2 << 16)
                ^ (rows.3 >> 24 | rows.3 << 8)
        }
        for round in 1..<10 {
            let key = 4 * round
            (a, b, c, d) = (
                column(a, b, c, d) ^ roundKeys[key], column(b, c, d, a) ^ roundKeys[key + 1],
                column(c, d, a, b) ^ roundKeys[key + 2], column(d, a, b, c) ^ roundKeys[key + 3]
            )
        }
        // The last round does not mix columns.
        func last(_ first: UInt32, _ second: UInt32, _ third: UInt32, _ fourth: UInt32) -> UInt32 {
            Self.substituted(
                first & 0xff00_0000 | second & 0xff_0000 | third & 0xff00 | fourth & 0xff)
        }
        (a, b, c, d) = (
            last(a, b, c, d) ^ roundKeys[40], last(b, c, d, a) ^ roundKeys[41],
            last(c, d, a, b) ^ roundKeys[42], last(d, a, b, c) ^ roundKeys[43]
        )
        return UInt128(a) << 96 | UInt128(b) << 64 | UInt128(c) << 32 | UInt128(d)
    }

    private static func columns(_ value: UInt128) -> [UInt32] {
        [96, 64, 32, 0].map { UInt32(truncatingIfNeeded: value >> UInt128($0)) }
    }

    private static func substituted(_ word: UInt32) -> UInt32 {
        UInt32(box[Int(word >> 24)]) << 24 | UInt32(box[Int(word >> 16 & 0xff)]) << 16
            | UInt32(box[Int(word >> 8 & 0xff)]) << 8 | UInt32(box[Int(word & 0xff)])
    }

    /// 5.1.1: the inverse in the field of 256 elements, and an affine transformation of it.
    private static let box: [UInt8] = (UInt8.min...UInt8.max).map { octet in
        let inverse = (0..<254).reduce(UInt8(1)) { power, _ in product(power, octet) }
        return (1...4).reduce(inverse ^ 0x63) { $0 ^ (inverse << UInt8($1) | inverse >> UInt8(8 - $1)) }
    }

    /// The contribution of row 0 of a column to all four rows: 2, 1, 1 and 3 times its octet of the S-box.
    private static let rounds: [UInt32] = box.map { octet in
        let twice = doubled(octet)
        return UInt32(twice) << 24 | UInt32(octet) << 16 | UInt32(octet) << 8 | UInt32(twice ^ octet)
    }

    /// Multiplies a polynomial by x (FIPS 197, 4.2.1).
    private static func doubled(_ octet: UInt8) -> UInt8 { octet << 1 ^ (octet >> 7) &* 0x1b }

    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        (0..<8).reversed().reduce(UInt8(0)) { doubled($0) ^ (right >> UInt8($1) & 1) &* left }
    }
}
