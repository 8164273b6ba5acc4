import BLEAdvertising
import BLECore
import TestSupport
import Testing

@Suite struct BeaconTests {
    private func readings(_ beacon: Beacon) -> [String] {
        beacon.readings.map { reading in
            switch reading.value {
            case .quantity(let value): "\(reading.name)\(value.unit.suffix) \(value.number)"
            case .state(_, let word): "\(reading.name) \(word)"
            case .text(let text): "\(reading.name) \(text)"
            case .octets(let octets): "\(reading.name) \(octets.hex)"
            }
        }
    }

    @Test func altBeaconRoundTrips() throws {
        let hex = "beac 000102030405060708090a0b0c0d0e0f 0001 0203 c5 07"
        let beacon = try #require(try AltBeacon(ManufacturerData(0x0118, octets(hex))))
        #expect(beacon.identifier.hex == "000102030405060708090a0b0c0d0e0f00010203")
        #expect(beacon.company == 0x0118 && beacon.referenceRSSI == -59 && beacon.reserved == 7)
        let made = AltBeacon(company: 0x0118, identifier: beacon.identifier, referenceRSSI: -59, reserved: 7)
        #expect(made == beacon)
        #expect(made?.manufacturerData == ManufacturerData(0x0118, octets(hex)))
        #expect(AltBeacon(company: 0x0118, identifier: [1], referenceRSSI: -59) == nil)
        for count in 2..<octets(hex).count {
            let short = ManufacturerData(0x0118, Array(octets(hex)[..<count]))
            #expect(throws: DecodeError.self) { _ = try AltBeacon(short) }
        }
        #expect(throws: DecodeError.self) { _ = try AltBeacon(.init(0x0118, octets(hex) + [0])) }
        #expect(try AltBeacon(.init(0x0118, [0xbe])) == nil)
        #expect(try AltBeacon(.init(0x0118, [])) == nil)
    }

    @Test("a truncated iBeacon reports where it ends")
    func truncatedIBeaconReportsOffset() {
        #expect(
            throws: DecodeError(
                packet: "iBeacon", field: "UUID", offset: 2, reason: .truncated(needed: 16, available: 1))
        ) { _ = try Beacon(ManufacturerData(.apple, octets("0215 00"))) }
    }

    @Test func payloadYieldsAllBeacons() throws {
        let data = AdvertisingData(
            octets(
                "020106 1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5 0416aafe40 0716d2fc40016103"))
        let beacons = data.beacons
        #expect(beacons.count == 3)
        let first = try beacons[0].get()
        #expect(first.format == "iBeacon")
        #expect(
            readings(first) == [
                "uuid e2c56db5-dffb-48d2-b060-d0f5a71096e0", "major 1", "minor 2", "measuredPowerDBm -59",
            ])
        #expect(throws: DecodeError.self) { try beacons[1].get() }
        guard case .bthome(let packet) = try beacons[2].get() else {
            Issue.record("not BTHome")
            return
        }
        #expect(packet.objects == [.measurement(.battery, Quantity(97, .percent))])
        #expect(packet.ending?.description.contains("needs 2 octets, 0 left") == true)
        #expect(AdvertisingData(octets("05ff4c001005")).beacons.isEmpty)
    }

    @Test func readingNamesIncludeUnits() throws {
        let ruuvi = try #require(
            try Beacon(ManufacturerData(0x0499, octets("0512fc5394c37c0004fffc040cac364200cdcbb8334c884f"))))
        #expect(ruuvi.format == "Ruuvi 5")
        #expect(
            readings(ruuvi) == [
                "temperatureC 24.300", "humidityPercent 53.4900", "pressurePa 100044", "batteryV 2.977",
                "accelerationXG 0.004", "accelerationYG -0.004", "accelerationZG 1.036", "txPowerDBm 4",
                "movements 66", "sequence 205", "address CB:B8:33:4C:88:4F",
            ])
        let telemetry = try #require(
            try Beacon(ServiceData(0xfeaa, octets("20 00 0bb8 1680 0000000c 00000258"))))
        #expect(telemetry.format == "Eddystone-TLM")
        #expect(
            readings(telemetry) == ["batteryV 3.000", "temperatureC 22.500", "packets 12", "uptimeS 60.0"])
        let button = try #require(
            try Beacon(ServiceData(0xfcd2, octets("44 0009 1a01 3a02 3b010305 3c0103 f2000106"))))
        #expect(
            readings(button) == [
                "packetId 9", "door open", "button double press", "command step up 5", "dimmer -3",
                "firmware 6.1.0",
            ])
        #expect(Set(PhysicalUnit.allCases.map(\.suffix)).count == PhysicalUnit.allCases.count)
    }
}
