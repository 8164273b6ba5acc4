import BLECore
import HCI

/// How this host ends a link, and what is waited for until packets have left: what was taken before leaves first, then
/// Disconnect is sent, and the controller reports when the link is gone (Core Specification 5.4, Vol 4, Part E, 7.1.6).
///
/// ```swift
/// guard ending.begin(.userTerminated) else { return }
/// // In the loop's next turn, so that what was left in this one ends on the link too:
/// ending.proceed(at: now)
/// // Whenever something has left or was answered, and at `deadline`:
/// ending.advance(under: conditions)
/// while let event = ending.nextEvent() { handle(event) }
/// ```
struct LinkEnding: Sendable {
    /// What is known of the link, as far as it concerns its end.
    struct Conditions {
        /// How many packets of callers were taken for the link and have not left.
        var unsent = 0
        /// How many other packets have not left: responses, and keys of a pairing.
        var others = 0
        /// Whether the peer owes an answer to a procedure of GATT.
        var isAsking = false
        /// Whether the bearer has ended: nothing leaves any more.
        var isClosed = false
        /// How long the controller needs at most to notice that the peer is gone.
        var supervisionTimeout = LinkEnding.longestSupervision
        var now = Instant.zero
    }

    enum Event: Hashable, Sendable {
        /// A wait for packets to leave is over; whether they have.
        case waited(UInt64, hasLeft: Bool)
        /// Disconnect is to be sent, with so many packets that have not left. The answer comes to `answered`.
        case disconnect(DisconnectCause, unsent: Int)
        /// The controller does not report the end: it is waited for no more.
        case givenUp
        /// The controller has had the time in which any link ends.
        case gone
    }

    private enum Phase: Hashable {
        case up
        /// What was left just now has not ended on the link.
        case begun
        /// Procedures are to be answered: a stream that was just left switches its notifications off, which a bonded
        /// peer would remember as on.
        case asking(until: Instant)
        /// What was taken is to leave.
        case sending(Leaving)
        /// The Disconnect command is sent, and the controller has not answered.
        case disconnecting
        /// It has not taken the command, and is asked again then.
        case refused(until: Instant)
        /// It is to report the end.
        case disconnected(until: Instant)
        /// It has not; what it has of the link's data it keeps until then (Vol 6, Part B, 5.1.6).
        case silent(until: Instant)
        case gone
    }

    /// Packets that leave, or do not: 2 s without any is too long, and so are 10 s for all.
    private struct Leaving: Hashable {
        private var least = Int.max
        private var since: Instant
        private let end: Instant

        init(at now: Instant) { (since, end) = (now, now + .seconds(10)) }

        /// When they are too slow, if none leaves until then.
        var limit: Instant { min(since + .seconds(2), end) }

        /// Notes how many are left; true when all have gone, false when that takes too long, nil while it goes on.
        mutating func note(_ left: Int, at now: Instant) -> Bool? {
            guard left > 0 else { return true }
            // A kernel reports packets that leave only while there are few.
            if left < least { (least, since) = (left, now) }
            return now < limit ? nil : false
        }
    }

    /// The longest supervision timeout (Core Specification 5.4, Vol 6, Part B, 2.4.2.1).
    static let longestSupervision = Duration.seconds(32)

    private var phase = Phase.up
    private var cause = DisconnectCause.userTerminated
    /// When the end is waited for no more, once the controller was asked for it.
    private var limit: Instant?
    private var waits: [(number: UInt64, leaving: Leaving)] = []
    private var events: [Event] = []

    /// Whether this host ends the link, or is about to.
    var isBegun: Bool { phase != .up }

    /// Whether the controller has not reported the end in time.
    var isGivenUp: Bool {
        switch phase {
        case .silent, .gone: true
        default: false
        }
    }

    /// Whether there is something that `advance` may go on with.
    var isActive: Bool { phase != .up || !waits.isEmpty }

    /// Whether something waits for packets to leave.
    var awaitsPackets: Bool {
        if case .sending = phase { true } else { !waits.isEmpty }
    }

    /// When `advance` is needed in any case.
    var deadline: Instant? {
        var earliest: Instant?
        switch phase {
        case .asking(let limit), .refused(let limit), .disconnected(let limit), .silent(let limit):
            earliest = limit
        case .sending(let leaving): earliest = leaving.limit
        case .up, .begun, .disconnecting, .gone: break
        }
        for wait in waits { earliest = earlier(earliest, wait.leaving.limit) }
        return earliest
    }

    mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }
}

// MARK: - What users want

extension LinkEnding {
    /// Begins to end the link; false when that has begun before, and goes on with its own cause.
    mutating func begin(_ cause: DisconnectCause) -> Bool {
        guard phase == .up else { return false }
        (phase, self.cause) = (.begun, cause)
        return true
    }

    /// What was left when the end began has ended on the link, or has begun to.
    mutating func proceed(at now: Instant) {
        if phase == .begun { phase = .asking(until: now + .seconds(1)) }
    }

    /// Begins a wait for all packets to leave.
    mutating func wait(_ number: UInt64, at now: Instant) { waits.append((number, Leaving(at: now))) }

    /// Ends a wait, whose event comes no more.
    mutating func cancel(_ number: UInt64) { waits.removeAll { $0.number == number } }
}

// MARK: - What becomes of it

extension LinkEnding {
    /// The controller has answered the command that ends the link, or has not in time. That is not the end, which an
    /// event reports, also where the link ends otherwise. A controller that has refused, or got no command because it
    /// was silent, still has the link, and is asked again a second later.
    mutating func answered(isTaken: Bool = true, at now: Instant) {
        guard phase == .disconnecting else { return }
        let limit = limit ?? now + .seconds(5)
        self.limit = limit
        let next = now + .seconds(1)
        phase = isTaken || next >= limit ? .disconnected(until: limit) : .refused(until: next)
    }

    /// Goes on as far as what is known now allows.
    mutating func advance(under conditions: Conditions) {
        let now = conditions.now
        note(conditions)
        if case .asking(let limit) = phase, !conditions.isAsking || conditions.isClosed || now >= limit {
            phase = .sending(Leaving(at: now))
        }
        switch phase {
        case .sending(var leaving):
            let hasEnded = leaving.note(conditions.unsent + conditions.others, at: now) != nil
            guard hasEnded || conditions.isClosed else {
                phase = .sending(leaving)
                return
            }
            phase = .disconnecting
            events.append(.disconnect(cause, unsent: conditions.unsent))
        case .refused(let limit) where now >= limit:
            phase = .disconnecting
            events.append(.disconnect(cause, unsent: 0))
        case .disconnected(let limit) where now >= limit:
            phase = .silent(until: now + conditions.supervisionTimeout)
            events.append(.givenUp)
        case .silent(let limit) where now >= limit:
            phase = .gone
            events.append(.gone)
        default: break
        }
    }

    /// Ends the waits that are over.
    private mutating func note(_ conditions: Conditions) {
        var open: [(number: UInt64, leaving: Leaving)] = []
        for var wait in waits {
            if conditions.isClosed {
                events.append(.waited(wait.number, hasLeft: false))
            } else if let hasLeft = wait.leaving.note(conditions.unsent, at: conditions.now) {
                events.append(.waited(wait.number, hasLeft: hasLeft))
            } else {
                open.append(wait)
            }
        }
        waits = open
    }
}
