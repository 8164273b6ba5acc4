import BLECore

/// The cryptographic primitives of pairing (Core Specification 5.4, Vol 3, Part H, 2.2 and Vol 2, Part H,
/// 7.6). The most significant octet of a number is the octet that the specification prints first. The
/// functions of pairing itself, `c1` to `h7`, are built on these four.
package protocol SecurityToolbox: Sendable {
    /// Returns the AES-128 cipher with a key.
    func aes128(key: UInt128) -> any BlockCipher

    /// Returns the AES-CMAC of a message (RFC 4493).
    func aesCMAC(_ message: [UInt8], key: UInt128) -> UInt128

    /// Returns the P-256 key pair of a private key; nil if it is not in the range of private keys, which
    /// happens for one of 2^32 random numbers.
    func keyPair(_ privateKey: PairingPublicKey.Coordinate) -> PairingKeyPair?

    /// Returns the X coordinate of the point that both devices compute, DHKey; nil if the peer's public key
    /// is not a point on the curve, which an attacker would send to learn the private key.
    func sharedSecret(of own: PairingKeyPair, with peer: PairingPublicKey) -> PairingPublicKey.Coordinate?
}

/// A private key and the corresponding public key.
package struct PairingKeyPair: Hashable, Sendable {
    /// The private key, which must not leave this host.
    package var privateKey: PairingPublicKey.Coordinate
    /// The public key, which is sent to the peer.
    package var publicKey: PairingPublicKey

    /// Creates a pair from the result of `SecurityToolbox.keyPair(_:)`.
    package init(privateKey: PairingPublicKey.Coordinate, publicKey: PairingPublicKey) {
        self.privateKey = privateKey
        self.publicKey = publicKey
    }
}

extension SecurityToolbox {
    /// Generates a key pair; returns nil if `generator` yields no valid private key in eight attempts.
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
    /// The public debug key, whose private key the specification publishes so that sniffers can decrypt a
    /// link. It protects nothing (2.3.5.6.1).
    package static let debug = PairingPublicKey(
        x: Coordinate(
            high: 0x20b0_03d2_f297_be2c_5e2c_83a7_e9f9_a5b9, low: 0xeff4_9111_acf4_fddb_cc03_0148_0e35_9de6),
        y: Coordinate(
            high: 0xdc80_9c49_652a_eb6d_6332_9abf_5a52_155c, low: 0x7663_45c2_8fed_3024_741c_8ed0_1589_d28b))
}

/// The functions of LE legacy pairing, under the specification's names (Core Specification 5.4, Vol 3, Part
/// H, 2.2).
extension SecurityToolbox {
    /// Returns the security function e: AES-128 (2.2.1).
    package func e(_ key: UInt128, _ plaintext: UInt128) -> UInt128 { aes128(key: key).encrypt(plaintext) }

    /// Returns the random address hash function, 24 bits (2.2.2).
    package func ah(_ k: UInt128, _ r: UInt32) -> UInt32 {
        aes128(key: k).addressHash(r)
    }

    /// Returns the confirm value of a random number, which binds it to the features and addresses of both
    /// devices (2.2.3).
    package func c1(
        _ k: UInt128, _ r: UInt128, request: PairingFeatures, response: PairingFeatures,
        initiator: DeviceAddress, responder: DeviceAddress
    ) -> UInt128 {
        let types = UInt128(responder.type.rawValue) << 8 | UInt128(initiator.type.rawValue)
        let p1 =
            response.number(.pairingResponse) << 72 | request.number(.pairingRequest) << 16 | types
        let p2 = UInt128(initiator.value) << 48 | UInt128(responder.value)
        return e(k, e(k, r ^ p1) ^ p2)
    }

    /// Returns the short term key of two random numbers, the responder's first (2.2.4).
    package func s1(_ k: UInt128, _ r1: UInt128, _ r2: UInt128) -> UInt128 {
        let half = UInt128(UInt64.max)
        return e(k, (r1 & half) << 64 | r2 & half)
    }
}

extension PairingFeatures {
    /// Returns the seven octets of the packet as a number, with the code as the least significant octet.
    fileprivate func number(_ code: SMPCode) -> UInt128 {
        encoded.reversed().reduce(0) { $0 << 8 | UInt128($1) } << 8 | UInt128(code.rawValue)
    }
}

/// The functions of LE Secure Connections, under the specification's names (Core Specification 5.4, Vol 3,
/// Part H, 2.2.6 to 2.2.11).
extension SecurityToolbox {
    /// Returns the confirm value of a random number X, which binds it to two public keys (2.2.6).
    package func f4(
        _ u: PairingPublicKey.Coordinate, _ v: PairingPublicKey.Coordinate, _ x: UInt128, _ z: UInt8
    ) -> UInt128 {
        var message = Message()
        message.append(u)
        message.append(v)
        message.append(z)
        return aesCMAC(message.octets, key: x)
    }

