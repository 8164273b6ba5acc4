import BLE
import BLEAdvertising
import BLECore
import Foundation
import GATTServer
import ProgramTesting
import Testing

/// `gatt … notify --reconnect` with a server whose database changes.
@Suite(.timeLimit(.minutes(10))) struct ReconnectTests {
    private static let services = [
        GATTService(
            0x1809,
            characteristics: [
                GATTCharacteristic(0x2a1c, properties: .notify),
                GATTCharacteristic(0x2a1e, properties: .notify),
            ])
    ]

    @Test("a subscription that a change of the database ends is renewed on the same link")
    func subscriptionIsRenewedAfterDatabaseChange() async throws {
        let air = try await TemporaryAir()
        var options = AdapterOptions()
        options.airPath = air.folder.appending(path: "bletool/air").path
        let host = try await Adapter.open(AdapterSpecification("virtual:server"), options: options)
        let manager = PeripheralManager(host)
        try await manager.publish([])
        let first = try #require(try await manager.add(Self.services))
        var events = manager.events().makeAsyncIterator()
        var content = AdvertisingContent()
        content.name = "Changing"
        _ = try await manager.advertise(
            AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable)))
        let client = try RunningProgram(
            [
                "bletool", "gatt", "name:Changing", "notify", "2a1c", "2a1e", "--reconnect", "--adapter",
                "virtual:phone", "--json",
            ], in: air.folder)
        #expect(await client.line()?.contains(#""event":"connected""#) == true)
        for round in 0..<3 {
            var handles: [AttributeHandle] = []
            while handles.count < 2, let event = try await events.next() {
                if case .subscribed(_, let handle, _, _) = event, handle > first.start {
                    handles.append(handle)
                }
                guard case .disconnected = event else { continue }
                Issue.record("the client has ended")
                return await host.close()
            }
            for (index, handle) in handles.sorted().enumerated() {
                try await manager.update(handle, to: [UInt8(2 * round + index)])
                let line = await client.line()
                #expect(line?.contains("\"value\":\"0\(2 * round + index)\"") == true, "\(line ?? "")")
            }
            guard let service = handles.min() else { break }
            try await manager.removeService(at: AttributeHandle(service.rawValue - 2))
            _ = try await manager.add(Self.services)
        }
        client.signal(SIGTERM)
        await host.close()
        #expect(client.status() == SIGTERM)
    }
}
