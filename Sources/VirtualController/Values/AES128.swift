/// AES with a key of 128 bits, encryption only, for LE Encrypt (FIPS 197). It is slow and its time depends
/// on its input, which is good enough for a simulated controller and for nothing else.
struct AES128 {
    private let roundKeys: [[UInt8]]

    /// The cipher of a key whose most significant octet is key[0] of FIPS 197.
    init(key: UInt128) { roundKeys = Self.expand(Self.octets(key)) }

    /// The cipher text of a block whose most significant octet is in[0] of FIPS 197.
    func encrypt(_ block: UInt128) -> UInt128 {
        var state = Self.octets(block)
        for (round, key) in roundKeys.enumerated() {
            if round > 0 {
                state = Self.shiftedRows(state.map(Self.substitute))
                if round < roundKeys.count - 1 { state = Self.mixedColumns(state) }
            }
            state = zip(state, key).map { $0 ^ $1 }
        }
        return state.reduce(0) { $0 << 8 | UInt128($1) }
    }

    private static func octets(_ value: UInt128) -> [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: value >> UInt128(120 - 8 * $0)) }
    }

    /// FIPS 197, 5.2: eleven keys, each made of the one before.
    private static func expand(_ key: [UInt8]) -> [[UInt8]] {
        var keys = [key]
        var constant: UInt8 = 1
        for round in 1...10 {
            let last = keys[round - 1]
            var word = [13, 14, 15, 12].map { substitute(last[$0]) }
            word[0] ^= constant
            constant = doubled(constant)
            var next: [UInt8] = []
            for column in 0..<4 {
                word = (0..<4).map { word[$0] ^ last[4 * column + $0] }
                next += word
            }
            keys.append(next)
        }
        return keys
    }

    /// FIPS 197, 5.1.2: row r moves r places to the left; octet i is row i mod 4 of column i / 4.
    private static func shiftedRows(_ state: [UInt8]) -> [UInt8] {
        (0..<16).map { state[($0 + 4 * ($0 % 4)) % 16] }
    }

    /// FIPS 197, 5.1.3: each octet becomes 2 of itself, 3 of the next in its column, and the two after.
    private static func mixedColumns(_ state: [UInt8]) -> [UInt8] {
        (0..<16).map { index in
            let column = index / 4 * 4
            let (one, two) = (state[index], state[column + (index + 1) % 4])
            let (three, four) = (state[column + (index + 2) % 4], state[column + (index + 3) % 4])
            return doubled(one) ^ doubled(two) ^ two ^ three ^ four
        }
    }

    private static func substitute(_ octet: UInt8) -> UInt8 { table[Int(octet)] }

    /// FIPS 197, 5.1.1: the inverse in the field of 256 elements, and an affine transformation of it.
    private static let table: [UInt8] = (UInt8.min...UInt8.max).map { octet in
        let inverse = (0..<254).reduce(UInt8(1)) { power, _ in product(power, octet) }
        return (1...4).reduce(inverse ^ 0x63) { $0 ^ (inverse << UInt8($1) | inverse >> UInt8(8 - $1)) }
    }

    /// FIPS 197, 4.2.1: times x.
    private static func doubled(_ octet: UInt8) -> UInt8 { octet << 1 ^ (octet >> 7) &* 0x1b }

    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        (0..<8).reversed().reduce(UInt8(0)) { doubled($0) ^ (right >> UInt8($1) & 1) &* left }
    }
}
