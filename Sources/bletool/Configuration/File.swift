import Glibc
import HCISocket

/// Whole files, read once. Errors say what is wrong with the file, and leave its name to the caller.
enum File {
    /// The standard input, at most a mebibyte of it. It can be read only once, so it is kept.
    static let standardInput = Result { () throws(BadInput) in
        try contents(of: STDIN_FILENO, limit: 1 << 20)
    }

    /// What the shell's pipes gave, by path: they, too, can be read only once.
    private static let pipes = Lock<[String: [UInt8]]>([:])

    /// The octets of a file, at most `limit`. `takesPipes`: also of a pipe that a shell made of `<(command)`, when that
    /// has ended; it is waited for, so not on the radio's loop.
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
        // Another pipe would make us wait for who writes to it, and a device may never end.
        case S_IFIFO where takesPipes && (path.hasPrefix("/dev/fd/") || path.hasPrefix("/proc/self/fd/")):
            _ = fcntl(descriptor, F_SETFL, 0)
        default: throw BadInput("is not a file", hint: takesPipes ? "a pipe can be given as <(command)" : nil)
        }
        let octets = try contents(of: descriptor, limit: limit)
        pipes.withLock { $0[path] = octets }
        return octets
    }

    /// The octets of what a command line names: `-` is the standard input, and the shell's pipes are taken.
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

    /// Makes a file in place of one that is there: all of it or, when it cannot be written, none. Unless `mode` says
    /// otherwise, only its owner reads it. A link to a file stays, and so does what is no file, as a pipe that a
    /// process reads: that is written to.
    static func replace(
        _ path: String, with octets: [UInt8], mode: mode_t = 0o600
    ) throws(BadInput) {
        var status = stat()
        guard stat(path, &status) == 0 else { return try rename(octets, to: path, mode) }
        if status.st_mode & S_IFMT == S_IFREG {
            let end = realpath(path, nil)
            defer { free(end) }
            return try rename(octets, to: end.map { String(cString: $0) } ?? path, mode)
        }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw errno == ENXIO ? BadInput("cannot be written: no process reads it") : failure("written")
        }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFL, 0)
        if let problem = write(octets, to: descriptor) { throw failure("written", problem) }
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

    /// Writes all; the error's number where that cannot be.
    static func write(_ octets: [UInt8], to descriptor: CInt) -> CInt? {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
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
