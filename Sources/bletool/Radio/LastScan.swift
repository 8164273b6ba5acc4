import BLE
import BLECore
import Logging

/// The connectable devices of the user's last `scan`. Connecting to one of their addresses without its type
/// needs no further scan.
struct LastScan {
    /// The maximum number of stored devices.
    static let limit = 4096

    private let path: String

    init(path: String = UserFolder.runtime + "/last-scan") { self.path = path }

    /// Returns the addresses with these 48 bits: more than one if a public and a random address are alike.
    func addresses(_ bits: UInt64) -> [DeviceAddress] {
        // A file that cannot be read counts as if there had been no scan.
        guard let octets = try? File.contents(path, limit: Self.limit * 32) else { return [] }
        let lines = String(decoding: octets, as: UTF8.self).split(separator: "\n")
        return lines.compactMap { DeviceAddress($0) }.filter { $0.value == bits }
    }

    /// Stores the addresses of a scan that has ended, in place of the previous ones.
    func keep(_ addresses: Set<DeviceAddress>) {
        let lines = addresses.prefix(Self.limit).map { "\($0)\n" }.sorted()
        do throws(BadInput) {
            try File.replace(path, with: Array(lines.joined().utf8))
        } catch {
            // The only consequence is another scan before connecting to one of them without its type.
            Logger(label: "scan").debug("not kept for the next command: \(error.reason)")
        }
    }
}
