import BLE
import BLEAdvertising
import BLECore
import Foundation
import GATTServer
import HCISocket
import ProgramTesting
import Testing

/// The subscriptions of `gatt run`.
@Suite(.timeLimit(.minutes(10))) struct ScriptSubscriptionTests {
    @Test("a pause fails when a change of the database ends the subscriptions that it is for")
    func pauseEndsWithSubscriptions() async throws {
        let air = try await TemporaryAir()
        var options = AdapterOptions()
        options.airPath = air.folder.appending(path: "bletool/air").path
        let adapter = try await Adapter.open(.virtual(name: "changing"), options: options)
        let server = PeripheralManager(adapter)
        let measured = GATTCharacteristic(0x2a37, properties: [.notify], value: .stored([]))
        try await server.publish([])
        let added = try await server.add([GATTService(0x180d, characteristics: [measured])])
        let range = try #require(added)
        var content = AdvertisingContent()
        content.name = "Changing"
        let plan = try AdvertisingPlan(content, kind: .connectable)
        let advertising = try await server.advertise(AdvertisingRequest(plan, kind: .connectable))
        let client = try RunningProgram(
            ["bletool", "gatt", "name:Changing", "run", "-", "--adapter", "virtual:phone"], in: air.folder,
            mergingErrors: true)
        try client.type("subscribe 2a37\nsleep 300s\n")
        let subscribed = await client.line()
        #expect(subscribed?.contains(#""event":"subscribed""#) == true)
        try await server.removeService(at: range.start)
        let failure = await client.line()
        #expect(failure?.contains("the device's database has changed") == true, "\(failure ?? "-")")
        #expect(client.status() == 5)
        await advertising.stop()
        await adapter.close()
    }
}
