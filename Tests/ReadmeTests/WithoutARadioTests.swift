import BLE
import Testing

/// The code of the article "Test without a radio".
struct WithoutARadioTests {
    @Test func readerReadsSensor() async throws {
        try await VirtualTestbed.run { bed in
            let sensor = PeripheralManager(try await bed.adapter("sensor"))
            try await sensor.publish([.battery(80)])
            var content = AdvertisingContent()
            content.name = "Sensor"
            try await sensor.withAdvertising(content) {
                let central = CentralManager(try await bed.adapter("reader"))
                let sensors = central.chain { $0.name = "Sensor" }.within(.seconds(5))
                #expect(try await sensors.read(.batteryLevel) == 80)
            }
        }
    }

    @Test func connectWaitsForAbsentDeviceUntilTimeout() async throws {
        try await VirtualTestbed.run { bed in
            let central = CentralManager(try await bed.adapter("reader"))
            let before = bed.loop.now
            let away = DeviceAddress(0xc0_11_22_33_44_55, type: .random)
            await #expect(throws: BLEError.self) {
                _ = try await central.connect(to: away, timeout: .seconds(3600))
            }
            #expect(before.duration(until: bed.loop.now) >= .seconds(3600))
        }
    }

    @Test func bluetooth4Point2SensorIsRead() async throws {
        try await VirtualTestbed.run(seed: 7, conditions: VirtualAir.Conditions(loss: 0.2)) { bed in
            var old = VirtualController.Configuration(extended: nil)
            old.encrypts = false
            let sensor = PeripheralManager(try await bed.adapter("sensor", controller: old))
            try await sensor.publish([.battery(80)])
            var content = AdvertisingContent()
            content.name = "Sensor"
            try await sensor.withAdvertising(content) {
                let reader = CentralManager(try await bed.adapter("reader"))
                #expect(try await reader.chain { $0.name = "Sensor" }.read(.batteryLevel) == 80)
            }
        }
    }
}
