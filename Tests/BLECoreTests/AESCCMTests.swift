import BLECore
import TestSupport
import Testing

@Suite struct AESCCMTests {
    /// RFC 3610, 8, packet vectors 1, 2 and 7: nonce, encrypted message, tag, plain text.
    static let vectors = [
        (
            "00000003020100a0a1a2a3a4a5", "588c979a61c663d2f066d0c2c0f989806d5f6b61dac384",
            "17e8d12cfdf926e0",
            "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e"
        ),
        (
            "00000004030201a0a1a2a3a4a5", "72c91a36e135f8cf291ca894085c87e3cc15c439c9e43a3b",
            "a091d56e10400916", "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
        ),
        (
            "00000009080706a0a1a2a3a4a5", "0135d1b2c95f41d5d1d4fec185d166b8094e999dfed96c",
            "048c56602c97acbb7490", "08090a0b0c0d0e0f101112131415161718191a1b1c1d1e"
        ),
    ]
    private let ccm = AESCCM(key: 0xc0c1_c2c3_c4c5_c6c7_c8c9_cacb_cccd_cecf)
    private let open = octets("0001020304050607")

    @Test(arguments: Self.vectors)
    func decryptsRFC3610Vectors(_ nonce: String, _ message: String, _ tag: String, _ plain: String) {
        let opened = ccm.open(octets(message), tag: octets(tag), nonce: octets(nonce), authenticating: open)
        #expect(opened?.hex == plain)
    }

    @Test func alteredInputFailsAuthentication() {
        let (nonce, message, tag, _) = Self.vectors[0]
        func opened(_ message: [UInt8], _ tag: [UInt8], _ nonce: [UInt8], _ data: [UInt8]) -> [UInt8]? {
            ccm.open(message, tag: tag, nonce: nonce, authenticating: data)
        }
        var (m, t, n, d) = (octets(message), octets(tag), octets(nonce), open)
        m[0] ^= 1
        #expect(opened(m, t, n, d) == nil)
        m[0] ^= 1
        t[7] ^= 0x80
        #expect(opened(m, t, n, d) == nil)
        t[7] ^= 0x80
        n[12] ^= 1
        #expect(opened(m, t, n, d) == nil)
        n[12] ^= 1
        d[0] ^= 1
        #expect(opened(m, t, n, d) == nil)
    }

    @Test("decryption fails for lengths that RFC 3610 does not allow")
    func disallowedLengthsFailToDecrypt() {
        let (nonce, message, tag, _) = Self.vectors[0]
        for count in [0, 1, 2, 3, 5, 7] {
            let short = Array(octets(tag)[..<count])
            #expect(ccm.open(octets(message), tag: short, nonce: octets(nonce), authenticating: open) == nil)
        }
        #expect(ccm.open([], tag: octets(tag), nonce: Array(octets(nonce).dropLast())) == nil)
        let long = [UInt8](repeating: 0, count: 65_536)
        #expect(ccm.open(long, tag: octets(tag), nonce: octets(nonce)) == nil)
        #expect(ccm.open([], tag: octets(tag), nonce: octets(nonce), authenticating: long) == nil)
    }
}
