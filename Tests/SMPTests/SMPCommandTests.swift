import BLECore
import SMP
import TestSupport
import Testing

/// Messages with their octets, one in each row (Core Specification 5.4, Vol 3, Part H, 3.5 and 3.6).
private let messages: [(String, SMPCommand)] = [
    (
        "01 03 00 01 10 07 07",
        .pairingRequest(
            PairingFeatures(
                ioCapability: .noInputNoOutput, authentication: .bonding,
                initiatorKeys: [.encryption, .identity, .signing],
                responderKeys: [.encryption, .identity, .signing]))
    ),
    (
        "02 04 01 3d 07 0a 02",
        .pairingResponse(
            PairingFeatures(
                ioCapability: .keyboardDisplay, oobData: .present,
                authentication: [.bonding, .mitm, .secureConnections, .keypress, .ct2], maximumKeySize: 7,
                initiatorKeys: [.identity, .link], responderKeys: .identity))
    ),
    // Values that the specification reserves are kept.
    (
        "01 7f 02 c2 ff f0 80",
        .pairingRequest(
            PairingFeatures(
                ioCapability: IOCapability(rawValue: 0x7f), oobData: OOBData(rawValue: 2),
                authentication: AuthenticationRequirements(rawValue: 0xc2), maximumKeySize: 255,
                initiatorKeys: KeyDistribution(rawValue: 0xf0), responderKeys: KeyDistribution(rawValue: 0x80)
            ))
    ),
    // The result of the c1 sample, 2.2.3.
    (
        "03 86 3b f1 be c5 4d a7 d2 ea 88 89 87 ef 3f 1e 1e",
        .pairingConfirm(0x1e1e_3fef_8789_88ea_d2a7_4dc5_bef1_3b86)
    ),
    (
        "04 e0 2e 70 c6 4e 27 88 63 0e 6f ad 56 21 d5 83 57",
        .pairingRandom(0x5783_d521_56ad_6f0e_6388_274e_c670_2ee0)
    ),
    ("05 05", .pairingFailed(.pairingNotSupported)),
    ("05 10", .pairingFailed(.busy)),
    ("05 ee", .pairingFailed(PairingFailureReason(rawValue: 0xee))),
    (
        "06 0f0e0d0c0b0a09080706050403020100",
        .encryptionInformation(longTermKey: 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f)
    ),
    ("07 74 24 ac 23 11 f0 0d be ef 01", .centralIdentification(ediv: 0x2474, random: 0x01ef_be0d_f011_23ac)),
    (
        "08 9b7d39056b2d4f1289eb90d0f8bef4ec",
        .identityInformation(identityResolvingKey: 0xecf4_bef8_d090_eb89_124f_2d6b_0539_7d9b)
    ),
    ("09 01 06 05 04 03 02 c1", .identityAddressInformation(DeviceAddress(0xc102_0304_0506, type: .random))),
    ("09 00 06 05 04 03 02 01", .identityAddressInformation(DeviceAddress(0x0102_0304_0506, type: .public))),
    ("0a ffffffffffffffff0000000000000000", .signingInformation(signatureKey: 0xffff_ffff_ffff_ffff)),
    ("0b 0d", .securityRequest([.bonding, .mitm, .secureConnections])),
    // The debug key of 2.3.5.6.1.
    (
        "0c e69d350e480103ccdbfdf4ac1191f4efb9a5f9e9a7832c5e2cbe97f2d203b020"
            + "8bd28915d08e1c742430ed8fc24563765c15525abf9a32636deb2a65499c80dc",
        .pairingPublicKey(
            PairingPublicKey(
                x: .init(
                    high: 0x20b0_03d2_f297_be2c_5e2c_83a7_e9f9_a5b9,
                    low: 0xeff4_9111_acf4_fddb_cc03_0148_0e35_9de6),
                y: .init(
                    high: 0xdc80_9c49_652a_eb6d_6332_9abf_5a52_155c,
                    low: 0x7663_45c2_8fed_3024_741c_8ed0_1589_d28b)))
    ),
    ("0d 01000000000000000000000000000080", .pairingDHKeyCheck(0x8000_0000_0000_0000_0000_0000_0000_0001)),
    ("0e 04", .pairingKeypressNotification(.completed)),
    ("0e 77", .pairingKeypressNotification(KeypressNotification(rawValue: 0x77))),
]

@Test(arguments: messages)
func everyMessageRoundTrips(text: String, command: SMPCommand) throws {
    let bytes = octets(text)
    #expect(try SMPCommand(bytes) == command)
    #expect(command.encoded == bytes)
    #expect(command.encodedCount == bytes.count)
    #expect(command.code.rawValue == bytes.first)
    for count in bytes.indices {
        #expect(throws: DecodeError.self) { try SMPCommand([UInt8](bytes.prefix(count))) }
    }
    #expect(throws: DecodeError.self) { try SMPCommand(bytes + [0]) }
}

@Test func samplesCoverAllFourteenCodes() {
    let covered = Set(messages.map(\.1.code.rawValue))
    #expect(covered == Set(0x01...0x0e))
}

@Test func reservedCodesAndAddressTypesAreRefused() {
    for code in [UInt8(0x00), 0x0f, 0x80, 0xff] {
        let expected = DecodeError(
            packet: "SMP packet", field: "code", offset: 0, reason: .invalid(value: UInt64(code)))
        #expect(throws: expected) { try SMPCommand([code, 0, 0]) }
    }
    let expected = DecodeError(
        packet: "SMP packet", field: "address type", offset: 1, reason: .invalid(value: 2))
    #expect(throws: expected) { try SMPCommand([9, 2, 1, 2, 3, 4, 5, 6]) }
}

@Test func valuesPrintNamesOrNumbers() {
    #expect("\(SMPCode.pairingDHKeyCheck)" == "Pairing DHKey Check")
    #expect("\(SMPCode(rawValue: 0x0f))" == "0x0f")
    #expect("\(PairingFailureReason.pairingNotSupported)" == "Pairing Not Supported")
    #expect("\(PairingFailureReason.busy)" == "Busy")
    #expect("\(PairingFailureReason(rawValue: 0))" == "0x00")
    #expect("\(PairingFailureReason(rawValue: 0x11))" == "0x11")
    #expect("\(IOCapability.keyboardDisplay)" == "KeyboardDisplay")
    #expect("\(IOCapability(rawValue: 5))" == "0x05")
}

@Test func randomOctetsRoundTripWhenDecoded() {
    var random = SplitMix64(seed: 0x5eed)
    var decoded = 0
    for _ in 0..<20_000 {
        var bytes = random.bytes(upTo: 20)
        if let first = bytes.first { bytes[0] = first & 0x0f }
        guard let command = try? SMPCommand(bytes) else { continue }
        decoded += 1
        #expect(command.encoded == bytes)
    }
    #expect(decoded > 500)
}
