import BLEAdvertising
import BLECore
import TestSupport
import Testing

@Suite struct IBeaconTests {
    let beacon = IBeacon(
        uuid: BluetoothUUID(0xe2c5_6db5_dffb_48d2_b060_d0f5_a710_96e0), major: 1, minor: 0x1234,
        measuredPower: -59)

    @Test func encodesAndDecodes() throws {
        #expect(beacon.manufacturerData.company == .apple)
        #expect(beacon.manufacturerData.data == octets("0215 e2c56db5dffb48d2b060d0f5a71096e0 0001 1234 c5"))
        #expect(IBeacon(beacon.manufacturerData) == beacon)
    }

    @Test func otherDataIsRejected() {
        let data = beacon.manufacturerData.data
        #expect(IBeacon(ManufacturerData(.test, data)) == nil)
        #expect(IBeacon(ManufacturerData(.apple, [0x10] + data.dropFirst())) == nil)
        #expect(IBeacon(ManufacturerData(.apple, data + [0])) == nil)
        for count in data.indices { #expect(IBeacon(ManufacturerData(.apple, Array(data[..<count]))) == nil) }
    }
}

@Suite struct EddystoneURLTests {
    @Test(arguments: [
        ("http://www.example.com", "00 6578616d706c65 07"),
        ("https://www.example.com/", "01 6578616d706c65 00"),
        ("http://example.org/a", "02 6578616d706c65 01 61"),
        ("https://a.gov/b.info", "03 61 06 62 0b"),
        ("https://0123456789abcdefg", "03 30313233343536373839 61626364656667"),
        ("https://", "03"),
    ])
    func encodesAndDecodesURLs(_ url: String, _ hex: String) throws {
        let beacon = try EddystoneURL(url, power: -20)
        #expect(beacon.octets == octets(hex))
        #expect(beacon.url == url)
        #expect(beacon.serviceData == ServiceData(0xfeaa, octets("10ec" + hex)))
        #expect(EddystoneURL(beacon.serviceData) == beacon)
    }

    @Test(arguments: ["ftp://a", "example.org", "", "https://a b", "https://é", "https://a\r\n"])
    func unsupportedURLsAreRefused(_ url: String) {
        let error = #expect(throws: AdvertisingPlanError.self) { try EddystoneURL(url) }
        guard case .invalid(.serviceData, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func overlongURLIsRefused() {
        #expect(throws: AdvertisingPlanError.overflow(.init(.serviceData, octets: 19, limit: 18))) {
            try EddystoneURL("https://0123456789abcdefgh")
        }
    }

    @Test(arguments: ["", "10", "1000", "2000 03", "1000 04", "1000 03 0e", "1000 03 20", "1000 03 7f"])
    func otherDataIsRejected(_ hex: String) {
        #expect(EddystoneURL(ServiceData(0xfeaa, octets(hex))) == nil)
    }

    @Test func otherServicesAndOverlongURLsAreRejected() {
        #expect(EddystoneURL(ServiceData(0xfeab, octets("1000 03 61"))) == nil)
        let long = octets("1000 03") + [UInt8](repeating: 0x61, count: 18)
        #expect(EddystoneURL(ServiceData(0xfeaa, long)) == nil)
    }
}
