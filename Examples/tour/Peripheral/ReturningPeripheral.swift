import BLE
import ExampleSupport

/// A peripheral whose state is restored, however its process ended.
enum ReturningPeripheral {
    static func run(on adapter: Adapter, keepingIn folder: String) async throws {
        let manager = try await PeripheralManager(adapter, restoring: "tour", in: folder)
        let events = manager.events()
        try await manager.publish([
            GATTService(.tour) {
                GATTCharacteristic(
                    .tourSetting, properties: [.read, .write], value: .stored(Array("new".utf8)))
            }
        ])
        let restored = manager.restored
        let setting = await manager.valueHandle(of: .tourSetting).flatMap { restored.values[$0] }
        Program.printLine("came back: \(restored.advertising.count) on air, setting \(text(setting ?? []))")

        // Resumes the restored advertising with the same content.
        var content = AdvertisingContent()
        content.name = "Returning"
        _ = try await manager.advertise(AdvertisingRequest(AdvertisingPlan(content, kind: .connectable)))
        // Restored advertising that was not resumed is no longer needed.
        try await manager.dismissRestored()
        for try await event in events {
            guard case .write(_, let write, _) = event, write.uuid == .tourSetting else { continue }
            Program.printLine("setting \(text(write.value))")
        }
    }

    private static func text(_ octets: [UInt8]) -> String { String(decoding: octets, as: UTF8.self) }
}
