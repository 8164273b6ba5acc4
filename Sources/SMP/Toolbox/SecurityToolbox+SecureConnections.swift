import BLECore

/// The functions of LE Secure Connections, under the specification's names (Core Specification 5.4, Vol 3,
/// Part H, 2.2.6 to 2.2.11).
extension SecurityToolbox {
    /// The confirm value of a random number X, which binds it to two public keys (2.2.6).
    package func f4(
        _ u: PairingPublicKey.Coordinate, _ v: PairingPublicKey.Coordinate, _ x: UInt128, _ z: UInt8
    ) -> UInt128 {
        var message = Message()
        message.append(u)
        message.append(v)
        message.append(z)
        return aesCMAC(message.octets, key: x)
    }

    /// The key that the check is made with, and the long term key, of the Diffie-Hellman key W (2.2.7).
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

    /// The check value of one end (2.2.8). `features` are what that end sent, of which the check has three
    /// octets.
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

    /// The number whose six lowest digits both users compare (2.2.9).
    package func g2(
        _ u: PairingPublicKey.Coordinate, _ v: PairingPublicKey.Coordinate, _ x: UInt128, _ y: UInt128
    ) -> UInt32 {
        var message = Message()
        message.append(u)
        message.append(v)
        message.append(y)
        return UInt32(truncatingIfNeeded: aesCMAC(message.octets, key: x))
    }

    /// The key of another purpose (2.2.10). Keys for the other transport are made with it; this library makes
    /// none.
    package func h6(_ w: UInt128, _ keyID: UInt32) -> UInt128 {
        var message = Message()
        message.append(keyID)
        return aesCMAC(message.octets, key: w)
    }

    /// The same with a salt in place of the name (2.2.11).
    package func h7(_ salt: UInt128, _ w: UInt128) -> UInt128 {
        var message = Message()
        message.append(w)
        return aesCMAC(message.octets, key: salt)
    }
}

/// Names of keys, four letters each.
private enum KeyID {
    static let btle: UInt32 = 0x6274_6c65
}

/// What AES-CMAC is asked about: fields one after the other, most significant octet first.
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

    /// The type, then the 48 bits.
    mutating func append(_ address: DeviceAddress) {
        append(UInt64(address.type.rawValue) << 48 | address.value, octets: 7)
    }

    private mutating func append(_ value: UInt64, octets count: Int) {
        for index in (0..<count).reversed() {
            octets.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index)))
        }
    }
}
