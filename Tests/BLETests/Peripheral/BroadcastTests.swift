import ATT
import BLE
import BLEAdvertising
import BLECore
import GATTServer
import Testing

@Test(
    "a central enables a broadcast, and the application adds the value to its advertisement",
    .timeLimit(.minutes(10)))
func configuredBroadcast() async throws {
    try await TwoHosts.run { hosts in
        let (service, temperature): (BluetoothUUID, BluetoothUUID) = (0x1809, 0x2a6e)
        try await hosts.peripheral.publish([
            GATTService(
                service,
                characteristics: [
                    GATTCharacteristic(
                        temperature, properties: [.read, .broadcast], value: .stored([0xb2, 8]))
                ])
        ])
        var content = AdvertisingContent()
        content.name = "Thermometer"
        let advertising = try await hosts.peripheral.advertise(
            AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable)))
        let events = hosts.peripheral.events()
        let device = try await hosts.central.connect(to: try await hosts.find())
        let found = try await hosts.characteristic(temperature, of: device)
        let configuration = try #require(
            found.descriptors.first { $0.uuid == .serverCharacteristicConfiguration })
        try await device.write([1, 0], to: configuration)
        for try await case .write(_, let write, _) in events {
            #expect(write.uuid == .serverCharacteristicConfiguration && write.value == [1, 0])
            break
        }
        content.serviceData = [ServiceData(service, [0xb2, 8])]
        try await advertising.update(AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable)))
        await device.disconnect()
        let received = try await hosts.central.first(within: .seconds(5)) { !$0.fields.serviceData.isEmpty }
        #expect(received.fields.serviceData == content.serviceData)
    }
}
