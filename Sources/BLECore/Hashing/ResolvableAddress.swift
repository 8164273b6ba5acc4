/// Resolvable private addresses (Core Specification 5.4, Vol 6, Part B, 1.3.2.2): the two bits of the kind,
/// then 22 random bits, then 24 bits of their hash under an identity resolving key.
extension DeviceAddress {
    /// Returns the resolvable private address with 22 random bits under a key.
    ///
    /// The random bits must not be all ones or all zeros; the nearest allowed value replaces them.
    package static func resolvable(_ random: UInt32, key: some BlockCipher) -> DeviceAddress {
        let bits = min(max(random & 0x3f_ffff, 1), 0x3f_fffe)
        let part = 0x40_0000 | bits
        return DeviceAddress(UInt64(part) << 24 | UInt64(key.addressHash(part)), type: .random)
    }

    /// Returns whether this is a resolvable private address that was generated with the key.
    package func isResolved(by key: some BlockCipher) -> Bool {
        kind == .resolvable
            && key.addressHash(UInt32(truncatingIfNeeded: value >> 24))
                == UInt32(truncatingIfNeeded: value & 0xff_ffff)
    }
}

extension BlockCipher {
    /// Returns the 24-bit result of the random address hash function, ah (Core Specification 5.4, Vol 3, Part
    /// H, 2.2.2).
    package func addressHash(_ random: UInt32) -> UInt32 {
        UInt32(truncatingIfNeeded: encrypt(UInt128(random & 0xff_ffff)) & 0xff_ffff)
    }
}
