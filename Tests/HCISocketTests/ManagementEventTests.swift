import BLECore
import HCI
import HCISocket
import TestSupport
import Testing

private let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
private let phone = DeviceAddress(0x0011_2233_4455, type: .public)

/// One row per event: its code, its parameters and the decoded event.
private let events: [(code: UInt16, parameters: String, ManagementEvent)] = [
    (0x0004, "", .added),
    (0x0005, "", .removed),
    (0x0006, "410a0000", .settings([.powered, .secureSimplePairing, .lowEnergy, .secureConnections])),
    (
        0x000a, "01 0605040302c1 02 00 01 10 3412 efcdab8967452301 0f0e0d0c0b0a09080706050403020100",
        .newLongTermKey(
            Management.LongTermKey(
                peer: lamp, kind: .unauthenticated, isForCentral: true, ediv: 0x1234,
                random: 0x0123_4567_89ab_cdef, value: 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f),
            isKept: true)
    ),
    (
        0x000a, "00 554433221100 01 03 00 10 0000 0000000000000000 ffffffffffffffff0000000000000000",
        .newLongTermKey(
            Management.LongTermKey(peer: phone, kind: .authenticatedP256, value: 0xffff_ffff_ffff_ffff),
            isKept: false)
    ),
    (0x000c, "554433221100 01 04", .disconnected(phone, reason: 4)),
    (0x000f, "0605040302c1 02 00 3fd90300", .confirmationRequest(lamp, isPlain: false, value: 252_223)),
    (0x000f, "0605040302c1 02 01 00000000", .confirmationRequest(lamp, isPlain: true, value: 0)),
    (0x0010, "0605040302c1 02", .passkeyRequest(lamp)),
    (0x0011, "0605040302c1 02 05", .authenticationFailed(lamp, .authenticationFailed)),
    (0x0016, "554433221100 01", .unpaired(phone)),
    (0x0017, "554433221100 01 40e20100 03", .passkeyNotify(phone, 123_456, entered: 3)),
    (
        0x0018, "01 aabbcc112244 0605040302c1 02 9b7d39056b2d4f1289eb90d0f8bef4ec",
        .newIdentityKey(
            Management.IdentityKey(peer: lamp, value: 0xecf4_bef8_d090_eb89_124f_2d6b_0539_7d9b),
            resolved: DeviceAddress(0x4422_11cc_bbaa, type: .random), isKept: true)
    ),
    (
        0x0018, "00 000000000000 554433221100 01 01000000000000000000000000000000",
        .newIdentityKey(Management.IdentityKey(peer: phone, value: 1), resolved: nil, isKept: false)
    ),
    (
        0x0019, "01 0605040302c1 02 00 01000000000000000000000000000000",
        .newSigningKey(
            Management.SigningKey(peer: lamp, isLocal: true, isAuthenticated: false, value: 1), isKept: true)
    ),
    (
        0x0019, "01 0605040302c1 02 03 01000000000000000000000000000000",
        .newSigningKey(
            Management.SigningKey(peer: lamp, isLocal: false, isAuthenticated: true, value: 1), isKept: true)
    ),
    (0x002d, "", .suspended),
    (0x002e, "", .resumed),
    // Events that are not used here, or that concern BR/EDR.
    (0x0007, "", .other(0x0007)),
    (0x0011, "554433221100 00", .other(0x0011)),
    (0xffff, "", .other(0xffff)),
]

@Test("every management event decodes", arguments: events)
func managementEventDecodes(code: UInt16, text: String, event: ManagementEvent) throws {
    let bytes = octets(text)
    func read(_ parameters: [UInt8]) throws -> ManagementEvent {
        try ManagementEvent(Management.Packet(code: code, index: 0, parameters: parameters))
    }
    #expect(try read(bytes) == event)
    // A later kernel may append parameters.
    #expect(try read(bytes + [0xff]) == event)
    for count in bytes.indices {
        #expect(throws: DecodeError.self) { try read([UInt8](bytes.prefix(count))) }
    }
}

@Test("unknown address and key types are refused")
func unknownManagementEventTypesAreRefused() {
    let wrong: [(UInt16, [UInt8])] = [
        (0x0010, [1, 2, 3, 4, 5, 6, 3]),
        (0x000a, [1] + [1, 2, 3, 4, 5, 6, 0] + [UInt8](repeating: 0, count: 29)),
        (0x0019, [1] + [1, 2, 3, 4, 5, 6, 1, 4] + [UInt8](repeating: 0, count: 16)),
    ]
    for (code, parameters) in wrong {
        #expect(throws: DecodeError.self) {
            try ManagementEvent(Management.Packet(code: code, index: 0, parameters: parameters))
        }
    }
}
