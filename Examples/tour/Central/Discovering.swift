import BLE
import ExampleSupport

extension TourCentral {
    /// Discovers the database step by step; `discover()` discovers all of it in one call.
    func discover() async throws {
        try await central.withConnection(to: id) { device in
            let services = try await device.discoverServices([.tour, .batteryService])
            Program.printLine("services: \(services.map(\.uuid))")
            guard let tour = services.first(where: { $0.uuid == .tour }) else { return }
            let included = try await device.discoverIncludedServices(for: tour)
            Program.printLine("included in fff0: \(included.map(\.uuid))")
            let characteristics = try await device.discoverCharacteristics(for: tour)
            Program.printLine("characteristics of fff0: \(characteristics.map(\.uuid))")
            for described in characteristics where [.tourAnswer, .tourLeft].contains(described.uuid) {
                for descriptor in try await device.discoverDescriptors(for: described) {
                    let value = try await device.value(of: descriptor)
                    Program.printLine("descriptor of \(described.uuid): \(meaning(value))")
                }
            }
        }
    }

    private func meaning(_ value: DescriptorValue) -> String {
        switch value {
        case .extendedProperties(let properties):
            properties.contains(.reliableWrite) ? "it is written reliably" : "nothing more"
        case .userDescription(let text): "it is called \(text)"
        case .presentationFormat(let format):
            format.format == .utf8 ? "it is text" : "it is of format \(format.format.rawValue)"
        case .clientConfiguration(let bits):
            bits.isEmpty ? "no client has subscribed" : "a client has subscribed"
        default: "\(value)"
        }
    }
}
