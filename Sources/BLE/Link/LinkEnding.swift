import BLECore
import HCI

/// The end of a link by this host, and the waits for packets to be sent. Packets that were accepted before
/// are sent first, then Disconnect is sent, and the controller reports when the link has ended (Core
/// Specification 5.4, Vol 4, Part E, 7.1.6).
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
    /// The state of the link on which its end depends.
    struct Conditions {
        /// The number of callers' packets that were accepted for the link and have not been sent.
        var unsent = 0
        /// The number of those that are queued for the channel, and of those that have been sent. The others
        /// wait for room, or several of them become one packet.
        var (queued, departed) = (0, 0)
        /// The number of other packets that have not been sent: responses, and keys of a pairing.
        var others = 0
        /// Whether a GATT procedure waits for the peer's answer.
        var isAsking = false
        /// Whether the bearer has ended: no more packets are sent.
        var isClosed = false
        /// The maximum time that the controller needs to detect the loss of the peer.
        var supervisionTimeout = LinkEnding.longestSupervision
        var now = Instant.zero
    }

    enum Event: Hashable, Sendable {
        /// A wait for packets to be sent is over; whether they were sent.
        case waited(UInt64, hasLeft: Bool)
        /// Disconnect is to be sent; `unsent` packets have not been sent. The owner passes the answer to
        /// `answered`.
        case disconnect(DisconnectCause, unsent: Int)
        /// The controller has not reported the end in time, and callers stop waiting for it.
        case givenUp
        /// The time within which any link ends has passed.
        case gone
    }

    private enum Phase: Hashable {
        case up
        /// The end has begun, and streams that were left just now have not ended on the link yet.
        case begun
        /// Procedures wait for their answers: a stream that was just left disables its notifications, which a
        /// bonded peer would otherwise remember as enabled.
        case asking(until: Instant)
        /// Packets that were accepted are being sent.
        case sending(Leaving)
        /// The Disconnect command is sent, and the controller has not answered.
        case disconnecting
        /// The controller has not accepted the command, which is sent again at this time.
        case refused(until: Instant)
        /// The controller has accepted the command, or there is no time to send it again. It has to report
        /// the end by this time.
        case disconnected(until: Instant)
        /// The controller has not reported the end. It keeps the link's data until this time (Vol 6, Part B,
        /// 5.1.6).
        case silent(until: Instant)
        case gone
    }

    /// A wait for packets to be sent. It has failed after 2 s without a sent packet, and after 10 s in all.
    private struct Leaving: Hashable {
        private var most = Int.min
        private var since: Instant
        private let end: Instant
        private let goal: Int

        /// Begins a wait for `goal` packets to have been sent, or for all packets.
        init(until goal: Int = .max, at now: Instant) {
            (since, end, self.goal) = (now, now + .seconds(10), goal)
        }

        /// The time at which the wait fails, unless a packet is sent before.
        var limit: Instant { min(since + .seconds(2), end) }

        /// Notes the number of packets left, and of those that have been sent since the link exists. Returns true
        /// when the wait has succeeded, false when that takes too long, nil while the wait continues.
        mutating func note(_ left: Int, departed: Int, at now: Instant) -> Bool? {
            guard left > 0, departed < goal else { return true }
            // A kernel reports sent packets only when few are left.
            if departed > most { (most, since) = (departed, now) }
            return now < limit ? nil : false
        }
    }

    /// The longest supervision timeout (Core Specification 5.4, Vol 6, Part B, 2.4.2.1).
    static let longestSupervision = Duration.seconds(32)

    private var phase = Phase.up
    private var cause = DisconnectCause.userTerminated
    /// The time at which the wait for the end stops; nil until the first answer to the Disconnect command, or
    /// the lack of one.
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

    /// Whether `advance` has something to do.
    var isActive: Bool { phase != .up || !waits.isEmpty }

    /// Whether something waits for packets to be sent.
    var awaitsPackets: Bool {
        if case .sending = phase { true } else { !waits.isEmpty }
    }

    /// The time at which `advance` has to be called in any case.
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

// MARK: - Requests of users

extension LinkEnding {
    /// Starts to end the link. Returns false when that has started before; the earlier cause then stays in
    /// effect.
    mutating func begin(_ cause: DisconnectCause) -> Bool {
        guard phase == .up else { return false }
        (phase, self.cause) = (.begun, cause)
        return true
    }

    /// Continues the end: streams that were left when it began have ended on the link, or have begun to.
    mutating func proceed(at now: Instant) {
        if phase == .begun { phase = .asking(until: now + .seconds(1)) }
    }

    /// Starts a wait for the callers' packets that are queued for the channel to be sent. Packets that are
    /// queued later do not extend it.
    mutating func wait(_ number: UInt64, under conditions: Conditions) {
        waits.append((number, Leaving(until: conditions.departed + conditions.queued, at: conditions.now)))
    }

    /// Cancels a wait, which then reports no event.
    mutating func cancel(_ number: UInt64) { waits.removeAll { $0.number == number } }
}

// MARK: - Progress

extension LinkEnding {
    /// Handles the controller's answer to the command that ends the link, or the lack of one in time. The
    /// answer is not the end, which an event reports, also when the link ends for another reason. A
    /// controller that has refused, or got no command because it was silent, still has the link, and is asked
    /// again a second later.
    mutating func answered(isTaken: Bool = true, at now: Instant) {
        guard phase == .disconnecting else { return }
        let limit = limit ?? now + .seconds(5)
        self.limit = limit
        let next = now + .seconds(1)
        phase = isTaken || next >= limit ? .disconnected(until: limit) : .refused(until: next)
    }

    /// Advances as far as `conditions` allow.
    mutating func advance(under conditions: Conditions) {
        let now = conditions.now
        note(conditions)
        if case .asking(let limit) = phase, !conditions.isAsking || conditions.isClosed || now >= limit {
            phase = .sending(Leaving(at: now))
        }
        switch phase {
        case .sending(var leaving):
            let left = conditions.unsent + conditions.others
            let hasEnded = leaving.note(left, departed: -left, at: now) != nil
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
            } else if let hasLeft = wait.leaving.note(
                conditions.unsent, departed: conditions.departed, at: conditions.now)
            {
                events.append(.waited(wait.number, hasLeft: hasLeft))
            } else {
                open.append(wait)
            }
        }
        waits = open
    }
}
