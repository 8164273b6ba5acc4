import BLECore

/// When an HCI socket is read next. A wake of the loop costs several times what an advertising report costs, so
/// reports that come one by one, but many a second, are taken a few at a time. Nothing else waits for that:
/// where a command, its answer or data passed lately, each packet is taken when it comes.
struct ReadingPace {
    /// How long reports may wait, and at most late.
    static let rest = Duration.milliseconds(10)
    /// Reports this close together are many.
    static let gap = Duration.milliseconds(1)
    /// The number of reports from which a batch is large enough; the socket's buffer must not fill up meanwhile.
    static let worthwhile = 32
    /// Nothing else passed for so long: then only reports are to be expected.
    static let calm = Duration.milliseconds(100)

    private var lastBusy: Instant?
    private var lastRead: Instant?
    private var hasRested = false

    /// Something was sent, or something else than a report came.
    mutating func isBusy(at now: Instant) { lastBusy = now }

    /// So many reports, and nothing else, were read. Returns how long to leave the socket alone, if at all.
    mutating func read(_ count: Int, at now: Instant) -> Instant? {
        let since = lastRead.map { $0.duration(until: now) }
        lastRead = now
        let areMany = hasRested ? count > 1 : since.map { $0 < Self.gap } ?? false
        let isCalm = lastBusy.map { $0.duration(until: now) >= Self.calm } ?? true
        hasRested = areMany && isCalm && count < Self.worthwhile
        return hasRested ? now + Self.rest : nil
    }
}
