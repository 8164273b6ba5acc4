import BLECore

/// The functions of LE legacy pairing, under the specification's names (Core Specification 5.4, Vol 3, Part
/// H, 2.2).
extension SecurityToolbox {
    /// The security function (2.2.1).
    package func e(_ key: UInt128, _ plaintext: UInt128) -> UInt128 { aes128(plaintext, key: key) }

    /// The random address hash function: 24 bits (2.2.2).
    package func ah(_ k: UInt128, _ r: UInt32) -> UInt32 {
        UInt32(truncatingIfNeeded: e(k, UInt128(r & 0xff_ffff)) & 0xff_ffff)
    }

    /// The confirm value of a random number, which binds it to the features and addresses of both (2.2.3).
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

    /// The key of two random numbers, the responder's first (2.2.4).
    package func s1(_ k: UInt128, _ r1: UInt128, _ r2: UInt128) -> UInt128 {
        let half = UInt128(UInt64.max)
        return e(k, (r1 & half) << 64 | r2 & half)
    }
}

extension PairingFeatures {
    /// The packet's seven octets as a number: its code is the least significant of them.
    fileprivate func number(_ code: SMPCode) -> UInt128 {
        encoded.reversed().reduce(0) { $0 << 8 | UInt128($1) } << 8 | UInt128(code.rawValue)
    }
}
