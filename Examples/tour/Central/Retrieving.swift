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
            Program.say("retrieved by identifier: \(asked.map(\.state.rawValue))")
            Program.say("connected: \(connected.count) with fff0, \(others.count) with fffa")
            // This process could not join a link of another process.
            let isOurs = connected.allSatisfy { $0.linkOwner == .thisProcess }
            Program.say("linked by this process: \(isOurs)")
            Program.say("known from before: \(known.count)")
        }
    }
}
