import BLEAdvertising
import BLECore
import GATTServer
import Testing

@testable import BLE

/// Several managers of one adapter.
@Suite(.timeLimit(.minutes(10))) struct SharedDatabaseTests {
    private func service(_ uuid: BluetoothUUID) -> GATTService {
        let value = GATTCharacteristic(0x2a19, properties: [.read], value: .stored([1]))
        return GATTService(uuid, characteristics: [value])
    }

    @Test("managers of one adapter share its database, and each receives all events")
    func managersShareDatabaseAndEvents() async throws {
        try await VirtualTestbed.run { bed in
            let host = try await bed.host("server")
            let (first, second) = (PeripheralManager(host), PeripheralManager(host))
            var events = (first.events().makeAsyncIterator(), second.events().makeAsyncIterator())
            try await first.publish([service(0x180f)])
            try await second.add([service(0x180d)])
            let plan = try AdvertisingPlan(AdvertisingContent(), kind: .connectable)
            _ = try await first.advertise(AdvertisingRequest(plan))
            let central = CentralManager(try await bed.host("client"))
            var device = try await central.connect(to: await host.address)
            var services = try await device.discover().services.map(\.uuid)
            #expect(services.contains(0x180f) && services.contains(0x180d))
            guard case .connected? = try await events.0.next(), case .connected? = try await events.1.next()
            else {
                Issue.record("both report the central")
                return
            }
            await device.disconnect()
            await bed.wait(.seconds(1))

            try await second.publish([service(0x180d)])
            device = try await central.connect(to: await host.address)
            services = try await device.discover().services.map(\.uuid)
            #expect(!services.contains(0x180f) && services.contains(0x180d))
        }
    }
}
