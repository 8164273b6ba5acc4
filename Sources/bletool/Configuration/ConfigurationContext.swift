import BLECore
import Glibc

/// What a configuration may look at outside of its file.
struct ConfigurationContext: Sendable {
    /// The names that the Bluetooth SIG gave to UUIDs.
    var names: UUIDNames
    /// The octets of a file that `{file: PATH}` names, at most so many.
    var contents: @Sendable (_ path: String, _ limit: Int) throws -> [UInt8]
    /// Whether the first word of an `exec` list can be run.
    var isProgram: @Sendable (String) -> Bool
}

extension ConfigurationContext {
    /// Looks at the file system. Relative paths begin at `directory`, which is the configuration's.
    init(names: @escaping UUIDNames, directory: String) {
        self.names = names
        contents = { path, limit in
            try File.contents(path.hasPrefix("/") ? path : "\(directory)/\(path)", limit: limit)
        }
        isProgram = { name in
            if name.contains("/") { return access(name, X_OK) == 0 }
            let folders = (Environment.value("PATH") ?? "/usr/bin:/bin").split(separator: ":")
            return folders.contains { access("\($0)/\(name)", X_OK) == 0 }
        }
    }
}

/// Whole files, read once.
enum File {
    /// The octets of a regular file, at most `limit`; `-` is the standard input.
    static func contents(_ path: String, limit: Int) throws(BadInput) -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw BadInput("cannot read \(path.quoted): \(problem)") }
        defer { if path != "-" { close(descriptor) } }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw BadInput("cannot read \(path.quoted): \(problem)")
        }
        // A pipe would make us wait, and a device may never end.
        guard path == "-" || status.st_mode & S_IFMT == S_IFREG else {
            throw BadInput("\(path.quoted) is not a file")
        }
        var octets: [UInt8] = []
        while octets.count <= limit {
            let chunk = try Self.chunk(descriptor, atMost: limit + 1 - octets.count, path)
            if chunk.isEmpty { return octets }
            octets += chunk
        }
        throw BadInput("\(path.quoted) has more than \(limit) octets")
    }

    private static func chunk(_ descriptor: Int32, atMost room: Int, _ path: String) throws(BadInput)
        -> [UInt8]
    {
        var count = -1
        let chunk = [UInt8](unsafeUninitializedCapacity: min(room, 65_536)) { buffer, initialized in
            repeat {
                count = read(descriptor, buffer.baseAddress, buffer.count)
            } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        guard count >= 0 else { throw BadInput("cannot read \(path.quoted): \(problem)") }
        return chunk
    }

    private static var problem: String { strerror(errno).map { String(cString: $0) } ?? "error \(errno)" }
}
