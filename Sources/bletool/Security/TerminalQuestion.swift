import Glibc
import HCISocket
import Synchronization

/// A question to the user at the terminal, regardless of the standard streams.
enum TerminalQuestion {
    /// The function that asks instead, while a shell uses the terminal.
    static let shell = Mutex<(@Sendable (String) async -> String?)?>(nil)

    /// Returns the answer, one line, or nil if there is no terminal or the task is cancelled.
    static func ask(_ question: String) async -> String? {
        if let shell = shell.withLock({ $0 }) { return await shell(question) }
        // A separate open file description, so that the shell's stays blocking.
        let terminal = open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        // Discards what was typed before the question, because it is not an answer.
        tcflush(terminal, TCIFLUSH)
        guard write(terminal, question) else { return nil }
        var line: [UInt8] = []
        while await EventLoop.shared.readiness(of: terminal, for: .read) != nil {
            var octets = [UInt8](repeating: 0, count: 256)
            let count = read(terminal, &octets, octets.count)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else { return nil }
            line += octets.prefix(count)
            if let end = line.firstIndex(of: UInt8(ascii: "\n")) {
                return String(decoding: line[..<end], as: UTF8.self).trimmed
            }
        }
        // Later output starts on a new line.
        _ = write(terminal, "\n")
        return nil
    }

    private static func write(_ terminal: CInt, _ text: String) -> Bool {
        let octets = Array(text.utf8)
        return Glibc.write(terminal, octets, octets.count) == octets.count
    }
}

extension String {
    /// The text without white space at its ends.
    var trimmed: String {
        let words = drop(while: \.isWhitespace)
        return String(words.prefix(words.count - words.reversed().prefix(while: \.isWhitespace).count))
    }
}
