import BLECore

/// How long operations took: extremes, percentiles, and how many took about as long as each other.
struct LatencyProfile: Hashable, Sendable {
    /// Operations that took more than the bound of the one before, and at most this.
    struct Bucket: Hashable, Sendable {
        var bound: Duration
        var count: Int
    }

    private let sorted: [Duration]

    /// The profile of so many samples.
    init(_ samples: [Duration]) { sorted = samples.sorted() }

    /// The number of samples.
    var count: Int { sorted.count }
    /// The shortest sample; nil without samples.
    var minimum: Duration? { sorted.first }
    /// The longest sample; nil without samples.
    var maximum: Duration? { sorted.last }

    /// The least sample that so many percent of all, 1 to 100, do not exceed (nearest rank).
    func percentile(_ percent: Int) -> Duration? {
        guard !sorted.isEmpty else { return nil }
        return sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]
    }

    /// From the shortest to the longest; each bound is twice the one before, a power of two of microseconds.
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
