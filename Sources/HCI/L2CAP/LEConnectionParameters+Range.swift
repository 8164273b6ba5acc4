extension LEConnectionParameters {
    /// Whether a controller may take these values: the interval 7.5 ms to 4 s, the latency at most 499
    /// events, the supervision timeout 100 ms to 32 s and longer than two intervals with the latency's
    /// skipped events (Core Specification 5.4, Vol 4, Part E, 7.8.12; Vol 3, Part A, 4.20).
    package var isInRange: Bool {
        let intervals = ConnectionInterval(rawValue: 0x0006)...ConnectionInterval(rawValue: 0x0c80)
        let timeouts = Centiseconds(rawValue: 0x000a)...Centiseconds(rawValue: 0x0c80)
        guard intervals.contains(intervalMin), intervals.contains(intervalMax), intervalMin <= intervalMax,
            latency <= 499, timeouts.contains(supervisionTimeout), eventMin <= eventMax
        else { return false }
        return supervisionTimeout.duration > intervalMax.duration * (Int(latency) + 1) * 2
    }
}
