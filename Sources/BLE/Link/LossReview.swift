import BLECore
import HCI

/// Finds out what became of the links after packets of their controller were lost. The report of a link's end may be
/// among them, and reports of completed packets, without which a link may never send again.
///
/// The controller is asked for one link at a time, because it takes one command with an opcode at a time. A link stays
/// doubtful until the controller has answered.
///
/// ```swift
/// review.packetsWereLost(on: flights, at: now)
/// if let link = review.nextQuestion() { handle(link) }
/// if review.answered(answer, of: link) { handle(link) }
/// // At `deadline`:
/// for stalled in review.expire(at: now, flights) { handle(stalled) }
/// ```
struct LossReview: Sendable {
    /// The packets of a link in the controller.
    struct Flight: Hashable, Sendable {
        let link: LinkID
        /// The number of packets that the controller has, as far as it has reported.
        let held: Int
        /// The number of packets that it has reported as completed since the link exists.
        let completed: Int
    }

    /// The time within which a packet is completed or its link ends: the longest supervision timeout, and some.
    static let flightLimit = Duration.seconds(40)

    /// The links to ask for, in this order.
    private var doubtful: [LinkID] = []
    private var asked: LinkID?
    /// Whether packets were lost since the question, which may have been answered before.
    private var isStale = false
    private struct Watch {
        let flight: Flight
        let limit: Instant
    }
    /// The links with packets in the controller at a loss, until one shows that no report of them is missing.
    private var watches: [Watch] = []

    /// The time at which `expire` has to be called.
    var deadline: Instant? { watches.lazy.map(\.limit).min() }

    /// Handles a loss of packets. `flights` has all links.
    mutating func packetsWereLost(on flights: [Flight], at now: Instant) {
        isStale = asked != nil
        doubtful += flights.map(\.link).filter { !doubtful.contains($0) && $0 != asked }
        for flight in flights where !watches.contains(where: { $0.flight.link == flight.link }) {
            watch(flight, at: now)
        }
    }

    /// Handles a new link. Before the answer to a question, packets from before the loss are still received, and the end
    /// of a link that they report may have been lost.
    mutating func add(_ link: LinkID) { if asked != nil { doubtful.append(link) } }

    /// Returns whether the link may have ended.
    func doubts(_ link: LinkID) -> Bool { link == asked || doubtful.contains(link) }

    /// Returns the link for which the controller is to be asked now.
    mutating func nextQuestion() -> LinkID? {
        guard asked == nil, !doubtful.isEmpty else { return nil }
        (asked, isStale) = (doubtful.removeFirst(), false)
        return asked
    }

    /// Handles the answer to a question. Returns whether the link has ended.
    mutating func answered(_ answer: CommandAnswer, of link: LinkID) -> Bool {
        guard link == asked else { return false }
        asked = nil
        switch answer {
        case .refused(.unknownConnectionIdentifier): return true
        case .done, .refused, .malformed: if isStale { doubtful.append(link) }
        case .silent: doubtful.append(link)
        }
        return false
    }

    /// Returns the links of which the controller has completed no packet for too long: it has, and the report was lost,
    /// or the peer takes none. `flights` has all links.
    mutating func expire(at now: Instant, _ flights: [Flight]) -> [LinkID] {
        let due = watches.filter { $0.limit <= now }
        watches.removeAll { $0.limit <= now }
        var stalled: [LinkID] = []
        for before in due.map(\.flight) {
            guard let flight = flights.first(where: { $0.link == before.link }) else { continue }
            if flight.held > 0, flight.completed == before.completed {
                stalled.append(flight.link)
            } else {
                watch(flight, at: now)
            }
        }
        return stalled
    }

    private mutating func watch(_ flight: Flight, at now: Instant) {
        guard flight.held > 0 else { return }
        watches.append(Watch(flight: flight, limit: now + Self.flightLimit))
    }

    /// Forgets a link that has ended.
    mutating func remove(_ link: LinkID) {
        doubtful.removeAll { $0 == link }
        watches.removeAll { $0.flight.link == link }
        if asked == link { asked = nil }
    }
}
