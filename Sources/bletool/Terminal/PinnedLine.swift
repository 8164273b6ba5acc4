import Glibc
import Synchronization

/// The line at the bottom of the terminal that stays while others are printed above it: a prompt that is typed at, how
/// far something has come.
enum PinnedLine {
    private static let pinned = Mutex<(text: String, descriptor: Int32)?>(nil)
    /// Back to the margin, and nothing left in the line.
    private static let erase = "\r\u{1b}[K"

    /// Shows the line in place of the one that is pinned; nil: none any more. `text` leaves the cursor in its line.
    static func show(_ text: String?, on writer: LineWriter) {
        pinned.withLock { pinned in
            guard pinned?.text != text else { return }
            _ = writer.text(erase + (text ?? ""))
            pinned = text.map { ($0, writer.descriptor) }
        }
    }

    static func above(_ lines: String, on writer: LineWriter) -> Bool {
        pinned.withLock { pinned in
            guard let pinned else { return writer.text(lines) }
            return writer.text(erase + lines + pinned.text)
        }
    }
}
