#if SecurityManager
import BLECore
import SMP
import TestSupport
import Testing

/// Returns the toolbox under test. The sample data are those of the Core Specification 5.4: Vol 3, Part H,
/// 2.2.3, 2.2.4 and Appendix D; Vol 2, Part G, 7.1.2.
private func toolbox() throws -> any SecurityToolbox { try #require(SecurityManager.defaultToolbox) }

private func number(_ hex: String) throws -> UInt128 {
    octets(hex).reduce(0) { $0 << 8 | UInt128($1) }
}

private func wide(_ hex: String) throws -> PairingPublicKey.Coordinate {
    PairingPublicKey.Coordinate(
        high: try number(String(hex.prefix(32))), low: try number(String(hex.dropFirst(32))))
}

private let publicA = "20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6"
private let publicB = "55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd"
private let secret = "ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698"
private let n1 = "d5cb8454d177733effffb2ec712baeab"
private let n2 = "a6e8e7cc25a75f6e216583f7ff3dc4cf"
private let a1 = DeviceAddress(0x5612_3737_bfce, type: .public)
private let a2 = DeviceAddress(0xa713_702d_cfc1, type: .public)

/// FIPS 197, appendix C.1. Swapped arguments would give another block.
@Test func eIsAES128() throws {
    let key = try number("000102030405060708090a0b0c0d0e0f")
    let text = try number("00112233445566778899aabbccddeeff")
    #expect(try toolbox().e(key, text) == number("69c4e0d86a7b0430d8cdb78070b4c55a"))
}

/// D.1: the messages of RFC 4493.
@Test(arguments: [
    (0, "bb1d6929e95937287fa37d129b756746"), (16, "070a16b46b4d4144f79bdd9dd04a287c"),
    (40, "dfa66747de9ae63030ca32611497c827"), (64, "51f0bebf7e3b9d92fc49741779363cfe"),
])
func aesCMACMatchesVectors(octets: Int, code: String) throws {
    let message = try #require(
        [UInt8](
            hex: "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"))
    let key = try number("2b7e151628aed2a6abf7158809cf4f3c")
    #expect(try toolbox().aesCMAC([UInt8](message.prefix(octets)), key: key) == number(code))
}

@Test func legacyFunctionsMatchSamples() throws {
    let toolbox = try toolbox()
    let request = PairingFeatures(
        ioCapability: .displayYesNo, authentication: [], maximumKeySize: 16,
        initiatorKeys: KeyDistribution(rawValue: 7), responderKeys: KeyDistribution(rawValue: 7))
    let response = PairingFeatures(
        ioCapability: .noInputNoOutput, authentication: [], maximumKeySize: 8, initiatorKeys: [],
        responderKeys: KeyDistribution(rawValue: 5))
    let confirm = toolbox.c1(
        0, try number("5783D52156AD6F0E6388274EC6702EE0"), request: request, response: response,
        initiator: DeviceAddress(0xa1a2_a3a4_a5a6, type: .random),
        responder: DeviceAddress(0xb1b2_b3b4_b5b6, type: .public))
    #expect(try confirm == number("1e1e3fef878988ead2a74dc5bef13b86"))
    let key = toolbox.s1(
        0, try number("000F0E0D0C0B0A091122334455667788"), try number("010203040506070899AABBCCDDEEFF00"))
    #expect(try key == number("9a1fe1f0e8b0f49b5b4216ae796da062"))
    // D.7
    #expect(toolbox.ah(try number("ec0234a357c8ad05341010a60a397d9b"), 0x708194) == 0x0dfbaa)
}

@Test func secureConnectionsFunctionsMatchSamples() throws {
    let toolbox = try toolbox()
    // D.2
    let confirm = toolbox.f4(try wide(publicA), try wide(publicB), try number(n1), 0)
    #expect(try confirm == number("f2c916f107a9bd1cf1eda1bea974872d"))
    // D.3
    let keys = toolbox.f5(try wide(secret), try number(n1), try number(n2), a1, a2)
    #expect(try keys.longTermKey == number("6986791169d7cd23980522b594750a38"))
    #expect(try keys.macKey == number("2965f176a1084a02fd3f6a20ce636e20"))
    // D.4
    let features = PairingFeatures(
        ioCapability: .keyboardOnly, oobData: .present,
        authentication: AuthenticationRequirements(rawValue: 1))
    let check = toolbox.f6(
        keys.macKey, try number(n1), try number(n2), try number("12a3343bb453bb5408da42d20c2d0fc8"), features,
        a1,
        a2)
    #expect(try check == number("e3c473989cd0e8c5d26c0b09da958f61"))
    // D.5
    #expect(
        toolbox.g2(try wide(publicA), try wide(publicB), try number(n1), try number(n2)) == 0x2f9e_d5ba)
}

