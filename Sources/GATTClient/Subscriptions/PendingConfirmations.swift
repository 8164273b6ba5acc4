import BLECore

/// Indications whose confirmation waits until their subscribers have taken them, for 25 s at most, because
/// the server gives up the bearer after 30 s (Core Specification 5.4, Vol 3, Part F, 3.3.3).
///
/// ```swift
/// let number = held.hold(for: [subscriber], at: now)
/// if held.taken(number, by: subscriber) { bearer.confirm() }
/// for _ in 0..<held.expire(at: now) { bearer.confirm() }
/// ```
package struct PendingConfirmations: Sendable {
    package struct Number: Hashable, Sendable {
        let rawValue: UInt64
    }

    /// The maximum time that a confirmation waits.
    package static let timeLimit: Duration = .seconds(25)

    private struct Held {
        let number: Number
        var takers: Set<SubscriptionID>
        let due: Instant
    }

    /// The indications in order of arrival, so that the first is due first.
    private var held: [Held] = []
    private var last: UInt64 = 0

    package init() {}

    /// Holds the confirmation of an indication that arrived at `now`, until all of `takers` have taken it.
    package mutating func hold(for takers: [SubscriptionID], at now: Instant) -> Number {
        last += 1
        let number = Number(rawValue: last)
        held.append(Held(number: number, takers: Set(takers), due: now + Self.timeLimit))
        return number
    }

    /// Records that a subscriber has taken the value. Returns whether the confirmation is to be sent now:
    /// true when this was the last subscriber that had not taken it, false also when the confirmation was
    /// sent already.
    package mutating func taken(_ number: Number, by taker: SubscriptionID) -> Bool {
        guard let index = held.firstIndex(where: { $0.number == number }) else { return false }
        held[index].takers.remove(taker)
        guard held[index].takers.isEmpty else { return false }
        held.remove(at: index)
        return true
    }

    /// Makes a subscriber take the values in place of another one, which is then no longer waited for.
    package mutating func handOver(from taker: SubscriptionID, to other: SubscriptionID) {
        for index in held.indices where held[index].takers.remove(taker) != nil {
            held[index].takers.insert(other)
        }
    }

    /// Removes a subscriber, which takes no more values. Returns the number of confirmations to send now.
    package mutating func released(by taker: SubscriptionID) -> Int {
        for index in held.indices { held[index].takers.remove(taker) }
        return remove { $0.takers.isEmpty }
    }

    /// Ends the waits whose time limit has passed by `now`. Returns the number of confirmations to send now.
    package mutating func expire(at now: Instant) -> Int { remove { $0.due <= now } }

    /// The time limit of the confirmation that is due first.
    package var deadline: Instant? { held.first?.due }

    private mutating func remove(where isOver: (Held) -> Bool) -> Int {
        let before = held.count
        held.removeAll(where: isOver)
        return before - held.count
    }
}
