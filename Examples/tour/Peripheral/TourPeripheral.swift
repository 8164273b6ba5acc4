import BLE
import ExampleSupport

/// The peripheral of the tour, which executes the commands of the central.
struct TourPeripheral {
    let manager: PeripheralManager
    /// The service that is added and removed on command.
    private var guest: AttributeHandle?

    static func run(on adapter: Adapter) async throws {
        var tour = TourPeripheral(manager: PeripheralManager(adapter))
        let events = tour.manager.events()
        try await tour.manager.publish(tour.services)
        try await tour.advertise()
        for try await event in events {
            // A central can disconnect while an event is handled.
            do { try await tour.handle(event) } catch BLEError.disconnected { continue }
        }
    }

    private init(manager: PeripheralManager) { self.manager = manager }

    private mutating func handle(_ event: PeripheralEvent) async throws {
        switch event {
        case .write(let central, let write, _) where write.uuid == .tourCommand:
            let word = String(decoding: write.value, as: UTF8.self)
            let answer = try await answer(to: word, of: central)
            Program.printLine("\(word): \(answer)")
            if let handle = await manager.valueHandle(of: .tourAnswer) {
                try await manager.update(handle, to: Array(answer.utf8), for: [central])
            }
        case .subscribed(let central, let handle, .heartRateMeasurement, _):
            let subscriber = await manager.subscribers(of: handle).first { $0.central == central }
            Program.printLine("heart rate: room for \(subscriber?.maximumUpdateLength ?? 0) octets")
            let measured = HeartRateMeasurement(beatsPerMinute: 72)
            try await manager.update(.heartRateMeasurement, to: measured, for: [central])
        case .subscribed(let central, let handle, .tourAlarm, let indications):
            let security = try await manager.security(of: central)
            let kind = indications ? "indications" : "notifications"
            Program.printLine("alarm: \(kind) for a link that is \(security.level)")
            try await manager.update(handle, to: Array("fire".utf8), for: [central])
        case .write(let central, let write, _) where write.uuid == .tourSigned:
            let security = try await manager.security(of: central)
            Program.printLine(
                "signed: \(String(decoding: write.value, as: UTF8.self)) by a link that is \(security.level)")
        default: break
        }
    }

    private mutating func answer(to word: String, of central: Central) async throws -> String {
        switch word {
        case "greet": return "welcome"
        case "slower", "faster":
            // The central decides on the latency.
            let link = try await manager.setDesiredConnectionLatency(
                word == "slower" ? .high : .low, for: central)
            return "latency \(link.latency ?? -1)"
        case "flood": return try await flood(central)
        case "add":
            let service = GATTService(.tourGuest) {
                GATTCharacteristic(.tourGuestName, properties: .read, value: .cached(Array("guest".utf8)))
            }
            let range = try await manager.add([service])
            guest = range?.start
            return "a guest came"
        case "remove":
            guard let handle = guest.take() else { return "no device is here" }
            try await manager.removeService(at: handle)
            return "the guest left"
        default: return "what?"
        }
    }
}
