import BLE
import ExampleSupport

extension TourCentral {
    /// Reads sensor values as typed values.
    func sense() async throws {
        try await central.withConnection(to: id) { device in
            for try await measured in try await device.values(of: .heartRateMeasurement) {
                Program.printLine("heart rate: \(measured.beatsPerMinute) a minute")
                break
            }
            Program.printLine("battery: \(try await device.read(.batteryLevel).percent) %")
            let information = try await device.deviceInformation()
            Program.printLine("made by \(information.manufacturer ?? ""), model \(information.model ?? "")")
        }
    }
}
