import ATT
import BLECore
import GATT
import GATTServer

/// A central that has subscribed to a characteristic.
public struct Subscriber: Hashable, Sendable {
    /// The central that is subscribed.
    public let central: Central
    /// Whether the central has subscribed to indications only.
    public let prefersIndications: Bool
    /// The maximum length of a value that can be sent to the central whole, in octets: the MTU minus 3, at
    /// most 512.
    public let maximumUpdateLength: Int
}

extension PeripheralManager {
    /// Returns the centrals that are subscribed to a characteristic, in the order in which they connected.
    public func subscribers(of handle: AttributeHandle) async -> [Subscriber] {
        await adapter.subscribers(of: handle)
    }

    /// Stores a value and sends it to its subscribers, or to those of them in `centrals`, if all of their links
    /// have room for it now. Otherwise does nothing and returns false; `readyToUpdate(_:for:)` waits for room.
    /// Does not wait for confirmations of indications. Without a subscriber the value is stored, and the result
    /// is true. On the air of a `VirtualTestbed` links always have room, unless
    /// `VirtualAir.Conditions.packetsPerConnectionEvent` limits them.
    public func tryUpdate(
        _ handle: AttributeHandle, to value: [UInt8], for centrals: [Central]? = nil
    ) async throws(BLEError) -> Bool {
        guard try await adapter.tryUpdate(handle, to: value, centrals) else { return false }
        try await adapter.saveServer()
        return true
    }

    /// Stores the value of the first characteristic of a key's type, and sends it to its subscribers, as
    /// `tryUpdate(_:to:for:)` does with octets.
    public func tryUpdate<Value>(
        _ key: CharacteristicKey<Value>, to value: Value, for centrals: [Central]? = nil
    ) async throws(BLEError) -> Bool {
        guard let handle = await valueHandle(of: key.characteristic) else {
            if let end = await adapter.end { throw end }
            throw .notFound(.characteristic(key.characteristic, of: nil))
        }
        return try await tryUpdate(handle, to: key.encode(value), for: centrals)
    }

    /// Waits until the links of all subscribers of a characteristic, or of those of them in `centrals`, have room
    /// for a value. Does not wait for a central that disconnects meanwhile.
    public func readyToUpdate(
        _ handle: AttributeHandle, for centrals: [Central]? = nil
    ) async throws(BLEError) {
        try await adapter.untilReadyToUpdate(handle, centrals)
    }
}

extension Adapter {
    fileprivate func subscribers(of handle: AttributeHandle) -> [Subscriber] {
        server.gatt.subscribers(of: handle).compactMap { subscriber in
            (try? link(LinkID(number: subscriber.central.rawValue))).map { link in
                Subscriber(
                    central: Central(link), prefersIndications: subscriber.prefersIndications,
                    maximumUpdateLength: min(link.gatt.mtu.octets - 3, ATTLimits.valueLength))
            }
        }
    }

    /// Returns the links to which a value is sent.
    private func receivers(
        of handle: AttributeHandle, _ centrals: [Central]?
    ) -> [(link: Link, subscriber: Subscriber)] {
        subscribers(of: handle).filter { centrals?.contains($0.central) ?? true }.compactMap { subscriber in
            (try? linkThatTakes(subscriber.central.link)).map { ($0, subscriber) }
        }
    }

    fileprivate func tryUpdate(
        _ handle: AttributeHandle, to value: [UInt8], _ centrals: [Central]?
    ) throws(BLEError) -> Bool {
        if let end { throw end }
        let receivers = receivers(of: handle, centrals)
        for (link, subscriber) in receivers {
            let limit = link.gatt.mtu.octets - 3
            guard value.count <= limit else {
                throw .limit(.notification(link.peer), maximum: limit, value: value.count)
            }
            guard link.hasRoom(for: subscriber) else { return false }
        }
        let updates = try store([(handle, value)])
        for (link, subscriber) in receivers {
            let delivery = Delivery(
                notifications: subscriber.prefersIndications ? [] : updates,
                indications: subscriber.prefersIndications ? updates : [])
            send(delivery, to: link)
        }
        return true
    }

    fileprivate func untilReadyToUpdate(
        _ handle: AttributeHandle, _ centrals: [Central]?
    ) async throws(BLEError) {
        while true {
            if let end { throw end }
            let full = receivers(of: handle, centrals).first { !$0.link.hasRoom(for: $0.subscriber) }
            guard let full else { return }
            do throws(BLEError) {
                try await perform(on: full.link.id) {
                    $0.gatt.waitUntilReady(forIndication: full.subscriber.prefersIndications)
                }
            } catch {
                try throwUnlessEnded(error, link: full.link.id)
            }
        }
    }
}