@Test func keyDerivationMatchesSamples() throws {
    let toolbox = try toolbox()
    let key = try number("ec0234a357c8ad05341010a60a397d9b")
    // D.6 and D.8
    #expect(try toolbox.h6(key, 0x6c65_6272) == number("2d9ae102e76dc91ce8d3a9e280b16399"))
    #expect(try toolbox.h7(0x746d_7031, key) == number("fb173597c6a3c0ecd2998c2a75a57011"))
    // D.9 to D.12: h6 with "lebr" or "brle", of a key that h7 derives with the salt, or h6 with the key ID,
    // "tmp1" or "tmp2".
    let long = try number("368df9bce3264b58bd066c33334fbf64")
    #expect(
        try toolbox.h6(toolbox.h7(0x746d_7031, long), 0x6c65_6272)
            == number("287ad379dca402530a39f1f43047b835"))
    #expect(
        try toolbox.h6(toolbox.h6(long, 0x746d_7031), 0x6c65_6272)
            == number("bc1ca4ef633fc1bd0d8230afee388fb0"))
    let link = try number("05040302010009080706050403020100")
    #expect(
        try toolbox.h6(toolbox.h7(0x746d_7032, link), 0x6272_6c65)
            == number("e85e09eb5eccb3e269418a133211bc79"))
    #expect(
        try toolbox.h6(toolbox.h6(link, 0x746d_7032), 0x6272_6c65)
            == number("a813fb72f1a3dfa18a2c9a43f10d0a30"))
}

private struct KeyAgreement {
    let privateA, privateB, publicAX, publicAY, publicBX, publicBY, dhKey: String
}

private let agreements = [
    KeyAgreement(
        privateA: "3f49f6d4a3c55f3874c9b3e3d2103f504aff607beb40b7995899b8a6cd3c1abd",
        privateB: "55188b3d32f6bb9a900afcfbeed4e72a59cb9ac2f19d7cfb6b4fdd49f47fc5fd",
        publicAX: publicA, publicAY: "dc809c49652aeb6d63329abf5a52155c766345c28fed3024741c8ed01589d28b",
        publicBX: "1ea1f0f01faf1d9609592284f19e4c0047b58afd8615a69f559077b22faaa190",
        publicBY: "4c55f33e429dad377356703a9ab85160472d1130e28e36765f89aff915b1214a", dhKey: secret),
    KeyAgreement(
        privateA: "06a516693c9aa31a6084545d0c5db641b48572b97203ddffb7ac73f7d0457663",
        privateB: "529aa0670d72cd6497502ed473502b037e8803b5c60829a5a3caa219505530ba",
        publicAX: "2c31a47b5779809ef44cb5eaaf5c3e43d5f8faad4a8794cb987e9b03745c78dd",
        publicAY: "919512183898dfbecd52e2408e43871fd021109117bd3ed4eaf8437743715d4f",
        publicBX: "f465e43ff23d3f1b9dc7dfc04da8758184dbc966204796eccf0d6cf5e16500cc",
        publicBY: "0201d048bcbbd899eeefc424164e33c201c2b010ca6b4d43a8a155cad8ecb279",
        dhKey: "ab85843a2f6d883f62e5684b38e307335fe6e1945ecd19604105c6f23221eb69"),
]

@Test(arguments: agreements)
private func keyAgreementMatchesSamples(sample: KeyAgreement) throws {
    let toolbox = try toolbox()
    let a = try #require(toolbox.keyPair(try wide(sample.privateA)))
    let b = try #require(toolbox.keyPair(try wide(sample.privateB)))
    #expect(try a.publicKey == PairingPublicKey(x: wide(sample.publicAX), y: wide(sample.publicAY)))
    #expect(try b.publicKey == PairingPublicKey(x: wide(sample.publicBX), y: wide(sample.publicBY)))
    #expect(try toolbox.sharedSecret(of: a, with: b.publicKey) == wide(sample.dhKey))
    #expect(try toolbox.sharedSecret(of: b, with: a.publicKey) == wide(sample.dhKey))
}

/// 2.3.5.6.1: the debug key is that of the first sample.
@Test func debugKeyMatchesSpecification() throws {
    let pair = try #require(toolbox().keyPair(try wide(agreements[0].privateA)))
    #expect(pair.publicKey == .debug)
}

@Test func invalidPointsAndPrivateKeysAreRefused() throws {
    let toolbox = try toolbox()
    let pair = try #require(toolbox.keyPair(try wide(agreements[0].privateB)))
    var moved = PairingPublicKey.debug
    moved.y.low ^= 1
    var onAxis = PairingPublicKey.debug
    onAxis.y = .init(high: 0, low: 0)
    let zero = PairingPublicKey(x: .init(high: 0, low: 0), y: .init(high: 0, low: 0))
    let beyond = PairingPublicKey(x: .init(high: .max, low: .max), y: .init(high: .max, low: .max))
    for point in [moved, onAxis, zero, beyond] {
        #expect(toolbox.sharedSecret(of: pair, with: point) == nil)
    }
    // The order of the group is the first number that is too large.
    #expect(toolbox.keyPair(.init(high: 0, low: 0)) == nil)
    let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
    #expect(toolbox.keyPair(try wide(order)) == nil)
    var largest = try wide(order)
    largest.low -= 1
    #expect(toolbox.keyPair(largest) != nil)
}
#endif
