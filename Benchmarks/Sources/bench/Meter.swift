import CProbe

/// Measures pieces of work, prints a line for each, and remembers which allocated more than they may.
struct Meter {
    private(set) var failures = 0

    /// Measures the allocations and the time of one call of `work`, which may allocate at most `limit` times.
    /// The time is that of the fastest of seven rounds: other load can only add to it.
    mutating func measure(_ name: String, allocations limit: Int, turns: Int = 20_000, _ work: () -> Void) {
        for _ in 0..<(turns / 20) { work() }
        let before = probe_allocations()
        for _ in 0..<turns { work() }
        let allocations = Double(probe_allocations() - before) / Double(turns)
        var best = Duration.seconds(1000)
        for _ in 0..<7 {
            let start = ContinuousClock.now
            for _ in 0..<turns { work() }
            best = min(best, ContinuousClock.now - start)
        }
        let nanoseconds = Double(best.components.attoseconds) / 1e9 / Double(turns)
        // A stray allocation of the runtime is none of the work's.
        let isOver = allocations > Double(limit) + 0.01
        if isOver { failures += 1 }
        print(
            name.padded(46), "\(Int(nanoseconds.rounded())) ns".leftPadded(10),
            "\((allocations * 100).rounded() / 100)".leftPadded(8), "of \(limit)", isOver ? "TOO MANY" : "")
    }
}

/// A time, by the time of the baseline in the same run.
struct Ratio: Sendable {
    /// An aim is for a machine that does nothing else: a run fails only when it is missed by half.
    static let margin = 1.5

    var what: String
    var value: Double
    /// The greatest value that is wanted.
    var aim: Double

    /// The value, to two digits.
    var rounded: Double { (value * 100).rounded() / 100 }
    var isMissed: Bool { value > aim * Self.margin }
}

/// Prints what was measured once.
func line(_ name: String, _ value: String, _ note: String = "") {
    print(name.padded(46), value.leftPadded(10), note)
}

extension String {
    func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    func leftPadded(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}

/// Keeps a result from being optimized away.
@inline(never)
func keep<Value>(_ value: borrowing Value) {}
