/// A histogram of response times in constant memory. Each octave is divided into eight equal parts with one
/// count each, so a quantile is at most 12.5 percent wrong.
package struct LatencyHistogram: Hashable, Sendable {
    /// The number of measured times.
    package private(set) var count = 0
    /// The shortest time, in microseconds.
    package private(set) var minimum = Int64.max
    /// The longest time, in microseconds.
    package private(set) var maximum: Int64 = 0
    private var sum: Int64 = 0
    private var counts = [Int](repeating: 0, count: 64 * 8)

    package init() {}

    /// Adds a time in microseconds; a negative time counts as 0.
    package mutating func add(_ latency: Int64) {
        let latency = max(0, latency)
        count += 1
        sum = sum &+ latency
        (minimum, maximum) = (min(minimum, latency), max(maximum, latency))
        counts[Self.index(latency)] += 1
    }

    /// The mean time in microseconds; 0 without measured times.
    package var mean: Int64 { count > 0 ? sum / Int64(count) : 0 }

    /// Returns the time in microseconds that the fraction `part` (0 to 1) of the answers did not exceed.
    package func quantile(_ part: Double) -> Int64 {
        let wanted = max(1, Int((Double(count) * part).rounded(.up)))
        var seen = 0
        for (index, number) in counts.enumerated() where number > 0 {
            guard seen + number >= wanted else {
                seen += number
                continue
            }
            // The times of a part are taken to be spread evenly over it.
            let first = max(minimum, index > 0 ? Self.upperEnd(index - 1) + 1 : 0)
            let last = min(maximum, Self.upperEnd(index))
            if wanted - seen == number { return last }
            let share = Double(wanted - seen) / Double(number)
            return first + Int64((Double(last - first) * share).rounded())
        }
        return maximum
    }

    private static func index(_ latency: Int64) -> Int {
        guard latency >= 8 else { return Int(latency) }
        let octave = 63 - latency.leadingZeroBitCount
        return (octave - 2) * 8 + Int(latency >> (octave - 3) & 7)
    }

    /// Returns the greatest latency that a count includes.
    private static func upperEnd(_ index: Int) -> Int64 {
        guard index >= 8 else { return Int64(index) }
        let octave = index / 8 + 2
        let start = Int64(8 + index % 8) << (octave - 3)
        return start + ((1 << (octave - 3)) - 1)
    }
}
