import BLE
import ExampleSupport

extension TourCentral {
    /// Subscribes to values that require pairing, by notification and by indication.
    func beAlarmed() async throws {
        var careful = ConnectionOptions()
        careful.raisesSecurity = false
        try await central.withConnection(to: id, options: careful) { device in
            do {
                _ = try await device.values(of: .tourAlarm)
            } catch BLEError.att(let refusal) {
                let isKnown = [.insufficientAuthentication, .insufficientEncryption].contains(refusal.code)
                Program.printLine("no alarm without pairing: \(isKnown)")
            }
        }
        try await central.withConnection(to: id) { device in
            let alarm = try await device.characteristic(.tourAlarm)
            for indications in [false, true] {
                for try await value in try await device.values(of: alarm, indications: indications) {
                    let text = String(decoding: value.value, as: UTF8.self)
                    let kind = value.isIndication ? "indication" : "notification"
                    let level = try await device.security.level
                    Program.printLine("alarm by \(kind): \(text); the link is \(level)")
                    break
                }
            }
        }
    }
}
