import ATT
import BLECore

/// Identifies one subscriber of a characteristic on one bearer.
package struct SubscriptionID: RawRepresentable, Hashable, Sendable {
    /// The number; each is used once in a table.
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The subscribers of each characteristic. A server has one configuration per client, so the table joins the
/// configurations of the subscribers, and shows when to write the result to the server (Core Specification
/// 5.4, Vol 3, Part G, 4.10 and 4.11).
package struct SubscriptionTable: Sendable {
    private struct Subscriber {
        let id: SubscriptionID
        let configuration: ClientCharacteristicConfiguration
    }

    private var subscribers: [AttributeHandle: [Subscriber]] = [:]
    private var last: UInt64 = 0

    package init() {}

    /// Adds a subscriber to the characteristic whose value is at `handle`. Compare `configuration(of:)`
    /// before and after: when it changed, write it to the server.
    package mutating func subscribe(
        to handle: AttributeHandle, _ configuration: ClientCharacteristicConfiguration
    ) -> SubscriptionID {
        last &+= 1
        let id = SubscriptionID(rawValue: last)
        subscribers[handle, default: []].append(Subscriber(id: id, configuration: configuration))
        return id
    }

    /// Removes a subscriber; returns the value handle that it had subscribed to, or nil if there is no such
    /// subscriber.
    @discardableResult
    package mutating func unsubscribe(_ id: SubscriptionID) -> AttributeHandle? {
        guard let handle = subscribers.first(where: { $1.contains { $0.id == id } })?.key else { return nil }
        subscribers[handle]?.removeAll { $0.id == id }
        if subscribers[handle]?.isEmpty == true { subscribers[handle] = nil }
        return handle
    }

    /// Returns the configuration to write to the server for the characteristic whose value is at `handle`:
    /// the union of those of its subscribers.
    package func configuration(of handle: AttributeHandle) -> ClientCharacteristicConfiguration {
        (subscribers[handle] ?? []).reduce([]) { $0.union($1.configuration) }
    }

    /// Returns the subscribers to the values of `handle`, in the order in which they subscribed.
    package func subscribers(of handle: AttributeHandle) -> [SubscriptionID] {
        (subscribers[handle] ?? []).map(\.id)
    }
}