    /// Returns the key for the check values and the long term key, both derived from the Diffie-Hellman key W
    /// (2.2.7).
    package func f5(
        _ w: PairingPublicKey.Coordinate, _ n1: UInt128, _ n2: UInt128, _ a1: DeviceAddress,
        _ a2: DeviceAddress
    ) -> (macKey: UInt128, longTermKey: UInt128) {
        var secret = Message()
        secret.append(w)
        let t = aesCMAC(secret.octets, key: 0x6c88_8391_aaf5_a538_6037_0bdb_5a60_83be)
        func key(_ counter: UInt8) -> UInt128 {
            var message = Message()
            message.append(counter)
            message.append(KeyID.btle)
            message.append(n1)
            message.append(n2)
            message.append(a1)
            message.append(a2)
            message.append(UInt16(256))
            return aesCMAC(message.octets, key: t)
        }
        return (key(0), key(1))
    }

    /// Returns the check value of one device (2.2.8). `features` are the features that this device sent; the
    /// check includes three octets of them.
    package func f6(
        _ w: UInt128, _ n1: UInt128, _ n2: UInt128, _ r: UInt128, _ features: PairingFeatures,
        _ a1: DeviceAddress, _ a2: DeviceAddress
    ) -> UInt128 {
        var message = Message()
        message.append(n1)
        message.append(n2)
        message.append(r)
        message.append(features.authentication.rawValue)
        message.append(features.oobData.rawValue)
        message.append(features.ioCapability.rawValue)
        message.append(a1)
        message.append(a2)
        return aesCMAC(message.octets, key: w)
    }

    /// Returns the number whose six lowest digits both users compare (2.2.9).
    package func g2(
        _ u: PairingPublicKey.Coordinate, _ v: PairingPublicKey.Coordinate, _ x: UInt128, _ y: UInt128
    ) -> UInt32 {
        var message = Message()
        message.append(u)
        message.append(v)
        message.append(y)
        return UInt32(truncatingIfNeeded: aesCMAC(message.octets, key: x))
    }

    /// Derives a key for another purpose from a key (2.2.10), such as a key for the other transport, BR/EDR.
    /// This library does not derive such keys.
    package func h6(_ w: UInt128, _ keyID: UInt32) -> UInt128 {
        var message = Message()
        message.append(keyID)
        return aesCMAC(message.octets, key: w)
    }

    /// Derives a key like `h6`, with a salt in place of the key ID (2.2.11).
    package func h7(_ salt: UInt128, _ w: UInt128) -> UInt128 {
        var message = Message()
        message.append(w)
        return aesCMAC(message.octets, key: salt)
    }
}

/// Key IDs, which consist of four letters each.
private enum KeyID {
    fileprivate static let btle: UInt32 = 0x6274_6c65
}

/// The message for AES-CMAC: concatenated fields, most significant octet first.
private struct Message {
    var octets: [UInt8] = []

    mutating func append(_ value: some FixedWidthInteger & UnsignedInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            octets.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    mutating func append(_ value: PairingPublicKey.Coordinate) {
        append(value.high)
        append(value.low)
    }

    /// Appends the address type, then the 48 bits of the address.
    mutating func append(_ address: DeviceAddress) {
        append(UInt64(address.type.rawValue) << 48 | address.value, octets: 7)
    }

    private mutating func append(_ value: UInt64, octets count: Int) {
        for index in (0..<count).reversed() {
            octets.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index)))
        }
    }
}

extension SecurityManager {
    /// The toolbox based on swift-crypto; nil in a build without the package's trait `SecurityManager`, which
    /// does not pair.
    package static var defaultToolbox: (any SecurityToolbox)? {
        #if SecurityManager
        SwiftCryptoToolbox()
        #else
        nil
        #endif
    }

    /// Returns the AES-128 cipher with a key that pairing distributes, from the toolbox if there is one.
    package static func aes128(key: UInt128) -> any BlockCipher {
        defaultToolbox?.aes128(key: key) ?? AES128(key: key)
    }

    /// Returns the AES-CMAC of a message with a key that pairing distributes, from the toolbox if there is
    /// one.
    @Sendable package static func aesCMAC(_ message: [UInt8], key: UInt128) -> UInt128 {
        defaultToolbox?.aesCMAC(message, key: key) ?? AESCMAC.code(of: message, key: key)
    }
}
