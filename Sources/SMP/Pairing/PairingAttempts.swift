import BLECore

/// The wait that each failed pairing with a peer doubles, so that passkeys cannot be guessed (Core
/// Specification 5.4, Vol 3, Part H, 2.3.6): one second after the first, 1024 s at most; an hour without an
/// attempt halves it.
///
/// The count rises when a pairing begins and falls to none when one succeeds, so that a peer cannot spare
/// itself the wait by leaving.
package struct PairingAttempts: Hashable, Sendable {
    /// The number of attempts without a success since.
    package private(set) var count = 0
    private var latest = Instant.zero

    package init() {}

    /// When the next pairing may begin, if that is later than `now`.
    package func wait(at now: Instant) -> Instant? {
        guard count > 0 else { return nil }
        let end = latest + .seconds(1 << min(count - 1, Self.maximumDoublings))
        return end > now ? end : nil
    }

    /// Counts an attempt, after taking one off the count for each hour since the latest.
    package mutating func begin(at now: Instant) {
        let hours = latest.duration(until: now) / .seconds(3600)
        count = max(0, min(count, Self.maximumDoublings + 1) - Int(hours)) + 1
        latest = now
    }

    /// Notes a success, after which no waiting is required.
    package mutating func succeed() { count = 0 }

    private static let maximumDoublings = 10
}

/// The waits of all peers of a host, across links. At the limit, the peer that has tried least is forgotten.
package struct RepeatedAttempts: Hashable, Sendable {
    private var attempts: [DeviceAddress: PairingAttempts] = [:]
    private let limit: Int

    /// No peers, and `limit` of them at most.
    package init(limit: Int = 1024) { self.limit = max(1, limit) }

    /// A peer's attempts: what a new link's machine begins with, and what is left of it when the link ends.
    package subscript(peer: DeviceAddress) -> PairingAttempts {
        get { attempts[peer] ?? PairingAttempts() }
        set {
            guard newValue.count > 0 else {
                attempts[peer] = nil
                return
            }
            if attempts[peer] == nil, attempts.count >= limit,
                let least = attempts.min(by: { $0.value.count < $1.value.count })
            {
                attempts[least.key] = nil
            }
            attempts[peer] = newValue
        }
    }
}
