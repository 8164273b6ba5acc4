import BLECore

/// The distribution of latencies: extremes, percentiles, and a histogram.
struct LatencyProfile: Hashable, Sendable {
    /// The operations that took more than the previous bucket's bound, and at most this bound.
    struct Bucket: Hashable, Sendable {
        var bound: Duration
        var count: Int
    }

    private let sorted: [Duration]

    /// Creates the profile of the samples.
    init(_ samples: [Duration]) { sorted = samples.sorted() }

    /// The number of samples.
    var count: Int { sorted.count }
    /// The shortest sample; nil without samples.
    var minimum: Duration? { sorted.first }
    /// The longest sample; nil without samples.
    var maximum: Duration? { sorted.last }

    /// Returns the smallest sample that `percent`, 1 to 100, of all samples do not exceed (nearest rank).
    func percentile(_ percent: Int) -> Duration? {
        guard !sorted.isEmpty else { return nil }
        return sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]
    }

    /// The buckets from the shortest to the longest latency. Each bound is a power of two in microseconds,
    /// twice the previous one.
    var buckets: [Bucket] {
        guard let minimum, let maximum else { return [] }
        var bound = Duration.microseconds(1)
        while bound < minimum { bound *= 2 }
        var buckets: [Bucket] = []
        var rest = sorted[...]
        while true {
            let end = rest.firstIndex { $0 > bound } ?? rest.endIndex
            buckets.append(Bucket(bound: bound, count: end - rest.startIndex))
            rest = rest[end...]
            if bound >= maximum { return buckets }
            bound *= 2
        }
    }
}
