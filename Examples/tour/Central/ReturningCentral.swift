import BLE
import ExampleSupport

/// A central whose scans are restored, however its process ended.
enum ReturningCentral {
    static func run(on adapter: Adapter, keepingIn folder: String) async throws {
        let central = try await CentralManager(adapter, restoring: "listener", in: folder)
        let restored = central.restored
        Program.printLine("came back: \(restored.scans.count) scans, \(restored.peripherals.count) devices")

        // Only the first start scans for all devices; the second start gives up that scan.
        let everything = restored.scans.isEmpty ? central.scan() : nil
        // Resumes the restored scan with the same options, including the devices that it has received.
        var options = ScanOptions()
        options.services = [.tour]
        let scan = central.scan(options)
        // Restored scans that were not resumed are no longer needed.
        try await central.dismissRestored()
        var isNew = true
        for try await found in scan where isNew {
            guard let name = found.name else { continue }
            Program.printLine("receives \(name)")
            isNew = false
        }
        withExtendedLifetime(everything) {}
    }
}
