import Glibc
import HCISocket
import Synchronization

/// Writes lines to a descriptor. Each line is written immediately and as a whole, from any thread, so that
/// lines never mix and the reader of a pipe receives each one without delay.
final class LineWriter: Sendable {
    /// The file descriptor that is written to.
    let descriptor: Int32
    /// The errno that ended writing, if any. Later output is discarded.
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

    /// Writes `text` and a line end. Returns false when nothing can be written any more, so that a long
    /// command can end.
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

    /// Passes lines to `taker` from now on, or writes them again if it is nil.
    func divert(_ taker: (@Sendable (String) -> Void)?) { diversion.withLock { $0 = taker } }

    /// Writes text that already contains its line ends, regardless of a pinned line.
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

    /// Rejects the raw octets that `option` requests if the output is a terminal, which would interpret them.
    func refuseOctets(_ option: String) throws(Failure) {
        guard isTerminal else { return }
        throw Failure(
            .usage, option, "would write octets to a terminal as they are",
            hint: "stdout can be a file or a pipe")
    }

    /// Writes a JSON object on a line.
    @discardableResult
    func line(_ value: JSONValue) -> Bool { line(value.description) }

    /// Writes all octets. Returns the errno if that fails, otherwise nil.
    private func write(_ octets: UnsafeRawBufferPointer) -> Int32? {
        var done = 0
        while done < octets.count {
            let written = Glibc.write(descriptor, octets.baseAddress?.advanced(by: done), octets.count - done)
            if written >= 0 {
                done += written
            } else if errno == EAGAIN {
                // Another process made the pipe non-blocking. The mode stays, because that process uses the
                // pipe, too.
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
    /// Waits until the output has no reader any more, because the other end of a pipe or socket is closed, as
    /// by `head`. A file and a terminal always have a reader; then only cancelling the task ends the wait.
    func readerHasGone() async {
        if let copy = pipe {
            defer { close(copy) }
            // No events are requested, because the end of the other side is always reported.
            if await EventLoop.shared.readiness(of: copy, for: []) != nil { return }
        }
        _ = await EventLoop.shared.sleep(for: .seconds(Int64.max))
    }

    /// A duplicate of the descriptor for the wait if it is a pipe or a socket, otherwise nil.
    private var pipe: Int32? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else {
            return nil
        }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy >= 0 ? copy : nil
    }
}
