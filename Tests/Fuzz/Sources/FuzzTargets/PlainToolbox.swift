import BLECore
import SMP

/// Cryptography of the right form without security: real AES, and key pairs whose public half is the private
/// one with a mark that stands for the curve.
struct PlainToolbox: SecurityToolbox {
    func aes128(key: UInt128) -> any BlockCipher { AES128(key: key) }

    func aesCMAC(_ message: [UInt8], key: UInt128) -> UInt128 { AESCMAC.code(of: message, key: key) }

    func keyPair(_ privateKey: PairingPublicKey.Coordinate) -> PairingKeyPair? {
        let y = PairingPublicKey.Coordinate(high: ~privateKey.high, low: ~privateKey.low)
        return PairingKeyPair(privateKey: privateKey, publicKey: PairingPublicKey(x: privateKey, y: y))
    }

    func sharedSecret(
        of own: PairingKeyPair, with peer: PairingPublicKey
    ) -> PairingPublicKey.Coordinate? {
        guard peer.y.high == ~peer.x.high, peer.y.low == ~peer.x.low else { return nil }
        return .init(high: own.privateKey.high ^ peer.x.high, low: own.privateKey.low ^ peer.x.low)
    }
}
