import BLECore
import HCI
import HCISocket
import TestSupport
import Testing

private let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
private let phone = DeviceAddress(0x0011_2233_4455, type: .public)
private let value: UInt128 = 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f
private let valueOctets = "0f0e0d0c0b0a09080706050403020100"

/// Checks that the octets decode to `key`, that `key` encodes to them, and that fewer octets and one more are
/// refused.
private func check<Key: PacketCodable & Equatable>(_ text: String, _ key: Key) throws {
    let bytes = octets(text)
    #expect(try Key(bytes) == key)
    #expect(key.encodedCount == bytes.count)
    #expect(key.encoded == bytes)
    for wrong in bytes.indices.map({ [UInt8](bytes.prefix($0)) }) + [bytes + [0]] {
        #expect(throws: DecodeError.self) { try Key(wrong) }
    }
}

@Test("long term keys encode and decode: address, kind, role, size, EDIV, Rand and value")
func longTermKeysRoundTrip() throws {
    try check(
        "0605040302c1 02 01 01 07 3412 efcdab8967452301 \(valueOctets)",
        Management.LongTermKey(
            peer: lamp, kind: .authenticated, isForCentral: true, size: 7, ediv: 0x1234,
            random: 0x0123_4567_89ab_cdef, value: value))
    try check(
        "554433221100 01 02 00 10 0000 0000000000000000 \(valueOctets)",
        Management.LongTermKey(peer: phone, kind: .unauthenticatedP256, value: value))
}

@Test(
    "every kind of long term key round-trips, including unknown ones",
    arguments: UInt8.min...UInt8.max)
func longTermKeyKindsRoundTrip(number: UInt8) throws {
    let kind = Management.LongTermKey.Kind(rawValue: number)
    let key = Management.LongTermKey(peer: lamp, kind: kind, size: number, value: 1)
    let bytes = key.encoded
    #expect(bytes[7] == number && bytes[9] == number)
    #expect(try Management.LongTermKey(bytes) == key)
}

@Test("identity keys encode and decode: address and value")
func identityKeysRoundTrip() throws {
    try check("0605040302c1 02 \(valueOctets)", Management.IdentityKey(peer: lamp, value: value))
    try check(
        "554433221100 01 ffffffffffffffffffffffffffffffff", Management.IdentityKey(peer: phone, value: .max))
}

@Test("signing keys: the type encodes the owner and whether the pairing was authenticated")
func signingKeyTypesDecode() throws {
    for (type, isLocal, isAuthenticated) in [
        ("00", true, false), ("01", false, false), ("02", true, true), ("03", false, true),
    ] {
        let bytes = octets("0605040302c1 02 \(type) \(valueOctets)")
        #expect(
            try Management.SigningKey(bytes)
                == Management.SigningKey(
                    peer: lamp, isLocal: isLocal, isAuthenticated: isAuthenticated, value: value))
        for wrong in bytes.indices.map({ [UInt8](bytes.prefix($0)) }) + [bytes + [0]] {
            #expect(throws: DecodeError.self) { try Management.SigningKey(wrong) }
        }
    }
    #expect(
        throws: DecodeError(
            packet: "signing key of the kernel", field: "key type", offset: 7, reason: .invalid(value: 4))
    ) { try Management.SigningKey(octets("0605040302c1 02 04 \(valueOctets)")) }
}

@Test(
    "a key with a BR/EDR or unknown address type is refused with its location",
    arguments: [0, 3, 255] as [UInt8])
func invalidKeyAddressTypesAreRefused(type: UInt8) {
    func error(_ packet: String) -> DecodeError {
        DecodeError(packet: packet, field: "address type", offset: 6, reason: .invalid(value: UInt64(type)))
    }
    let octets: [UInt8] = [1, 2, 3, 4, 5, 6, type] + [UInt8](repeating: 0, count: 29)
    #expect(throws: error("long term key of the kernel")) { try Management.LongTermKey(octets) }
    #expect(throws: error("identity key of the kernel")) {
        try Management.IdentityKey(Array(octets.prefix(23)))
    }
    #expect(throws: error("signing key of the kernel")) {
        try Management.SigningKey(Array(octets.prefix(24)))
    }
}

@Test("the key count for a command size leaves room for the header and the count field")
func keyCountFitsCommandSize() {
    // The header has six octets and the count two. A long term key has 36, an identity key 23.
    for (octets, longTerm, identity) in [
        (-1, 0, 0), (0, 0, 0), (8, 0, 0), (30, 0, 0), (31, 0, 1), (43, 0, 1), (44, 1, 1), (1028, 28, 44),
        (8 + 36 * 1820, 1820, 2848), (65_534, 1820, 2848), (65_535, 1820, 2849), (.max, 1820, 2849),
    ] {
        #expect(Management.LongTermKey.maximumCount(within: octets) == longTerm, "\(octets) octets")
        #expect(Management.IdentityKey.maximumCount(within: octets) == identity, "\(octets) octets")
    }
    for octets in [44, 1028, 4096] {
        let key = Management.LongTermKey(peer: lamp, kind: .authenticated, value: 1)
        let count = Management.LongTermKey.maximumCount(within: octets)
        func size(_ count: Int) -> Int {
            ManagementCommand.loadLongTermKeys(Array(repeating: key, count: count)).packet(for: 0).encoded
                .count
        }
        #expect(size(count) <= octets && size(count + 1) > octets)
    }
}

@Test("the kernel's adapter information decodes, with the name up to its first zero")
func managementInformationDecodes() throws {
    let name = Array("Laptop".utf8) + [0] + Array("old".utf8)
    let bytes =
        octets("554433221100 0c 0f00 ffbe0100 d10a0000 0c010a")
        + name + [UInt8](repeating: 0, count: 249 - name.count) + [UInt8](repeating: 0x41, count: 11)
    let information = try Management.Information(bytes)
    #expect(information.address == phone.value)
    #expect(information.version == 12)
    #expect(information.manufacturer == 15)
    #expect(information.supported.rawValue == 0x1beff)
    #expect(
        information.current
            == [.powered, .bondable, .secureSimplePairing, .classic, .lowEnergy, .secureConnections])
    #expect(information.name == "Laptop")
    for wrong in [Array(bytes.dropLast()), bytes + [0], []] {
        #expect(throws: DecodeError.self) { try Management.Information(wrong) }
    }
}

@Test("a name without a zero keeps all 249 octets")
func managementInformationKeepsFullLengthName() throws {
    let name = [UInt8](repeating: 0x6e, count: 249)
    let information = try Management.Information(counting(20) + name + counting(11))
    #expect(information.name == String(repeating: "n", count: 249))
}
