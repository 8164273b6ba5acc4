import BLECore

/// Notices that a scan hears nothing. A quiet place is normal, and a controller that has stopped listening
/// without a word looks the same; so a scan that has heard nothing for `patience` is begun anew, which costs
/// next to nothing, and again after the same time. Silence alone never does more.
struct ScanWatchdog: Hashable, Sendable {
    /// How long nothing may be heard: 60 s.
    static let patience = Duration.seconds(60)

    /// When something was heard, or the scan began; nil while there is none.
    private var heardLast: Instant?
    /// From when on patience counts.
    private var since: Instant?

    /// When to look again.
    var deadline: Instant? { since.map { $0 + Self.patience } }

    /// Somebody wants to hear something, or nobody does.
    mutating func watch(_ isWanted: Bool, at now: Instant) {
        guard isWanted != (since != nil) else { return }
        since = isWanted ? now : nil
        heardLast = since
    }

    /// Something was heard.
    mutating func heard(at now: Instant) {
        guard since != nil else { return }
        heardLast = now
        since = now
    }

    /// The length of the silence when patience has ended by `now`; it counts anew then.
    mutating func expire(at now: Instant) -> Duration? {
        guard let deadline, deadline <= now, let heardLast else { return nil }
        since = now
        return heardLast.duration(until: now)
    }
}
