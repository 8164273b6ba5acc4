import BLECore
import DequeModule

/// Values that arrived before the application subscribed: a server that remembers a subscription sends values
/// from the beginning of a link, while the client is still discovering what it subscribes to.
///
/// Values of any characteristic are kept until the first discovery has ended, then only those of
/// characteristics that had some before, so that the first subscriber receives them without a gap. The oldest
/// are dropped when there are too many.
package struct UnclaimedValues: Sendable {
    /// The maximum number of values that are kept.
    package static let valueLimit = 64
    /// The maximum number of octets in all values together.
    package static let octetLimit = 16_384

    private var values: Deque<ReceivedValue> = []
    private var octets = 0
    /// Whether values of characteristics that had none before are kept.
    private var isOpen = true

    package init() {}

    /// Keeps a value that has no subscriber, if it is early.
    package mutating func keep(_ value: ReceivedValue) {
        guard isOpen || values.contains(where: { $0.handle == value.handle }) else { return }
        values.append(value)
        octets += value.value.count
        while values.count > Self.valueLimit || octets > Self.octetLimit, let oldest = values.popFirst() {
            octets -= oldest.value.count
        }
    }

    /// Removes and returns the values of characteristics for their first subscriber, in the order of arrival.
    package mutating func take(_ handles: AttributeHandle...) -> [ReceivedValue] { take(handles) }

    /// Removes and returns the values of characteristics for their first subscriber, in the order of arrival.
    package mutating func take(_ handles: [AttributeHandle]) -> [ReceivedValue] {
        let taken = values.filter { handles.contains($0.handle) }
        values.removeAll { handles.contains($0.handle) }
        octets -= taken.reduce(0) { $0 + $1.value.count }
        return Array(taken)
    }

    /// Drops all values, because it is not certain who has sent them.
    package mutating func removeAll() {
        values.removeAll()
        octets = 0
    }

    /// Stops keeping values, because the first discovery has ended.
    package mutating func close() { isOpen = false }
}
