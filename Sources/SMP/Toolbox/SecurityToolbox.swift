/// The cryptography that pairing is made of (Core Specification 5.4, Vol 3, Part H, 2.2 and Vol 2, Part H,
/// 7.6). Numbers have their most significant octet where the specification prints it first. The functions of
/// pairing itself, `c1` to `h7`, are built on these four.
package protocol SecurityToolbox: Sendable {
    /// AES-128 of one block.
    func aes128(_ block: UInt128, key: UInt128) -> UInt128

    /// AES-CMAC of a message (RFC 4493).
    func aesCMAC(_ message: [UInt8], key: UInt128) -> UInt128

    /// The P-256 key pair of a private key; nil when it is not in the range of private keys, which happens to
    /// one of 2^32 random numbers.
    func keyPair(_ privateKey: PairingPublicKey.Coordinate) -> PairingKeyPair?

    /// The X coordinate of the point that both ends reach, DHKey; nil when the peer's package key is no point
    /// of the curve, which an attacker would send to learn the private key.
    func sharedSecret(of own: PairingKeyPair, with peer: PairingPublicKey) -> PairingPublicKey.Coordinate?
}

/// A private key and the public key that goes with it.
package struct PairingKeyPair: Hashable, Sendable {
    /// The number that stays here.
    package var privateKey: PairingPublicKey.Coordinate
    /// The point that is sent to the peer.
    package var publicKey: PairingPublicKey

    /// A pair that was made with `SecurityToolbox.keyPair(_:)`.
    package init(privateKey: PairingPublicKey.Coordinate, publicKey: PairingPublicKey) {
        self.privateKey = privateKey
        self.publicKey = publicKey
    }
}

extension SecurityToolbox {
    /// A new key pair; nil from a generator that is none.
    func keyPair(using generator: inout any RandomNumberGenerator & Sendable) -> PairingKeyPair? {
        for _ in 0..<8 {
            let number = PairingPublicKey.Coordinate(high: generator.number(), low: generator.number())
            if let pair = keyPair(number) { return pair }
        }
        return nil
    }
}

extension RandomNumberGenerator {
    /// Returns a random number of 128 bits.
    mutating func number() -> UInt128 { UInt128(next()) << 64 | UInt128(next()) }
}

extension PairingPublicKey {
    /// The key whose private half the specification prints, for those who debug on air: it protects nothing
    /// (2.3.5.6.1).
    package static let debug = PairingPublicKey(
        x: Coordinate(
            high: 0x20b0_03d2_f297_be2c_5e2c_83a7_e9f9_a5b9, low: 0xeff4_9111_acf4_fddb_cc03_0148_0e35_9de6),
        y: Coordinate(
            high: 0xdc80_9c49_652a_eb6d_6332_9abf_5a52_155c, low: 0x7663_45c2_8fed_3024_741c_8ed0_1589_d28b))
}
