import Glibc

/// BlueZ's daemon, which shares kernel adapters with us where it runs.
enum BluetoothDaemon {
    /// Whether a bluetoothd runs, as far as /proc shows it.
    static var isRunning: Bool {
        guard let folder = opendir("/proc") else { return false }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.first?.isNumber == true, let file = fopen("/proc/\(name)/comm", "re") else { continue }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 32)
            guard fgets(&line, CInt(line.count), file) != nil else { continue }
            let command = String(
                decoding: line.map { UInt8(bitPattern: $0) }.prefix { $0 != 0 && $0 != 10 }, as: UTF8.self)
            if command == "bluetoothd" { return true }
        }
        return false
    }
}
