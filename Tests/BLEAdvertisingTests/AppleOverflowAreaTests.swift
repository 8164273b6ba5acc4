import BLEAdvertising
import BLECore
import Testing

/// The bits of an iOS application in the background.
struct AppleOverflowAreaTests {
    @Test func bitsAreNumberedFromTheFirstOctet() throws {
        let octets: [UInt8] = [0x01, 0x80, 0x04] + [UInt8](repeating: 0, count: 13) + [0x01]
        let data = ManufacturerData(.apple, octets)
        let area = try #require(AppleOverflowArea(data))
        #expect(area.bits == [0, 13, 127])
        #expect(area.services(in: [13: 0x180f, 127: 0x180d, 1: 0x1809]) == [0x180f, 0x180d])
        #expect(area.services(in: [:]) == [])
        #expect(area.manufacturerData == data)
        #expect(AppleOverflowArea(mask: 0).bits == [])
    }

    @Test func otherManufacturerDataIsRejected() {
        let area = [0x01] + [UInt8](repeating: 0xff, count: 16)
        #expect(AppleOverflowArea(ManufacturerData(.test, area)) == nil)
        #expect(AppleOverflowArea(ManufacturerData(.apple, area + [0])) == nil)
        #expect(AppleOverflowArea(ManufacturerData(.apple, Array(area.dropLast()))) == nil)
        #expect(AppleOverflowArea(ManufacturerData(.apple, [0x02] + area.dropFirst())) == nil)
        #expect(AppleOverflowArea(ManufacturerData(.apple, [])) == nil)
    }
}
