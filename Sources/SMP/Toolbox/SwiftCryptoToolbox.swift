#if SecurityManager
import BLECore
import Crypto
import CryptoExtras

/// The toolbox based on swift-crypto, whose execution time does not depend on keys and which checks that
/// points lie on the curve. This is the only file that depends on the library; it parses no packets.
struct SwiftCryptoToolbox: SecurityToolbox {
    private struct Cipher: BlockCipher {
        let key: SymmetricKey

        func encrypt(_ block: UInt128) -> UInt128 {
            var octets = block.octets
            do {
                try AES.permute(&octets, key: key)
            } catch {
                // AES fails only for a wrong size of key or block. Their types fix both at 128 bits, whatever
                // a peer sends.
                preconditionFailure("AES refuses 16 octets: \(error)")
            }
            return UInt128(octets)
        }
    }

    func aes128(key: UInt128) -> any BlockCipher { Cipher(key: SymmetricKey(data: key.octets)) }

    func aesCMAC(_ message: [UInt8], key: UInt128) -> UInt128 {
        do {
            var code = try AES.CMAC(key: SymmetricKey(data: key.octets))
            code.update(data: message)
            return UInt128(code.finalize())
        } catch {
            // The key has 128 bits here as well; a message can have any length.
            preconditionFailure("AES-CMAC refuses a key of 16 octets: \(error)")
        }
    }

    func keyPair(_ privateKey: PairingPublicKey.Coordinate) -> PairingKeyPair? {
        guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: privateKey.octets) else {
            return nil
        }
        let point = [UInt8](key.publicKey.rawRepresentation)
        return PairingKeyPair(
            privateKey: privateKey,
            publicKey: PairingPublicKey(
                x: .init(point[..<32]), y: .init(point[32...])))
    }

    func sharedSecret(
        of own: PairingKeyPair, with peer: PairingPublicKey
    ) -> PairingPublicKey.Coordinate? {
        guard let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: own.privateKey.octets),
            let point = try? P256.KeyAgreement.PublicKey(rawRepresentation: peer.x.octets + peer.y.octets),
            let secret = try? key.sharedSecretFromKeyAgreement(with: point)
        else { return nil }
        return unsafe secret.withUnsafeBytes { unsafe PairingPublicKey.Coordinate($0) }
    }
}

extension UInt128 {
    fileprivate init(_ octets: some Sequence<UInt8>) { self = octets.reduce(0) { $0 << 8 | UInt128($1) } }

    fileprivate var octets: [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: self >> UInt128(120 - 8 * $0)) }
    }
}

extension PairingPublicKey.Coordinate {
    fileprivate init(_ octets: some Collection<UInt8>) {
        self.init(high: UInt128(octets.prefix(16)), low: UInt128(octets.dropFirst(16)))
    }

    fileprivate var octets: [UInt8] { high.octets + low.octets }
}
#endif
