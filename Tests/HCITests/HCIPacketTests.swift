import BLECore
import HCI
import Testing

@Suite struct HCIPacketTests {
    static let table: [PacketCase<HCIPacket>] = [
        .init("01 030c 00", .command(HCICommandPacket(opcode: .reset))),
        .init("01 0c20 02 0100", .command(HCICommandPacket(opcode: .leSetScanEnable, parameters: [1, 0]))),
        .init(
            "02 4020 0700 0300 0400 0a0300",
            .acl(
                ACLPacket(
                    handle: ConnectionHandle(0x0040), boundary: .firstFlushable,
                    data: [3, 0, 4, 0, 0x0a, 3, 0]))),
        .init(
            "02 ffde 0000",
            .acl(
                ACLPacket(
                    handle: ConnectionHandle(0x0eff), boundary: .continuing, broadcast: .reserved3, data: []))
        ),
        .init(
            "03 0110 02 abcd",
            .synchronous(SynchronousPacket(handle: ConnectionHandle(1), flags: 1, data: [0xab, 0xcd]))),
        .init("04 10 01 07", .event(HCIEventPacket(code: .hardwareError, parameters: [7]))),
        .init("05 0160 0100 ee", .iso(ISOPacket(handle: ConnectionHandle(1), flags: 6, data: [0xee]))),
    ]

    @Test(arguments: table) func encodesAndDecodes(_ message: PacketCase<HCIPacket>) { message.check() }

    @Test func unknownTypeFails() {
        #expect(throws: DecodeError.self) { try HCIPacket([0x06, 0, 0, 0]) }
        #expect(throws: DecodeError.self) { try HCIPacket([]) }
    }

    @Test func reservedLengthBitsOfIsochronousDataAreIgnored() throws {
        let packet = HCIPacket.iso(ISOPacket(handle: ConnectionHandle(1), data: [0xee]))
        #expect(try HCIPacket([0x05, 1, 0, 1, 0xc0, 0xee]) == packet)
    }
}
