import Glibc
import Synchronization

/// A line at the bottom of the terminal that stays while others are printed above it: a prompt with the typed
/// text, or the progress of a transfer.
enum PinnedLine {
    private static let pinned = Mutex<(text: String, descriptor: Int32)?>(nil)
    /// The sequence that returns to the first column and erases the line.
    private static let erase = "\r\u{1b}[K"

    /// Shows the line in place of the pinned one, or removes that if `text` is nil. `text` leaves the cursor
    /// in its line.
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
