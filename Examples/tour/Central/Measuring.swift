import BLE
import ExampleSupport

extension TourCentral {
    /// Reads the signal strength of the peripheral, and the maximum length of a write.
    func measure() async throws {
        try await central.withConnection(to: id) { device in
            // Nil represents the value 127 of a controller that cannot measure the strength.
            let strength = try await device.readRSSI()
            let isKept = strength.map { (-127...20).contains($0) } ?? true
            Program.printLine("signal strength: -127 to 20 dBm, or unknown: \(isKept)")
            // Longer values are sent in several requests; a write without response is one packet.
            let whole = try await device.maximumWriteLength(for: .withResponse)
            let single = try await device.maximumWriteLength(for: .withoutResponse)
            let mtu = try await device.mtu
            Program.printLine(
                "longest write: \(whole) octets, without response the MTU less 3: \(single == mtu - 3)")
        }
    }
}
