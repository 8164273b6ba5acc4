import BLECore
import GATTClient
import HCISocket
import Logging

/// A caller's request for a link to a device. It is on the disk until it is fulfilled or given up: for a
/// `connect` until the end of its link, for a `maintain` until its loop is left.
final class LinkRequest: Sendable {
    let id: Peripheral.Identifier
    let number: UInt64
    /// Whether the request continues after a link has ended.
    let isMaintained: Bool
    private let restoration: CentralRestoration
    private let state: Lock<State>

    private struct State {
        /// The restored subscriptions that the owner has not requested yet.
        var untaken: Set<RestoredSubscription>
        /// The restored streams of these subscriptions, if there are any.
        var streams = RestoredStreams()
        /// The number of streams that the owner has of each subscription.
        var holders: [RestoredSubscription: Int] = [:]
    }

    init(
        _ restoration: CentralRestoration, _ id: Peripheral.Identifier, number: UInt64, isMaintained: Bool,
        restored: [RestoredSubscription] = []
    ) {
        self.restoration = restoration
        self.id = id
        self.number = number
        self.isMaintained = isMaintained
        state = Lock(State(untaken: Set(restored)))
    }

    /// Connects to the device of this request.
    func connect(
        to address: DeviceAddress, timeout: Duration?, options: ConnectionOptions
    ) async throws(BLEError) -> Peripheral {
        try await restoration.connect(self, to: address, timeout: timeout, options: options)
    }

    /// Removes the request from the kept state.
    func end() { restoration.forget { [number] in $0.links[number] = nil } }

    /// Handles the end of a link, or that its user has left it.
    func linkEnded() {
        guard isMaintained else { return end() }
        restoration.forget { [number] in $0.links[number]?.state = .connecting }
        release()
    }

    /// Releases the restored streams that the owner has not requested.
    private func release() {
        // The streams are released outside of the lock.
        _ = state.withLock { $0.streams.takeAll() }
    }

    /// Waits until all changes are on the disk.
    func save() async {
        do throws(BLEError) {
            try await restoration.kept.flush()
        } catch .restoration(let error) {
            // A caller that ends something gets no error: at worst, it is restored at the next start.
            Logger(label: "ble.restoration").error("\(error)")
        } catch {
            // The state has ended, and its last changes are written.
        }
    }

    /// Handles the end of a link, unless the adapter has ended: then the request is to be restored.
    func follow(_ peripheral: Peripheral) {
        let adapter = peripheral.adapter
        Task(executorPreference: adapter.loop) { [self] in
            _ = try? await adapter.disconnection(of: peripheral.link, for: peripheral.user)
            if await adapter.end == nil { linkEnded() }
        }
    }

    // MARK: Streams

    /// Takes over restored streams of the device.
    func take(_ others: RestoredStreams) {
        state.withLock { state in
            // Streams of subscriptions that were dismissed meanwhile are not taken over.
            state.streams.add(others) { state.untaken.contains($0) }
        }
    }

    /// Dismisses the restored subscriptions that the owner has not requested.
    func dismissRestored() {
        let untaken = state.withLock { state in
            defer { state.untaken = [] }
            return state.untaken
        }
        release()
        restoration.kept.change { [number, state] kept in
            let held = state.withLock { $0.holders }
            kept.links[number]?.subscriptions.removeAll { untaken.contains($0) && held[$0] == nil }
        }
    }

    /// Returns a stream of values, after its subscriptions were written to the disk. Takes over restored
    /// streams, if there are any.
    func values(
        of characteristics: [RemoteCharacteristic], _ options: SubscriptionOptions, on peripheral: Peripheral
    ) async throws(BLEError) -> BoundedStream<ReceivedValue> {
        var subscriptions: [RestoredSubscription] = []
        for subscription in characteristics.map({ RestoredSubscription($0, options) })
        where !subscriptions.contains(subscription) { subscriptions.append(subscription) }
        let adapter = peripheral.adapter
        let taken = state.withLock { [subscriptions] state in
            state.untaken.subtract(subscriptions)
            return state.streams.take(subscriptions)
        }
        let stream: BoundedStream<ReceivedValue>
        if subscriptions.count == 1, let only = taken.first {
            stream = only
        } else {
            let earlier = subscriptions.compactMap { taken[$0]?.buffer }
            do throws(BLEError) {
                // A stream that has lost values ends the one that takes it over.
                if let failure = earlier.lazy.compactMap(\.failure).first { throw failure }
                stream = try await adapter.subscribe(
                    to: characteristics, options, on: peripheral.link, after: earlier)
            } catch {
                // The restored streams are still to be taken.
                state.withLock { state in
                    state.untaken.formUnion(taken.subscriptions)
                    state.streams.add(taken)
                }
                throw error
            }
        }
        restoration.kept.change { [number, state, subscriptions] kept in
            for subscription in subscriptions {
                state.withLock { $0.holders[subscription, default: 0] += 1 }
                if kept.links[number]?.subscriptions.contains(subscription) == false {
                    kept.links[number]?.subscriptions.append(subscription)
                }
            }
        }
        let link = peripheral.link
        stream.buffer.onEnd {
            [weak self, subscriptions, loop = adapter.loop, weak adapter, weak buffer = stream.buffer] in
            // A subscription whose stream has ended by itself, or with its link, is still to be restored.
            let isLeftByOwner = buffer?.failure == nil
            loop.execute { [weak self, weak adapter] in
                adapter?.assumeIsolated { adapter in
                    let isUp = adapter.links[link].map { $0.closing == nil } ?? false
                    for subscription in subscriptions {
                        self?.ended(subscription, isLeft: isLeftByOwner && isUp)
                    }
                }
            }
        }
        try await restoration.kept.flush()
        return stream
    }

    /// Handles the end of a stream. Removes its subscription from the disk when the owner has left the last
    /// stream of it.
    private func ended(_ subscription: RestoredSubscription, isLeft: Bool) {
        restoration.forget { [number, state] kept in
            let others = state.withLock { state in
                let others = (state.holders[subscription] ?? 1) - 1
                state.holders[subscription] = others > 0 ? others : nil
                return others
            }
            guard isLeft, others <= 0 else { return }
            kept.links[number]?.subscriptions.removeAll { $0 == subscription }
        }
    }
}

extension RestoredSubscription {
    init(_ characteristic: RemoteCharacteristic, _ options: SubscriptionOptions) {
        self.init(
            characteristic: characteristic.uuid, handle: characteristic.valueHandle,
            indications: options.indications && characteristic.properties.contains(.indicate),
            buffer: options.buffer, confirming: options.confirmation,
            completing: options.completing)
    }
}

extension Peripheral {
    /// Subscribes again, with the same options, to a characteristic to which the last process had subscribed, and
    /// returns a stream of its values. The characteristic is the one of that type with the same handle, else the
    /// only one of that type.
    public func values(
        of subscription: RestoredSubscription
    ) async throws(BLEError) -> BoundedStream<ReceivedValue> {
        let all = try await discover().characteristics(subscription.characteristic)
        let same = all.first { $0.valueHandle == subscription.handle }
        guard let found = same ?? (all.count == 1 ? all.first : nil) else {
            throw .notFound(
                .subscribed(subscription.characteristic, at: subscription.handle, of: address))
        }
        return try await values(
            of: found, indications: subscription.indications, buffer: subscription.buffer,
            confirming: subscription.confirming, completing: subscription.completing,
            // The last process has accepted what the characteristic has.
            requiringConfiguration: false)
    }
}
