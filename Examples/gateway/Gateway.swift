import BLE
import ExampleSupport

/// Follows thermometers and prints a line for each measurement, for a program that forwards it. Lost links
/// are re-established automatically. With a folder for its state, the gateway connects to its known
/// thermometers after each start.
///
///     gateway [ADAPTER [COUNT [FOLDER]]]
@main enum Gateway {
    static func main() async {
        await Program.run { adapter, arguments in
            let central =
                if arguments.count > 1 {
                    try await CentralManager(adapter, restoring: "gateway", in: arguments[1])
                } else {
                    CentralManager(adapter)
                }
            let count = arguments.first.flatMap { Int($0) } ?? 1
            let known = Set(central.restored.peripherals.map(\.id))
            try await withThrowingTaskGroup(of: Void.self) { devices in
                for id in known {
                    Program.printLine("\(id.address) is known")
                    devices.addTask { try await follow(id, with: central) }
                }
                for id in try await find(count, beside: known, with: central) {
                    devices.addTask { try await follow(id, with: central) }
                }
                // An error that reconnecting cannot fix ends the gateway, and its service manager restarts
                // it.
                try await devices.waitForAll()
            }
        }
    }

    /// Scans for thermometers in addition to the known ones until there are `count` in total, and returns the
    /// new ones.
    private static func find(
        _ count: Int, beside known: Set<Peripheral.Identifier>, with central: CentralManager
    ) async throws -> Set<Peripheral.Identifier> {
        if known.count >= count { return [] }
        var options = ScanOptions()
        options.services = [.healthThermometerService]
        var found = known
        for try await device in central.scan(options) {
            if let id = device.id, device.isConnectable { found.insert(id) }
            if found.count >= count { break }
        }
        return found.subtracting(known)
    }

    private static func follow(_ id: Peripheral.Identifier, with central: CentralManager) async throws {
        let links = central.maintain(id) { event in log(event, of: id) }
        for try await device in links {
            do {
                for try await measured in try await device.values(of: .temperatureMeasurement) {
                    guard let celsius = measured.celsius else { continue }
                    Program.printLine("\(id.address) celsius \(celsius)")
                }
            } catch BLEError.disconnected {
                continue
            } catch {
                if Task.isCancelled { throw error }
                // It may have what is missing on its next link; other thermometers go on meanwhile.
                Program.printLine("\(id.address) \(error)")
                await device.disconnect()
            }
        }
    }

    private static func log(_ event: MaintenanceEvent, of id: Peripheral.Identifier) {
        switch event {
        case .found(let found): Program.printLine("\(id.address) found as \(found.address)")
        case .connected(let session, _): Program.printLine("\(id.address) connected \(session)")
        case .disconnected(_, let reason, let pause):
            Program.printLine("\(id.address) lost: \(reason); again in \(pause)")
        case .failed(let error, let pause):
            Program.printLine("\(id.address) failed: \(error); again in \(pause)")
        }
    }
}
