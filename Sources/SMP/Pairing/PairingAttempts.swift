import BLECore

/// The waiting interval between pairing attempts with a peer (Core Specification 5.4, Vol 3, Part H, 2.3.6).
/// It is one second after the first failed attempt, and each further failure doubles it, up to 1024 s, so
/// that passkeys cannot be guessed. Each hour without an attempt halves it. The wait begins with the failure.
///
/// The count is incremented when a pairing begins and reset to zero when a pairing succeeds, so that a peer
/// cannot avoid the wait by disconnecting. A pairing that this host refuses before the peer could guess is no attempt.
package struct PairingAttempts: Hashable, Sendable {
    /// The number of attempts since the last success.
    package private(set) var count = 0
    fileprivate var latest = Instant.zero

    package init() {}

    /// Returns when the next pairing can begin, if that is later than `now`.
    package func wait(at now: Instant) -> Instant? {
        guard count > 0 else { return nil }
        let end = latest + .seconds(1 << min(count - 1, Self.maximumDoublings))
        return end > now ? end : nil
    }

    /// Counts an attempt, after reducing the count by one for each hour since the latest attempt.
    package mutating func begin(at now: Instant) {
        let hours = latest.duration(until: now) / .seconds(3600)
        count = max(0, min(count, Self.maximumDoublings + 1) - Int(hours)) + 1
        latest = now
    }

    /// Begins the wait, because the latest attempt has failed.
    package mutating func fail(at now: Instant) { if count > 0 { latest = max(latest, now) } }

    /// Records a success, after which no waiting is required.
    package mutating func succeed() { count = 0 }

    private static let maximumDoublings = 10
}

/// The attempts of all peers of a host, across links. At the limit, the peer with the fewest attempts is
/// evicted, of several the one whose latest attempt was first.
package struct RepeatedAttempts: Hashable, Sendable {
    private var attempts: [DeviceAddress: PairingAttempts] = [:]
    private let limit: Int

    /// Creates an empty table for at most `limit` peers.
    package init(limit: Int = 1024) { self.limit = max(1, limit) }

    /// The attempts of a peer. The machine of a new link is initialized with this value, and the value is
    /// updated when the link ends.
    package subscript(peer: DeviceAddress) -> PairingAttempts {
        get { attempts[peer] ?? PairingAttempts() }
        set {
            guard newValue.count > 0 else {
                attempts[peer] = nil
                return
            }
            if attempts[peer] == nil, attempts.count >= limit,
                let least = attempts.min(by: {
                    ($0.value.count, $0.value.latest, $0.key) < ($1.value.count, $1.value.latest, $1.key)
                })
            {
                attempts[least.key] = nil
            }
            attempts[peer] = newValue
        }
    }
}
