import Glibc
import HCISocket

/// Reads and writes whole files. Errors describe the problem, and leave the file's name to the caller.
enum File {
    /// The contents of the standard input, at most 1 MiB. They can be read only once, so they are kept.
    static let standardInput = Result { () throws(BadInput) in
        try contents(of: STDIN_FILENO, limit: 1 << 20)
    }

    /// The contents of the shell's pipes by path, which can also be read only once.
    private static let pipes = Lock<[String: [UInt8]]>([:])

    /// Returns the octets of a file, at most `limit`. If `takesPipes`, the file can also be a pipe that a
    /// shell made of `<(command)`. Reading a pipe blocks until the command has ended, so it must not be done
    /// on the radio's loop.
    static func contents(
        _ path: String, limit: Int, takesPipes: Bool = false
    ) throws(BadInput) -> [UInt8] {
        if let octets = pipes.withLock({ $0[path] }) { return octets }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure() }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return try contents(of: descriptor, limit: limit)
        // Reading another pipe would block until a process writes to it, and a device might never end.
        case S_IFIFO where takesPipes && (path.hasPrefix("/dev/fd/") || path.hasPrefix("/proc/self/fd/")):
            _ = fcntl(descriptor, F_SETFL, 0)
        default: throw BadInput("is not a file", hint: takesPipes ? "a pipe can be given as <(command)" : nil)
        }
        let octets = try contents(of: descriptor, limit: limit)
        pipes.withLock { $0[path] = octets }
        return octets
    }

    /// Returns the octets of a file on the command line: `-` is the standard input, and the shell's pipes are
    /// accepted.
    static func argument(_ path: String, limit: Int) throws(BadInput) -> [UInt8] {
        path == "-" ? try standardInput.get() : try contents(path, limit: limit, takesPipes: true)
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

    /// Writes a file completely or, if that fails, leaves an existing file as it is. By default, only the
    /// owner can read the file; `mode` changes that. A symbolic link is kept, and the file that it points to
    /// is replaced. A path that is not a regular file, such as a pipe that a process reads, is not replaced
    /// but written to.
    static func replace(
        _ path: String, with octets: [UInt8], mode: mode_t = 0o600
    ) throws(BadInput) {
        var status = stat()
        guard stat(path, &status) == 0 else { return try rename(octets, to: path, mode) }
        if status.st_mode & S_IFMT == S_IFREG {
            return try rename(octets, to: absolutePath(path) ?? path, mode)
        }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw errno == ENXIO ? BadInput("cannot be written: no process reads it") : failure("written")
        }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFL, 0)
        if let problem = write(octets, to: descriptor) { throw failure("written", problem) }
    }

    /// Returns whether a file has content. A pipe and a device have none, because opening them could have
    /// effects.
    static func hasContent(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size > 0
    }

    /// Returns whether a file has content that does not begin with `magic`, or that cannot be read.
    static func hasContent(_ path: String, otherThan magic: [UInt8]) -> Bool {
        guard hasContent(path) else { return false }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        return hasContent(descriptor, otherThan: magic)
    }

    /// Returns whether an open file has content that does not begin with `magic`, or that cannot be read.
    static func hasContent(_ descriptor: CInt, otherThan magic: [UInt8]) -> Bool {
        var count = -1
        let beginning = [UInt8](unsafeUninitializedCapacity: magic.count) { buffer, initialized in
            count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
            initialized = max(0, count)
        }
        return count != 0 && beginning != magic
    }

    /// Throws if a new file cannot be created at a path, for commands that write it at their end.
    static func checkWritable(_ path: String) throws(BadInput) {
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT == S_IFDIR { throw BadInput("is a folder") }
        guard !exists || status.st_mode & S_IFMT == S_IFREG else { return }
        // The target of a symbolic link is replaced.
        if access(folder(of: absolutePath(path) ?? path), W_OK | X_OK) != 0 { throw failure("written") }
    }

    /// Returns the path of the folder that contains a file. That of a pipe of the shell, as in
    /// `serve <(command)`, is the current folder.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return ["/dev", "/dev/fd", "/proc/self/fd"].contains(folder) ? "." : folder
    }

    /// Returns the absolute path of an existing file or folder, without symbolic links.
    static func absolutePath(_ path: String) -> String? {
        let end = realpath(path, nil)
        defer { free(end) }
        return end.map { String(cString: $0) }
    }

    private static func rename(_ octets: [UInt8], to path: String, _ mode: mode_t) throws(BadInput) {
        let new = "\(path).\(getpid())"
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw failure("written") }
        var problem = write(octets, to: descriptor)
        if problem == nil, fsync(descriptor) != 0 || Glibc.rename(new, path) != 0 { problem = errno }
        close(descriptor)
        if let problem {
            unlink(new)
            throw failure("written", problem)
        }
    }

    /// Writes all octets. Returns the error's number if that fails, otherwise nil.
    static func write(_ octets: [UInt8], to descriptor: CInt) -> CInt? {
        var written = 0
        return write(octets, to: descriptor, count: &written)
    }

    /// Writes all octets, and sets `written` to the number of octets that were written. Returns the error's
    /// number if that fails, otherwise nil.
    static func write(_ octets: [UInt8], to descriptor: CInt, count written: inout Int) -> CInt? {
        written = 0
        while written < octets.count {
            let count = octets.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                return Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            if count >= 0 {
                written += count
            } else if errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    private static func failure(_ done: String = "read", _ problem: CInt = errno) -> BadInput {
        BadInput("cannot be \(done): \(strerror(problem).map { String(cString: $0) } ?? "error \(problem)")")
    }
}
