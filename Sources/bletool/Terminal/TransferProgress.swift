import BLECore
import HCISocket

/// The progress of a transfer, on one line of a terminal.
struct TransferProgress: Hashable, Sendable {
    /// The number of transferred octets.
    var done: Int
    /// The size of the whole transfer, in octets.
    var total: Int
    /// The time since the first octet.
    var elapsed: Duration

    /// The octets per second, or nil before there is a measurable time.
    private var rate: Double? {
        let seconds = Double(elapsed.nanoseconds) / 1e9
        return seconds < 0.001 ? nil : Double(done) / seconds
    }

    /// Returns the progress in at most `columns` columns:
    /// `[#####     ]  50 %  512 B of 1.0 kB  2.1 kB/s  1s left`.
    func line(columns: Int) -> String {
        let percent = total == 0 ? 100 : done * 100 / total
        var facts = "\(String(repeating: " ", count: percent < 10 ? 2 : percent < 100 ? 1 : 0))\(percent) %"
        facts += "  \(Self.octets(Double(done))) of \(Self.octets(Double(total)))"
        if let rate, rate > 0 {
            facts += "  \(Self.octets(rate))/s"
            if done < total { facts += "  \(Int((Double(total - done) / rate).rounded(.up)))s left" }
        }
        let room = min(30, columns - facts.count - 5)
        guard room > 3 else { return String(facts.prefix(max(0, columns - 1))) }
        let filled = total == 0 ? room : done * room / total
        let bar = String(repeating: "#", count: filled) + String(repeating: " ", count: room - filled)
        return "[\(bar)] \(facts)"
    }

    /// The text that is shown at the end.
    var summary: String {
        let seconds = Double(elapsed.nanoseconds / 10_000_000) / 100
        return "\(done) octets in \(seconds) s" + (rate.map { ", \(Self.octets($0))/s" } ?? "")
    }

    /// Returns the octets in decimal units: `512 B`, `1.5 kB`, `2.0 MB`.
    private static func octets(_ count: Double) -> String {
        if count < 1000 { return "\(Int(count)) B" }
        let (scaled, unit) = count < 1_000_000 ? (count / 1000, "kB") : (count / 1_000_000, "MB")
        let tenths = Int((scaled * 10).rounded(.down))
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}

/// Shows the progress of a transfer at the bottom of a terminal on stderr; without a terminal, it shows
/// nothing.
final class ProgressDisplay: Sendable {
    /// The minimum time between two drawings.
    private static let pause = Duration.milliseconds(100)

    private let writer: LineWriter?
    private let start = ContinuousClock.now
    private let drawn = Lock(Duration?.none)

    /// Creates a display on stderr, which shows nothing if stderr is no terminal or output is JSON.
    init(_ console: Console) {
        writer = console.errors.isTerminal && !console.isJSON ? console.errors : nil
    }

    /// Shows the number of transferred octets, unless the last drawing was just now. The end is always shown.
    func show(_ done: Int, of total: Int) {
        guard let writer else { return }
        let elapsed = ContinuousClock.now - start
        let isDue = drawn.withLock { drawn in
            if let last = drawn, elapsed - last < Self.pause, done < total { return false }
            drawn = elapsed
            return true
        }
        guard isDue else { return }
        let progress = TransferProgress(done: done, total: total, elapsed: elapsed)
        PinnedLine.show(progress.line(columns: writer.size.columns), on: writer)
    }

    /// Removes the line, and prints a summary for `done` octets.
    func end(_ done: Int) {
        guard let writer else { return }
        PinnedLine.show(nil, on: writer)
        writer.line(TransferProgress(done: done, total: done, elapsed: ContinuousClock.now - start).summary)
    }

    /// Removes the line from the terminal.
    func abandon() { if let writer { PinnedLine.show(nil, on: writer) } }
}
