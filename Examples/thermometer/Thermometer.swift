import BLE
import ExampleSupport
import SystemPackage

/// A Health Thermometer that measures the processor's temperature once a second and indicates it to
/// subscribed centrals.
///
///     thermometer [ADAPTER [NAME]]
@main enum Thermometer {
    static func main() async {
        await Program.run { adapter, arguments in
            let manager = PeripheralManager(adapter)
            try await manager.publish([
                GATTService(.healthThermometerService) {
                    GATTCharacteristic(.temperatureMeasurement, properties: .indicate)
                },
                .deviceInformation(DeviceInformation(manufacturer: "Examples", model: "Thermometer")),
            ])
            var content = AdvertisingContent()
            content.name = arguments.first ?? "Thermometer"
            content.services = [.healthThermometerService]
            try await manager.withAdvertising(content, maximumLinks: 4) {
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask { try await measure(for: manager) }
                    tasks.addTask {
                        for try await event in manager.events() { Program.printLine("\(event)") }
                    }
                    try await tasks.next()
                    tasks.cancelAll()
                }
            }
        }
    }

    /// Measures once a second. Updates wait for confirmations, so the slowest central determines the pace.
    private static func measure(for manager: PeripheralManager) async throws {
        while true {
            if let number = MedicalFloat(DecimalNumber(milliCelsius() / 10, exponent: -2), width: .four) {
                let measured = TemperatureMeasurement(number, .celsius)
                try await manager.update(.temperatureMeasurement, to: measured)
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Returns the temperature of the machine's first sensor; 21.5 °C if it has none.
    private static func milliCelsius() -> Int128 {
        let sensor = try? FileDescriptor.open("/sys/class/thermal/thermal_zone0/temp", .readOnly)
        defer { try? sensor?.close() }
        var text = [UInt8](repeating: 0, count: 16)
        let count = text.withUnsafeMutableBytes { (try? sensor?.read(into: $0)) ?? 0 }
        return Int128(String(decoding: text[..<count].prefix { $0 != 10 }, as: UTF8.self)) ?? 21_500
    }
}
