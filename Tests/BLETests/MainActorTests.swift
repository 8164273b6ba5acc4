import BLE
import BLECore
import HCISocket
import Testing

/// The use of the library from code of the main actor, such as top-level code.
@Suite(.timeLimit(.minutes(10))) struct MainActorTests {
    @Test("the bodies of withAdvertising and withConnection nest, and run on the caller's actor")
    @MainActor func bodiesRunOnTheCallersActor() async throws {
        let air = AirServer(on: .shared)
        let server = try await Adapter.open(on: await air.attach())
        let client = try await Adapter.open(on: await air.attach())
        let (peripherals, centrals) = (PeripheralManager(server), CentralManager(client))
        try await peripherals.publish([GATTService(0x180f, characteristics: [])])
        let address = await server.address
        var services = 0
        try await peripherals.withAdvertising(AdvertisingContent()) {
            try await centrals.withConnection(to: address, timeout: .seconds(300)) { device in
                MainActor.assertIsolated()
                services = try await device.discover().services.count
            }
            MainActor.assertIsolated()
        }
        #expect(services == 3)
        await client.close()
        await server.close()
        await air.close()
    }
}
