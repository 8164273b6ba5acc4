import BLE
import ExampleSupport

extension TourCentral {
    /// Sends a signed write, with the signing key of the bond, in place of an encrypted link.
    func sign() async throws {
        var open = ConnectionOptions()
        open.encryptsIfBonded = false
        try await central.withConnection(to: id, options: open) { device in
            let target = try await device.characteristic(.tourSigned)
            try await device.writeSigned(Array("by me".utf8), to: target)
            let (value, level) = (try await device.read(.tourSigned), try await device.security.level)
            Program.printLine("signed: \(value); the link is \(level)")
        }
    }
}
