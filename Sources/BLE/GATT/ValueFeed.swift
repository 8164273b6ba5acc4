import GATTClient

/// The subscriptions whose values one stream receives, in the order of arrival.
struct ValueFeed {
    /// Identifies a feed of a link; never reused.
    struct Number: Hashable, Comparable, Sendable {
        private let value: UInt64

        init(last: inout UInt64) {
            last += 1
            value = last
        }

        static func < (left: Number, right: Number) -> Bool { left.value < right.value }
    }

    let buffer: StreamBuffer<ReceivedValue>
    var subscriptions: [SubscriptionID] = []
}
