import BLE
import ExampleSupport

/// A central whose scans come back, however its process has ended.
enum ReturningCentral {
    static func run(on adapter: Adapter, keepingIn folder: String) async throws {
        let central = try await CentralManager(adapter, restoring: "listener", in: folder)
        let restored = central.restored
        Program.say("came back: \(restored.scans.count) scans, \(restored.peripherals.count) devices")

        // Only the first start wants all devices; the second one gives that scan up.
        let everything = restored.scans.isEmpty ? central.scan() : nil
        // Takes up the scan that has come back, by its options, with what it has received.
        var options = ScanOptions()
        options.services = [.tour]
        let scan = central.scan(options)
        // What was not taken up is not wanted any more.
        try await central.dismissRestored()
        var isNew = true
        for try await found in scan where isNew {
            guard let name = found.name else { continue }
            Program.say("receives \(name)")
            isNew = false
        }
        withExtendedLifetime(everything) {}
    }
}
