import CProbe

/// Measures pieces of work, prints a line for each, and counts those that exceed their allocation limit.
struct Meter {
    private(set) var failures = 0

    /// Measures the allocations and the time of one call of `work`, which is allowed to allocate at most
    /// `limit` times. The time is that of the fastest of seven rounds, because other load can only increase
    /// it.
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
        // The tolerance covers occasional allocations of the runtime, which do not belong to the work.
        let isOver = allocations > Double(limit) + 0.01
        if isOver { failures += 1 }
        print(
            name.padded(46), "\(Int(nanoseconds.rounded())) ns".leftPadded(10),
            "\((allocations * 100).rounded() / 100)".leftPadded(8), "of \(limit)", isOver ? "TOO MANY" : "")
    }
}

/// A measured value and its aim: a time as a multiple of the baseline's time in the same run, a share of a
/// processor, or an amount of memory.
struct Figure: Sendable {
    /// The tolerated multiple of an aim. Aims apply to an otherwise idle machine, so a run fails only if a
    /// value exceeds its aim by more than half.
    static let margin = 1.5

    var what: String
    var value: Double
    /// The unit of the value and of the aim.
    var unit = "times the baseline"
    /// The maximum value that the benchmark aims for.
    var aim: Double

    /// The value, to two digits.
    var rounded: Double { (value * 100).rounded() / 100 }
    var isMissed: Bool { value > aim * Self.margin }
}

/// Prints a line with a single measured value.
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
