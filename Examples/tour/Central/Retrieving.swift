import BLE
import ExampleSupport

extension TourCentral {
    /// Retrieves devices without a scan.
    func retrieve() async throws {
        try await central.withConnection(to: id) { _ in
            let asked = await central.retrievePeripherals(withIdentifiers: [id])
            let connected = try await central.retrieveConnectedPeripherals(withServices: [.tour])
            let others = try await central.retrieveConnectedPeripherals(withServices: [.tourGuest])
            let known = await central.retrieveKnownPeripherals()
            Program.printLine("retrieved by identifier: \(asked.map(\.state.rawValue))")
            Program.printLine("connected: \(connected.count) with fff0, \(others.count) with fffa")
            // This process could not join a link of another process.
            let isOurs = connected.allSatisfy { $0.linkOwner == .thisProcess }
            Program.printLine("linked by this process: \(isOurs)")
            Program.printLine("known from before: \(known.count)")
        }
    }
}
