import Glibc

/// Whole files, read once. Errors say what is wrong with the file, and leave its name to the caller.
enum File {
    /// The standard input, at most a mebibyte of it. It can be read only once, so it is kept.
    static let standardInput = Result { () throws(BadInput) in
        try contents(of: STDIN_FILENO, limit: 1 << 20)
    }

    /// The octets of a regular file, at most `limit`.
    static func contents(_ path: String, limit: Int) throws(BadInput) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure() }
        // A pipe would make us wait, and a device may never end.
        guard status.st_mode & S_IFMT == S_IFREG else { throw BadInput("is not a file") }
        return try contents(of: descriptor, limit: limit)
    }

    private static func contents(of descriptor: Int32, limit: Int) throws(BadInput) -> [UInt8] {
        var octets: [UInt8] = []
        while octets.count <= limit {
            let more = try chunk(of: descriptor, atMost: limit + 1 - octets.count)
            if more.isEmpty { return octets }
            octets += more
        }
        throw BadInput("has more than \(limit) octets")
    }

    private static func chunk(of descriptor: Int32, atMost room: Int) throws(BadInput) -> [UInt8] {
        var count = -1
        let octets = [UInt8](unsafeUninitializedCapacity: min(room, 65_536)) { buffer, initialized in
            repeat {
                count = read(descriptor, buffer.baseAddress, buffer.count)
            } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        guard count >= 0 else { throw failure() }
        return octets
    }

    private static func failure() -> BadInput {
        BadInput("cannot be read: \(strerror(errno).map { String(cString: $0) } ?? "error \(errno)")")
    }
}
