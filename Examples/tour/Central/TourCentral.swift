import BLE
import ExampleSupport

/// The tour of a central. Each step has its own file and its own link.
struct TourCentral {
    let central: CentralManager
    /// The peripheral of the tour.
    let id: Peripheral.Identifier

    static func run(on adapter: Adapter, keepingIn folder: String, peripherals: Int) async throws {
        let central = try await CentralManager(adapter, restoring: "tour", in: folder)
        let states = central.states()
        let tour = TourCentral(central: central, id: try await find(with: central))
        try await tour.connect()
        try await tour.waitForAbsentDevice()
        try await tour.retrieve()
        try await tour.measure()
        try await tour.discover()
        try await tour.sense()
        try await tour.command()
        try await tour.beFlooded()
        try await tour.flood()
        try await tour.request()
        try await tour.followServices()
        try await tour.beAlarmed()
        try await tour.sign()
        try await tour.chain(peripherals)
        await adapter.close()
        await emit(states)
    }

    /// Prints the states of the manager, which ends with its adapter.
    private static func emit(_ states: BoundedStream<ManagerState>) async {
        var seen: [String] = []
        do throws(BLEError) {
            for try await state in states { seen.append(state.rawValue) }
        } catch {
            Program.printLine("states: \(seen.joined(separator: ", ")); \(error)")
        }
    }
}
