import BLECore
import HCI
import HCISocket
import TestSupport
import Testing

private let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
private let phone = DeviceAddress(0x0011_2233_4455, type: .public)

/// One row per command: its packet for hci1, header included (BlueZ, doc/mgmt-api.txt).
private let commands: [(String, ManagementCommand)] = [
    ("0300 0100 0000", .readIndexList),
    ("0400 0100 0000", .readInformation),
    ("0500 0100 0100 01", .setPowered(true)),
    ("0900 0100 0100 00", .setBondable(false)),
    ("0b00 0100 0100 01", .setSecureSimplePairing(true)),
    ("0d00 0100 0100 01", .setLowEnergy(true)),
    ("1300 0100 0200 0000", .loadLongTermKeys([])),
    (
        "1300 0100 4a00 0200"
            // Address and its type, kind, role, size, EDIV, Rand, value.
            + "0605040302c1 02 01 01 07 3412 efcdab8967452301 060504030201ff000000000000000000"
            + "554433221100 01 03 00 10 0000 0000000000000000 0f0e0d0c0b0a09080706050403020100",
        .loadLongTermKeys([
            Management.LongTermKey(
                peer: lamp, kind: .authenticated, isForCentral: true, size: 7, ediv: 0x1234,
                random: 0x0123_4567_89ab_cdef, value: 0xff_0102_0304_0506),
            Management.LongTermKey(
                peer: phone, kind: .authenticatedP256, value: 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f),
        ])
    ),
    ("1500 0100 0000", .getConnections),
    ("1800 0100 0100 04", .setIOCapability(4)),
    ("1900 0100 0800 0605040302c1 02 03", .pairDevice(lamp, ioCapability: 3)),
    ("1a00 0100 0700 0605040302c1 02", .cancelPairDevice(lamp)),
    ("1b00 0100 0800 554433221100 01 01", .unpairDevice(phone, disconnects: true)),
    ("1c00 0100 0700 554433221100 01", .userConfirmationReply(phone)),
    ("1d00 0100 0700 0605040302c1 02", .userConfirmationNegativeReply(lamp)),
    ("1e00 0100 0b00 0605040302c1 02 40e20100", .userPasskeyReply(lamp, 123_456)),
    ("1f00 0100 0700 0605040302c1 02", .userPasskeyNegativeReply(lamp)),
    ("2d00 0100 0100 02", .setSecureConnections(.only)),
    (
        "2f00 0100 1100 01 0f0e0d0c0b0a09080706050403020100",
        .setPrivacy(.on, identityKey: 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f)
    ),
    ("3000 0100 0200 0000", .loadIdentityKeys([])),
    (
        "3000 0100 1900 0100 0605040302c1 02 9b7d39056b2d4f1289eb90d0f8bef4ec",
        .loadIdentityKeys([
            Management.IdentityKey(peer: lamp, value: 0xecf4_bef8_d090_eb89_124f_2d6b_0539_7d9b)
        ])
    ),
]

@Test("every management command encodes and decodes", arguments: commands)
func managementCommandRoundTrips(text: String, command: ManagementCommand) throws {
    let bytes = octets(text)
    let packet = command.packet(for: 1)
    #expect(packet.encoded == bytes)
    #expect(command.encodedCount == bytes.count - 6)
    #expect(try ManagementCommand(Management.Packet(bytes)) == command)

    let parameters = packet.parameters
    for wrong in parameters.indices.map({ [UInt8](parameters.prefix($0)) }) + [parameters + [0]] {
        #expect(throws: DecodeError.self) {
            try ManagementCommand(Management.Packet(code: packet.code, index: 1, parameters: wrong))
        }
    }
}

@Test("unknown command codes decode to nil, and out-of-range values are refused")
func invalidManagementCommandValuesAreRefused() throws {
    #expect(try ManagementCommand(Management.Packet(code: 0x0029, index: 0, parameters: [1])) == nil)
    let wrong: [(code: UInt16, field: String, offset: Int, parameters: [UInt8], value: UInt64)] = [
        (0x0005, "switch", 0, [2], 2), (0x002d, "secure connections", 0, [3], 3),
        (0x001c, "address type", 6, [1, 2, 3, 4, 5, 6, 0], 0),
        (0x001c, "address type", 6, [1, 2, 3, 4, 5, 6, 3], 3),
    ]
    for row in wrong {
        #expect(
            throws: DecodeError(
                packet: "management command 0x\(row.code.hex)", field: row.field, offset: row.offset,
                reason: .invalid(value: row.value))
        ) { try ManagementCommand(Management.Packet(code: row.code, index: 0, parameters: row.parameters)) }
    }
}

@Test("key counts are limited by the packet's length field")
func managementKeyCountsAreLimited() {
    #expect(Management.LongTermKey.maximumCount == 1820)
    #expect(Management.IdentityKey.maximumCount == 2849)
    let key = Management.IdentityKey(peer: lamp, value: 1)
    let all = ManagementCommand.loadIdentityKeys(Array(repeating: key, count: 2849))
    #expect(all.packet(for: 0).encoded.prefix(8) == [0x30, 0, 0, 0, 0xf9, 0xff, 0x21, 0x0b])
    #expect(all.encodedCount == 65_529)
}

@Test("the kernel's connections list LE devices and omit BR/EDR")
func managementConnectionsOmitBREDR() throws {
    let bytes = octets("0300 0605040302c1 02 554433221100 01 0a0b0c0d0e0f 00")
    #expect(try Management.Connections(bytes).peers == [lamp, phone])
    #expect(try Management.Connections(octets("0000")).peers == [])
    for count in bytes.indices {
        #expect(throws: DecodeError.self) { try Management.Connections([UInt8](bytes.prefix(count))) }
    }
    #expect(throws: DecodeError.self) { try Management.Connections(bytes + [0]) }
}
