import BLE
import ExampleSupport

/// A peripheral that only bonded centrals recognize, because its address changes. After a restart it still
/// notifies bonded centrals that had subscribed, and still broadcasts its setting if a central has enabled
/// that.
struct HidingPeripheral {
    private let manager: PeripheralManager
    private let advertising: Advertising

    static func run(on adapter: Adapter, keepingIn folder: String) async throws {
        let manager = try await PeripheralManager(adapter, restoring: "hiding", in: folder)
        let events = manager.events()
        try await manager.publish([
            GATTService(.tour) {
                GATTCharacteristic(.tourAlarm, properties: .notify, subscription: .encrypted)
                GATTCharacteristic(
                    .tourSetting, properties: [.read, .broadcast], value: .stored(Array("21".utf8)))
            }
        ])
        let broadcast = try request(broadcasting: true)
        let wasBroadcasting = manager.restored.advertising.contains { $0.request == broadcast }
        let request = wasBroadcasting ? broadcast : try request(broadcasting: false)
        let peripheral = HidingPeripheral(manager: manager, advertising: try await manager.advertise(request))
        Program.printLine("on air for \(await adapter.address), broadcasting: \(wasBroadcasting)")
        for try await event in events {
            do { try await peripheral.handle(event) } catch BLEError.disconnected { continue }
        }
    }

    private static func request(broadcasting: Bool) throws -> AdvertisingRequest {
        var content = AdvertisingContent()
        content.name = "Hiding"
        if broadcasting { content.serviceData = [ServiceData(.tour, Array("21".utf8))] }
        return AdvertisingRequest(try AdvertisingPlan(content, kind: .connectable))
    }

    private func handle(_ event: PeripheralEvent) async throws {
        switch event {
        case .subscribed(let central, let handle, .tourAlarm, _):
            // A bonded central is subscribed again as soon as its link is encrypted.
            Program.printLine("a central is subscribed")
            try await manager.update(handle, to: Array("fire".utf8), for: [central])
        case .security(_, let security) where security.isBonded: Program.printLine("a central is bonded")
        case .write(_, let write, _) where write.uuid == .serverCharacteristicConfiguration:
            // The server stores the descriptor; the application implements its effect.
            let isOn = write.value == [1, 0]
            try await advertising.update(Self.request(broadcasting: isOn))
            Program.printLine("broadcasting: \(isOn)")
        default: break
        }
    }
}
