import BLECore

/// Detects that a scan receives nothing. A quiet place is normal, and a controller that has stopped scanning
/// without an event looks the same. So a scan that has received nothing for `timeLimit` is restarted, which
/// costs almost nothing, and again after the same time. Silence alone never causes more than that.
struct ScanWatchdog: Hashable, Sendable {
    /// The maximum time without a packet: 60 s.
    static let timeLimit = Duration.seconds(60)

    /// The time of the last packet, or of the start of the scan; nil while there is none.
    private var lastReceived: Instant?
    /// The start of the time limit.
    private var since: Instant?

    /// The time at which the watchdog checks again.
    var deadline: Instant? { since.map { $0 + Self.timeLimit } }

    /// Starts the time limit when a scan or search is required, and stops it when none is.
    mutating func watch(_ isWanted: Bool, at now: Instant) {
        guard isWanted != (since != nil) else { return }
        since = isWanted ? now : nil
        lastReceived = since
    }

    /// Restarts the time limit, because a packet was received.
    mutating func received(at now: Instant) {
        guard since != nil else { return }
        lastReceived = now
        since = now
    }

    /// Returns the length of the silence if the time limit has passed by `now`, and then restarts the limit.
    mutating func expire(at now: Instant) -> Duration? {
        guard let deadline, deadline <= now, let lastReceived else { return nil }
        since = now
        return lastReceived.duration(until: now)
    }
}
