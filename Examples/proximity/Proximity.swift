import BLE
import ExampleSupport

/// Prints when a device approaches, when it moves away, and when its packets no longer arrive.
///
///     proximity [ADAPTER [NAME]]
@main enum Proximity {
    static func main() async {
        await Program.run { adapter, arguments in
            var options = ScanOptions()
            options.name = arguments.first ?? "*"
            // All packets, not only new ones: the strength of each shows how far away the device is.
            options.repeats = .all
            let scan = CentralManager(adapter).scan(options)
            let room = Room()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { for try await found in scan { await room.receive(found) } }
                tasks.addTask {
                    while true {
                        try await Task.sleep(for: .seconds(1))
                        await room.forget(silentFor: .seconds(10))
                    }
                }
                try await tasks.next()
                tasks.cancelAll()
            }
        }
    }
}

/// The devices in range. Silent devices are removed, so that the table stays small if devices change their
/// addresses.
actor Room {
    private var devices:
        [Peripheral.Identifier: (name: String, nearness: Nearness, received: ContinuousClock.Instant)] =
            [:]

    func receive(_ found: Advertisement) {
        guard let id = found.id else { return }
        var nearness = devices[id]?.nearness ?? Nearness()
        let change = nearness.add(found.rssi)
        let name = found.name ?? devices[id]?.name ?? "\(id.address)"
        devices[id] = (name, nearness, .now)
        if let change { Program.printLine("\(name) is \(change)") }
    }

    func forget(silentFor limit: Duration) {
        for (id, device) in devices where device.received.duration(to: .now) > limit {
            devices[id] = nil
            Program.printLine("\(device.name) is silent")
        }
    }
}

/// Whether a device is near or far, from its smoothed signal strength. Different thresholds for the two
/// changes prevent rapid alternation.
struct Nearness {
    private var strength = RSSISmoother()
    private var isNear: Bool?

    /// Adds a signal strength in dBm, and returns a description of the change, if any.
    mutating func add(_ rssi: Int8?) -> String? {
        guard let average = strength.add(rssi) else { return nil }
        let before = isNear
        if average > -60 { isNear = true } else if average < -75 || before == nil { isNear = false }
        guard isNear != before else { return nil }
        return "\(isNear == true ? "near" : "far away") (\(Int(average)) dBm)"
    }
}
