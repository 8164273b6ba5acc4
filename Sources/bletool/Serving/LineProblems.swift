import BLECore

/// Limits how many of a program's lines are reported because they are no values: a number in each second. The
/// others are counted.
struct LineProblems {
    /// The maximum number of lines that are reported in a second.
    static let limit = 8
    private static let period = Duration.seconds(1)

    /// The time of the first line that was reported in this period.
    private var began: Instant?
    private var reported = 0
    private var unreported = 0

    /// Notes a line that is no value. Returns whether it is to be reported.
    mutating func admit(at now: Instant) -> Bool {
        if isOver(at: now) { (began, reported) = (now, 0) }
        guard reported < Self.limit else {
            unreported += 1
            return false
        }
        reported += 1
        return true
    }

    /// Returns a message about the lines that were not reported, once the period has ended; if `now` is nil, at
    /// once. Returns nil if there are none.
    mutating func rest(at now: Instant?) -> String? {
        guard unreported > 0, now.map(isOver) ?? true else { return nil }
        defer { unreported = 0 }
        return unreported == 1 ? "1 more line is no value" : "\(unreported) more lines are no values"
    }

    private func isOver(at now: Instant) -> Bool {
        began.map { $0.duration(until: now) >= Self.period } ?? true
    }
}
