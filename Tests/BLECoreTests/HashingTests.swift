import BLECore
import Testing

struct HashingTests {
    /// FIPS 197, Appendix B and C.1; Core Specification 5.4, Vol 6, Part C, 1.1 (session key).
    @Test(
        arguments: [
            (
                0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c, 0x3243_f6a8_885a_308d_3131_98a2_e037_0734,
                0x3925_841d_02dc_09fb_dc11_8597_196a_0b32
            ),
            (
                0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f, 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff,
                0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a
            ),
            (
                0x4c68_3841_39f5_74d8_36bc_f34e_9dfb_01bf, 0x0213_2435_4657_6879_acbd_cedf_e0f1_0213,
                0x99ad_1b52_26a3_7e3e_058e_3b8e_27c2_c666
            ),
        ] as [(UInt128, UInt128, UInt128)])
    func aes128MatchesVectors(key: UInt128, plain: UInt128, cipher: UInt128) {
        #expect(AES128(key: key).encrypt(plain) == cipher)
    }

    /// Core Specification 5.4, Vol 3, Part H, Appendix D.7.
    @Test func resolvableAddressMatchesVector() {
        let key = AES128(key: 0xec02_34a3_57c8_ad05_3410_10a6_0a39_7d9b)
        #expect(key.addressHash(0x708194) == 0x0dfbaa)
        let address = DeviceAddress(0x7081_940d_fbaa, type: .random)
        #expect(address.isResolved(by: key))
        #expect(DeviceAddress.resolvable(0x308194, key: key) == address, "the kind takes two bits")
        #expect(!DeviceAddress(0x7081_940d_fbab, type: .random).isResolved(by: key))
        #expect(!DeviceAddress(0x7081_940d_fbaa, type: .public).isResolved(by: key))
        #expect(!address.isResolved(by: AES128(key: 0)))
        // The random part has neither all bits clear nor all bits set.
        #expect(DeviceAddress.resolvable(0, key: key).value >> 24 == 0x400001)
        #expect(DeviceAddress.resolvable(.max, key: key).value >> 24 == 0x7ffffe)
    }

    /// RFC 4493, 4; the same samples are in the Core Specification 5.4, Vol 3, Part H, Appendix D.1.
    @Test(
        arguments: [
            (0, 0xbb1d_6929_e959_3728_7fa3_7d12_9b75_6746), (16, 0x070a_16b4_6b4d_4144_f79b_dd9d_d04a_287c),
            (40, 0xdfa6_6747_de9a_e630_30ca_3261_1497_c827), (64, 0x51f0_bebf_7e3b_9d92_fc49_7417_7936_3cfe),
        ] as [(Int, UInt128)])
    func aesCMACMatchesVectors(count: Int, code: UInt128) throws {
        let message = try #require(
            [UInt8](
                hex: "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                    + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"))
        var mac = AESCMAC(key: 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c)
        mac.update(message[..<(count / 3)])
        mac.update(message[(count / 3)..<count])
        #expect(mac.finalize() == code)
    }
}
