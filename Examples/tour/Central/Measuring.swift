import BLE
import ExampleSupport

extension TourCentral {
    /// How strong the peripheral is received, and how much fits into a write.
    func measure() async throws {
        try await central.withConnection(to: id) { device in
            // Nil is 127, of a controller that does not know.
            let strength = try await device.readRSSI()
            let isKept = strength.map { (-127...20).contains($0) } ?? true
            Program.say("signal strength: -127 to 20 dBm, or unknown: \(isKept)")
            // Longer ones go in parts, by requests; without a response there is one packet.
            let whole = try await device.maximumWriteLength(for: .withResponse)
            let single = try await device.maximumWriteLength(for: .withoutResponse)
            let mtu = try await device.mtu
            Program.say(
                "longest write: \(whole) octets, without response the MTU less 3: \(single == mtu - 3)")
        }
    }
}
