import Glibc
import HCISocket
import Synchronization

/// Lines to a descriptor. Each goes out at once and whole, whichever thread it comes from, so that lines
/// never mix and a reader at the other end of a pipe sees each as it happens.
final class LineWriter: Sendable {
    /// The file descriptor that is written to.
    let descriptor: Int32
    /// Why nothing can be written any more, once that is so; what is written then goes nowhere.
    private let problem = Mutex<Int32?>(nil)
    /// Whether a terminal shows the lines.
    let isTerminal: Bool
    /// The function that receives the lines instead, while a screen uses the terminal.
    private let diversion = Mutex<(@Sendable (String) -> Void)?>(nil)

    /// Creates a writer for an open descriptor.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
    }

    static let output = LineWriter(STDOUT_FILENO)
    static let errors = LineWriter(STDERR_FILENO)

    /// The errno that ended the writing: EPIPE when the reader has gone, which is not a failure.
    var error: Int32? { problem.withLock { $0 } }

    /// Writes `text` and a line end. False when nothing can be written any more; a command that would go
    /// on for long then ends.
    @discardableResult
    func line(_ text: some StringProtocol) -> Bool {
        if let taker = diversion.withLock({ $0 }) {
            taker(String(text))
            return true
        }
        if isTerminal { return PinnedLine.above("\(text)\n", on: self) }
        var octets = ContiguousArray(text.utf8)
        octets.append(UInt8(ascii: "\n"))
        return problem.withLock { problem in
            if problem == nil { problem = octets.withUnsafeBytes(write) }
            return problem == nil
        }
    }

    /// Gives lines to `taker` from now on; nil: writes them again.
    func divert(_ taker: (@Sendable (String) -> Void)?) { diversion.withLock { $0 = taker } }

    /// Writes text that has its line ends already, whatever is pinned.
    @discardableResult
    func text(_ text: String) -> Bool {
        var text = text
        return problem.withLock { problem in
            if problem == nil { problem = text.withUTF8 { write(UnsafeRawBufferPointer($0)) } }
            return problem == nil
        }
    }

    /// Writes the octets without a line end. Returns false when writing has failed.
    @discardableResult
    func octets(_ octets: [UInt8]) -> Bool {
        problem.withLock { problem in
            if problem == nil { problem = octets.withUnsafeBytes(write) }
            return problem == nil
        }
    }

    /// Refuses octets as they are, which `option` asks for, on a terminal: it would obey them.
    func refuseOctets(_ option: String) throws(Failure) {
        guard isTerminal else { return }
        throw Failure(
            .usage, option, "would write octets to a terminal as they are",
            hint: "stdout can be a file or a pipe")
    }

    /// Writes a JSON object on a line.
    @discardableResult
    func line(_ value: JSONValue) -> Bool { line(value.description) }

    /// Writes all, or returns the errno that it met.
    private func write(_ octets: UnsafeRawBufferPointer) -> Int32? {
        var done = 0
        while done < octets.count {
            let written = Glibc.write(descriptor, octets.baseAddress?.advanced(by: done), octets.count - done)
            if written >= 0 {
                done += written
            } else if errno == EAGAIN {
                // Another process made the pipe non-blocking; it uses the pipe as well, so it stays so.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }
}

extension LineWriter {
    /// Waits until what is written has no reader any more: the other end of a pipe or socket is closed, as by
    /// `head`. A file and a terminal always have a reader; then only cancelling the task ends the wait.
    func readerHasGone() async {
        if let copy = pipe {
            defer { close(copy) }
            // No interest of its own: the end of the other side is always reported.
            if await EventLoop.shared.readiness(of: copy, for: []) != nil { return }
        }
        _ = await EventLoop.shared.sleep(for: .seconds(Int64.max))
    }

    /// A descriptor of the wait's own, for what can lose its reader.
    private var pipe: Int32? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else {
            return nil
        }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy >= 0 ? copy : nil
    }
}
