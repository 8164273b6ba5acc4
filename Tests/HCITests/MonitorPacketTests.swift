import BLECore
import HCI
import Testing

struct MonitorPacketTests {
    @Test(arguments: [
        // A Reset of hci1, its Command Complete, and data in both directions.
        ("02000100" + "0300" + "030c00", "01030c00", HCIDirection.hostToController),
        ("03000100" + "0600" + "0e0401030c00", "040e0401030c00", .controllerToHost),
        ("04000000" + "0500" + "2a00010000", "022a00010000", .hostToController),
        ("05000000" + "0500" + "2a20010000", "022a20010000", .controllerToHost),
    ])
    func monitorPacketsDecode(monitored: String, h4: String, direction: HCIDirection) throws {
        let bytes = try #require([UInt8](hex: monitored))
        let packet = try #require(try MonitorPacket(bytes).packet)
        #expect(packet.octets.hex == h4)
        #expect(packet.direction == direction)
        for count in bytes.indices {
            #expect(throws: DecodeError.self) { try MonitorPacket(Array(bytes[..<count])) }
        }
        #expect(throws: DecodeError.self) { try MonitorPacket(bytes + [0]) }
    }

    @Test func userLoggingHasNoPacket() throws {
        let note = try MonitorPacket([0x0d, 0, 0xff, 0xff, 1, 0, 7])
        #expect(note.packet == nil)
        #expect(note.opcode == .userLogging && note.index == 0xffff && note.body == [7])
    }
}
