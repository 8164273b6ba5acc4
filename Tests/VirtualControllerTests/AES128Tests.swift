import Testing

@testable import VirtualController

@Suite struct AES128Tests {
    /// FIPS 197, appendices B and C.1; Core Specification 5.4, Vol 6, Part C, 1.1 (session key).
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
    func vectors(_ key: UInt128, _ block: UInt128, _ cipher: UInt128) {
        #expect(AES128(key: key).encrypt(block) == cipher)
    }
}
