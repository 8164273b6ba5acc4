/// The streams of restored subscriptions, in the order in which they were subscribed to. They are released in it, too,
/// so that the order does not depend on hashing in which their subscriptions end on the link.
struct RestoredStreams: Sendable {
    private var entries: [(subscription: RestoredSubscription, stream: BoundedStream<ReceivedValue>)] = []

    var subscriptions: [RestoredSubscription] { entries.map(\.subscription) }
    var first: BoundedStream<ReceivedValue>? { entries.first?.stream }

    subscript(subscription: RestoredSubscription) -> BoundedStream<ReceivedValue>? {
        entries.first { $0.subscription == subscription }?.stream
    }

    /// Adds a stream, unless there is one of that subscription.
    mutating func add(_ stream: BoundedStream<ReceivedValue>, of subscription: RestoredSubscription) {
        if self[subscription] == nil { entries.append((subscription, stream)) }
    }

    /// Adds the streams of others whose subscriptions are not here.
    mutating func add(
        _ others: RestoredStreams, where isWanted: (RestoredSubscription) -> Bool = { _ in true }
    ) {
        for entry in others.entries where isWanted(entry.subscription) {
            add(entry.stream, of: entry.subscription)
        }
    }

    /// Removes and returns the streams of subscriptions.
    mutating func take(_ subscriptions: [RestoredSubscription]) -> RestoredStreams {
        var taken = RestoredStreams()
        taken.entries = entries.filter { subscriptions.contains($0.subscription) }
        entries.removeAll { subscriptions.contains($0.subscription) }
        return taken
    }

    /// Removes and returns all streams.
    mutating func takeAll() -> RestoredStreams {
        defer { entries = [] }
        return self
    }
}
