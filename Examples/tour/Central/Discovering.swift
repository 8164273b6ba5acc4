import BLE
import ExampleSupport

extension TourCentral {
    /// The database step by step; `discover()` has all of it at once.
    func discover() async throws {
        try await central.withConnection(to: id) { device in
            let services = try await device.discoverServices([.tour, .batteryService])
            Program.say("services: \(services.map(\.uuid))")
            guard let tour = services.first(where: { $0.uuid == .tour }) else { return }
            let included = try await device.discoverIncludedServices(for: tour)
            Program.say("included in fff0: \(included.map(\.uuid))")
            let characteristics = try await device.discoverCharacteristics(for: tour)
            Program.say("characteristics of fff0: \(characteristics.map(\.uuid))")
            for answer in characteristics where answer.uuid == .tourAnswer {
                for descriptor in try await device.discoverDescriptors(for: answer) {
                    Program.say("descriptor of fff2: \(meaning(try await device.value(of: descriptor)))")
                }
            }
        }
    }

    private func meaning(_ value: DescriptorValue) -> String {
        switch value {
        case .userDescription(let text): "it is called \(text)"
        case .clientConfiguration(let bits):
            bits.isEmpty ? "nobody has subscribed" : "somebody has subscribed"
        default: "\(value)"
        }
    }
}
