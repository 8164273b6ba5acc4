/// How long answers took, in memory that does not grow: one count for every eighth of an octave, which is within
/// 9 percent.
package struct LatencyHistogram: Hashable, Sendable {
    /// The number of measured answers.
    package private(set) var count = 0
    /// The shortest time, in microseconds.
    package private(set) var minimum = Int64.max
    /// The longest time, in microseconds.
    package private(set) var maximum: Int64 = 0
    private var sum: Int64 = 0
    private var counts = [Int](repeating: 0, count: 64 * 8)

    package init() {}

    /// Adds a time in microseconds; one below zero counts as none.
    package mutating func add(_ latency: Int64) {
        let latency = max(0, latency)
        count += 1
        sum = sum &+ latency
        (minimum, maximum) = (min(minimum, latency), max(maximum, latency))
        counts[Self.index(latency)] += 1
    }

    /// The mean time in microseconds; 0 without answers.
    package var mean: Int64 { count > 0 ? sum / Int64(count) : 0 }

    /// The time that this part of the answers took at most, 0 to 1, in microseconds.
    package func quantile(_ part: Double) -> Int64 {
        let wanted = max(1, Int((Double(count) * part).rounded(.up)))
        var seen = 0
        for (index, number) in counts.enumerated() {
            seen += number
            if seen >= wanted { return min(maximum, max(minimum, Self.upperEnd(index))) }
        }
        return maximum
    }

    private static func index(_ latency: Int64) -> Int {
        guard latency >= 8 else { return Int(latency) }
        let octave = 63 - latency.leadingZeroBitCount
        return (octave - 2) * 8 + Int(latency >> (octave - 3) & 7)
    }

    /// The greatest latency of a count.
    private static func upperEnd(_ index: Int) -> Int64 {
        guard index >= 8 else { return Int64(index) }
        let octave = index / 8 + 2
        let start = Int64(8 + index % 8) << (octave - 3)
        return start + ((1 << (octave - 3)) - 1)
    }
}
