import BLE
import BLECore
import Glibc
import HCISocket
import Logging

/// The connectable devices of the user's last `scan`. Connecting to one of their addresses without its type
/// needs no further scan.
struct LastScan {
    /// The maximum number of stored devices.
    static let limit = 4096

    private let file: DiskFile?
    private let disk = Disk()
    private static let log = Logger(label: "scan")

    /// Uses the folder of this user's files. Without it, as if there had been no scan.
    init() {
        do throws(FolderError) {
            self.init(in: try UserFolder.runtime())
        } catch {
            self.init(in: nil)
            // Another user has made the folder, which has no use but to mislead this one.
            let level: Logger.Level = if case .system = error { .debug } else { .warning }
            Self.log.log(level: level, "the last scan is not kept for the next command: \(error)")
        }
    }

    init(in folder: OpenFolder?) { file = folder.map { DiskFile("last-scan", in: $0) } }

    /// Returns the addresses with these 48 bits: more than one if a public and a random address are alike.
    func addresses(_ bits: UInt64) -> [DeviceAddress] {
        // A file that cannot be read counts as if there had been no scan.
        guard let file, let octets = try? disk.contents(file, limit: Self.limit * 32) else { return [] }
        let lines = String(decoding: octets, as: UTF8.self).split(separator: "\n")
        return lines.compactMap { DeviceAddress($0) }.filter { $0.value == bits }
    }

    /// Stores the addresses of a scan that has ended, in place of the previous ones.
    func keep(_ addresses: Set<DeviceAddress>) {
        guard let file else { return }
        let lines = addresses.prefix(Self.limit).map { "\($0)\n" }.sorted()
        // Several scans can end at the same time.
        let new = file.with(suffix: "\(getpid())")
        do throws(StateError) {
            try disk.write(Array(lines.joined().utf8), to: new)
            try disk.rename(new, to: file)
        } catch {
            _ = try? disk.remove(new)
            // The only consequence is another scan before connecting to one of them without its type.
            Self.log.debug("not kept for the next command: \(error)")
        }
    }
}
