import BLECore
import HCISocket

/// How far a transfer has come, on one line of a terminal.
struct TransferProgress: Hashable, Sendable {
    /// The number of transferred octets.
    var done: Int
    /// The size of the whole transfer, in octets.
    var total: Int
    /// The time since the first octet.
    var elapsed: Duration

    /// Octets per second; nil before there is any time to speak of.
    private var rate: Double? {
        let seconds = Double(elapsed.nanoseconds) / 1e9
        return seconds < 0.001 ? nil : Double(done) / seconds
    }

    /// The bar, within so many columns: `[#####     ]  50 %  512 B of 1.0 kB  2.1 kB/s  1s left`.
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

    /// What is said at the end.
    var summary: String {
        let seconds = Double(elapsed.nanoseconds / 10_000_000) / 100
        return "\(done) octets in \(seconds) s" + (rate.map { ", \(Self.octets($0))/s" } ?? "")
    }

    /// `512 B`, `1.5 kB`, `2.0 MB`: of 1000.
    private static func octets(_ count: Double) -> String {
        if count < 1000 { return "\(Int(count)) B" }
        let (scaled, unit) = count < 1_000_000 ? (count / 1000, "kB") : (count / 1_000_000, "MB")
        let tenths = Int((scaled * 10).rounded(.down))
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}

/// Shows how far something has come at the bottom of a terminal on stderr; elsewhere it shows nothing.
final class ProgressDisplay: Sendable {
    /// Two drawings are at least so far apart.
    private static let pause = Duration.milliseconds(100)

    private let writer: LineWriter?
    private let start = ContinuousClock.now
    private let drawn = Lock(Duration?.none)

    /// Creates a display on stderr, which shows nothing if stderr is no terminal or output is JSON.
    init(_ console: Console) {
        writer = console.errors.isTerminal && !console.isJSON ? console.errors : nil
    }

    /// Shows that so much is done, unless the last drawing was just now.
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

    /// Takes the line away; `done` octets are what it came to.
    func end(_ done: Int) {
        guard let writer else { return }
        PinnedLine.show(nil, on: writer)
        writer.line(TransferProgress(done: done, total: done, elapsed: ContinuousClock.now - start).summary)
    }

    /// Removes the line from the terminal.
    func abandon() { if let writer { PinnedLine.show(nil, on: writer) } }
}
