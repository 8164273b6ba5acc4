import Glibc

/// What the kernel reports in the files of /sys and /proc: small ones, which it answers at once.
struct SystemFiles: Sendable {
    /// The folder that has `sys` and `proc`; empty: the system's own.
    var root = ""

    /// The text of a file without the line end behind it; nil when it cannot be read.
    func text(_ path: String) -> String? {
        guard let file = fopen(root + path, "re") else { return nil }
        defer { fclose(file) }
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while octets.count < 1 << 20 {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            octets += chunk.prefix(count)
        }
        while octets.last == UInt8(ascii: "\n") { octets.removeLast() }
        return String(decoding: octets, as: UTF8.self)
    }

    /// The names in a folder, in order; none when it cannot be read.
    func names(in folder: String) -> [String] {
        guard let stream = opendir(root + folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Where a symbolic link leads.
    func target(of path: String) -> String? {
        var octets = [UInt8](repeating: 0, count: 4096)
        let count = octets.withUnsafeMutableBytes { room -> Int in
            guard let start = room.baseAddress?.assumingMemoryBound(to: CChar.self) else { return 0 }
            return readlink(root + path, start, room.count)
        }
        return count > 0 ? String(decoding: octets.prefix(count), as: UTF8.self) : nil
    }

    /// Whether there is such a file or folder.
    func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }
}
