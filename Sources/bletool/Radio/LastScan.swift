import BLE
import BLECore
import Logging

/// The devices of the user's last `scan` that take connections. An address without a type that is one of
/// theirs needs no scan before it is connected to.
struct LastScan {
    /// The greatest number of remembered devices.
    static let limit = 4096

    private let path: String

    init(path: String = UserFolder.runtime + "/last-scan") { self.path = path }

    /// Returns the addresses with these 48 bits: more than one where a public and a random address are alike.
    func addresses(_ bits: UInt64) -> [DeviceAddress] {
        // What cannot be read is a scan that never was.
        guard let octets = try? File.contents(path, limit: Self.limit * 32) else { return [] }
        let lines = String(decoding: octets, as: UTF8.self).split(separator: "\n")
        return lines.compactMap { DeviceAddress($0) }.filter { $0.value == bits }
    }

    /// Keeps those of a scan that has ended, in place of the one before.
    func keep(_ addresses: Set<DeviceAddress>) {
        let lines = addresses.prefix(Self.limit).map { "\($0)\n" }.sorted()
        do throws(BadInput) {
            try File.replace(path, with: Array(lines.joined().utf8))
        } catch {
            // Who names one of them without its type waits for another scan, and no more.
            Logger(label: "scan").debug("not kept for the next command: \(error.reason)")
        }
    }
}
