import BLECore

/// Detects that a scan receives nothing. A quiet place is normal, and a controller that has stopped scanning
/// without an event looks the same; so a scan that has received nothing for `timeLimit` is begun anew, which
/// costs next to nothing, and again after the same time. Silence alone never does more.
struct ScanWatchdog: Hashable, Sendable {
    /// How long nothing may be received: 60 s.
    static let timeLimit = Duration.seconds(60)

    /// When something was received, or the scan began; nil while there is none.
    private var lastReceived: Instant?
    /// The start of the time limit.
    private var since: Instant?

    /// When the watchdog is to check again.
    var deadline: Instant? { since.map { $0 + Self.timeLimit } }

    /// Starts the time limit when a scan or search is wanted, and stops it when none is.
    mutating func watch(_ isWanted: Bool, at now: Instant) {
        guard isWanted != (since != nil) else { return }
        since = isWanted ? now : nil
        lastReceived = since
    }

    /// Starts the time limit anew, since a packet was received.
    mutating func received(at now: Instant) {
        guard since != nil else { return }
        lastReceived = now
        since = now
    }

    /// The length of the silence when the time limit has passed by `now`; the limit then starts anew.
    mutating func expire(at now: Instant) -> Duration? {
        guard let deadline, deadline <= now, let lastReceived else { return nil }
        since = now
        return lastReceived.duration(until: now)
    }
}
