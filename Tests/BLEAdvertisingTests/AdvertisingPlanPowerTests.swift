import BLEAdvertising
import BLECore
import Testing

struct AdvertisingPlanPowerTests {
    @Test func statingPowerUpdatesFieldInAnyPacket() throws {
        var content = AdvertisingContent()
        content.txPower = 4
        content.services = [0x180f]
        let near = try AdvertisingPlan(content, kind: .connectable).stating(power: -8)
        #expect(near.data == [2, 1, 6, 3, 3, 0x0f, 0x18, 2, 0x0a, 0xf8])
        let extended = try AdvertisingPlan(content, kind: .nonconnectable, extended: true)
        #expect(extended.stating(power: 1).extended == [3, 3, 0x0f, 0x18, 2, 0x0a, 1])
        // 3 octets of flags, 4 of the service and 24 of manufacturer data fill the packet, so that the power is in
        // the scan response.
        content.manufacturer = [ManufacturerData(0xffff, [UInt8](repeating: 0x0a, count: 20))]
        let moved = try AdvertisingPlan(content, kind: .connectable, overflow: .scanResponse)
        #expect(moved.scanResponse == [2, 0x0a, 4])
        #expect(moved.stating(power: -1).scanResponse == [2, 0x0a, 0xff])
        #expect(moved.stating(power: -1).data == moved.data)
    }

    @Test func statingPowerKeepsRawData() throws {
        var content = AdvertisingContent()
        content.raw = [2, 0x0a, 4]
        let raw = try AdvertisingPlan(content, kind: .nonconnectable)
        #expect(raw.stating(power: 9) == raw)
    }
}
