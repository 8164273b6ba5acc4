import BLECore
import Glibc
import HCISocket
import Recordings

/// A recording that is read from its start: a file, or the standard input.
final class RecordingInput: Sendable {
    /// The name of the recording in messages.
    let name: String
    private let descriptor: CInt
    private let path: String?
    private let isPipe: Bool

    /// The maximum number of octets in one read.
    private static let chunk = 256 << 10

    /// Opens a file; `-` is the standard input.
    init(_ path: String) throws(Failure) {
        guard path != "-" else {
            (name, descriptor, self.path, isPipe) = ("stdin", STDIN_FILENO, nil, false)
            return
        }
        (name, self.path) = (path, path)
        // Opening a pipe without a writer would block, regardless of `isReady`.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        isPipe = descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
        guard descriptor >= 0 else { throw Self.failure(path) }
        _ = fcntl(descriptor, F_SETFL, 0)
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            close(descriptor)
            throw Failure(.input, path, "is a directory")
        }
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// Reads the next octets. Returns none at the current end of the input. Waits for the data of a pipe.
    func next() throws(Failure) -> [UInt8] {
        // Without a writer, reading a pipe that was opened without blocking returns its end at once.
        if isPipe { _ = isReady(until: .now + .seconds(1 << 30)) }
        var count = -1
        let octets = [UInt8](unsafeUninitializedCapacity: Self.chunk) { buffer, initialized in
            repeat {
                count = read(descriptor, buffer.baseAddress, buffer.count)
            } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        guard count >= 0 else { throw Self.failure(name) }
        return octets
    }

    /// Waits until there are octets or the input has ended. Returns false if `deadline` passes first. A file
    /// is always ready.
    func isReady(until deadline: ContinuousClock.Instant?) -> Bool {
        guard let deadline else { return true }
        while true {
            let left = max(.zero, ContinuousClock.now.duration(to: deadline)).nanoseconds
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&ready, 1, CInt(clamping: left / 1_000_000 + (left > 0 ? 1 : 0)))
            if count > 0 || (count < 0 && errno != EINTR) { return true }
            if count == 0, ContinuousClock.now >= deadline { return false }
        }
    }

    /// Returns whether the path names the file that is read.
    func isFile(at path: String) -> Bool {
        var (mine, other) = (stat(), stat())
        guard fstat(descriptor, &mine) == 0, stat(path, &other) == 0 else { return false }
        return mine.st_mode & S_IFMT == S_IFREG && mine.st_dev == other.st_dev && mine.st_ino == other.st_ino
    }

    /// Whether the input can grow after its end.
    var canGrow: Bool { path != nil }

    /// Starts a watch that reports when the file has grown. It must be started before the end of the file is
    /// read.
    func growth() throws(Failure) -> FileGrowth? {
        guard let path else { return nil }
        do throws(PortError) {
            return try FileGrowth(of: path, on: .shared)
        } catch {
            throw Failure(.input, name, "\(error)")
        }
    }

    private static func failure(_ name: String) -> Failure {
        let reason = String(cString: strerror(errno))
        return Failure(errno == EACCES ? .permission : .input, name, reason)
    }
}

/// Reports when a file has grown (inotify(7)). It must be created before the end of the file is read, so that
/// no growth in between is missed.
final class FileGrowth: Sendable {
    private let descriptor: CInt
    private let loop: EventLoop

    init(of path: String, on loop: EventLoop) throws(PortError) {
        self.loop = loop
        descriptor = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        guard descriptor >= 0 else { throw .system(.current, during: "inotify_init") }
        // From here on, `deinit` closes the descriptor, also when this initializer throws.
        guard inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else {
            throw .system(.current, during: "inotify_add_watch \(path)")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Waits until the file has changed since the last call. Returns false when the task is cancelled.
    func next() async -> Bool {
        guard await loop.readiness(of: descriptor, for: .read) != nil else { return false }
        // All pending events count as one change.
        var events = [UInt8](repeating: 0, count: 4096)
        while events.withUnsafeMutableBytes({ read(descriptor, $0.baseAddress, $0.count) }) > 0 {}
        return true
    }
}
