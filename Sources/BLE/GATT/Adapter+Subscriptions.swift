import ATT
import BLECore
import GATT
import GATTClient
import HCISocket
import Logging

/// The options of a stream of values.
struct SubscriptionOptions: Sendable {
    var indications: Bool
    var buffer: BufferPolicy
    var confirmation: IndicationConfirmation
    var completing: Bool
    /// Whether a characteristic without Client Characteristic Configuration is an error.
    var requiresConfiguration = true
    /// Whether `indications` is an error for a characteristic that only notifies.
    var requiresIndications = false
}

extension Adapter {
    /// Enables notifications or indications of characteristics, one after the other, and returns the stream of their
    /// values in the order of arrival. The values in `earlier` streams come first, and these end.
    func subscribe(
        to characteristics: [RemoteCharacteristic], _ options: SubscriptionOptions, on id: LinkID,
        after earlier: [StreamBuffer<ReceivedValue>] = []
    ) async throws(BLEError) -> BoundedStream<ReceivedValue> {
        let (stream, feed) = try valueStream(options, on: id)
        do throws(BLEError) {
            try await subscribe(feed, to: characteristics, options, on: id, after: earlier)
        } catch {
            stream.buffer.finish(.failure(error))
            throw error
        }
        return stream
    }

    /// Returns a stream of the values of subscriptions that `subscribe` adds under its number.
    func valueStream(
        _ options: SubscriptionOptions, on id: LinkID
    ) throws(BLEError) -> (BoundedStream<ReceivedValue>, ValueFeed.Number) {
        let callers = try callers(of: id)
        let feed = ValueFeed.Number(last: &callers.lastFeed)
        let buffer = StreamBuffer<ReceivedValue>(options.buffer, on: loop, octets: { $0.value.count }) {
            [loop, weak self] value in
            guard let held = value.held else { return }
            loop.execute { [weak self] in self?.assumeIsolated { $0.taken(held, by: feed, on: id) } }
        }
        callers.feeds[feed] = ValueFeed(buffer: buffer)
        whenEnded(buffer) { $0.unsubscribe(feed, on: id) }
        guard options.completing else { return (BoundedStream(buffer), feed) }
        let stream = BoundedStream(buffer) { [weak self] value in
            guard value.mayBeTruncated, let self else { return value }
            return await self.completed(value, of: feed, on: id)
        }
        return (stream, feed)
    }

    /// Adds characteristics to a stream, yields the values that came before it, and configures the server. The
    /// characteristics are added first, so that no value is missed.
    func subscribe(
        _ feed: ValueFeed.Number, to characteristics: [RemoteCharacteristic], _ options: SubscriptionOptions,
        on id: LinkID, after earlier: [StreamBuffer<ReceivedValue>] = []
    ) async throws(BLEError) {
        var wanted: [(RemoteCharacteristic, ClientCharacteristicConfiguration)] = []
        for characteristic in characteristics
        where !wanted.contains(where: { $0.0.valueHandle == characteristic.valueHandle }) {
            wanted.append(try await subscribable(characteristic, options, on: id))
        }
        guard !wanted.isEmpty else { throw .invalidRequest(.nothingToSubscribe) }
        // The link may have ended during a discovery of descriptors.
        let link = try link(id)
        guard let buffer = try callers(of: id).feeds[feed]?.buffer else { throw .cancelled }
        let keys = add(wanted, to: feed, buffer, options, after: earlier, on: link)
        do throws(BLEError) {
            for (characteristic, _) in wanted {
                try await perform(on: id) { .pending($0.gatt.session.configure(characteristic)) }
            }
        } catch {
            unsubscribe(keys, of: feed, on: link)
            throw error
        }
        // The feed may have ended meanwhile, as the link may.
        if let failure = buffer.failure { throw failure }
    }

    /// Returns a characteristic with its descriptors, and the configuration to write. Throws if it cannot send values.
    private func subscribable(
        _ characteristic: RemoteCharacteristic, _ options: SubscriptionOptions, on id: LinkID
    ) async throws(BLEError) -> (RemoteCharacteristic, ClientCharacteristicConfiguration) {
        let checked = CheckedHandle(characteristic)
        try await locate([checked], on: id)
        try check([checked], on: try link(id))
        var characteristic = characteristic
        if characteristic.descriptors.isEmpty {
            // The characteristic was discovered without its descriptors, as in a discovery in steps.
            characteristic.descriptors = try await discoverDescriptors(of: characteristic, on: id)
        }
        // Without notifications, indications are the only possibility.
        let properties = characteristic.properties
        let canIndicate = properties.contains(.indicate)
        let indications =
            options.indications && (canIndicate || options.requiresIndications)
            || canIndicate && !properties.contains(.notify)
        guard properties.contains(indications ? .indicate : .notify) else {
            throw .invalidRequest(.notSubscribable(characteristic.uuid, indications: indications))
        }
        if characteristic.descriptor(.clientCharacteristicConfiguration) == nil {
            // It is not known whether it has a configuration.
            if let refusal = characteristic.refusedDescriptors { throw .att(refusal) }
            guard !options.requiresConfiguration else {
                throw .peerMisbehaved(.missingConfiguration(characteristic.uuid))
            }
        }
        return (characteristic, indications ? .indicate : .notify)
    }

    private func add(
        _ characteristics: [(RemoteCharacteristic, ClientCharacteristicConfiguration)],
        to feed: ValueFeed.Number, _ buffer: StreamBuffer<ReceivedValue>, _ options: SubscriptionOptions,
        after earlier: [StreamBuffer<ReceivedValue>], on link: Link
    ) -> [SubscriptionID] {
        let (keys, early) = link.gatt.session.subscribe(
            to: characteristics, holdingConfirmation: options.confirmation == .whenTaken)
        let callers = callers.links[link.id]
        callers?.feeds[feed]?.subscriptions += keys
        for key in keys { callers?.streams[key] = buffer }
        for (_, feed) in (callers?.feeds ?? [:]).sorted(by: { $0.key < $1.key })
        where earlier.contains(where: { $0 === feed.buffer }) {
            for old in feed.subscriptions {
                let handle = link.gatt.session.characteristic(of: old)?.valueHandle
                let new = keys.first { link.gatt.session.characteristic(of: $0)?.valueHandle == handle }
                if let new { link.gatt.session.handOverValues(from: old, to: new) }
            }
        }
        let taken = earlier.flatMap { $0.takeAll() } + early
        let inOrder = taken.enumerated().sorted {
            ($0.element.received, $0.offset) < ($1.element.received, $1.offset)
        }
        for (_, value) in inOrder { buffer.yield(value) }
        for stream in earlier { stream.abandon() }
        return keys
    }

    /// Ends the subscriptions of a stream, or that of one characteristic.
    func unsubscribe(_ feed: ValueFeed.Number, from handle: AttributeHandle? = nil, on id: LinkID) {
        guard let link = links[id] else { return }
        let keys = subscriptions(of: feed, on: id).filter { key in
            handle.map { link.gatt.session.characteristic(of: key)?.valueHandle == $0 } ?? true
        }
        unsubscribe(keys, of: feed, on: link)
        if handle == nil { callers.links[id]?.feeds[feed] = nil }
    }

    private func unsubscribe(_ keys: [SubscriptionID], of feed: ValueFeed.Number, on link: Link) {
        let callers = callers.links[link.id]
        for key in keys {
            callers?.streams[key] = nil
            link.gatt.session.unsubscribe(key)
        }
        callers?.feeds[feed]?.subscriptions.removeAll { keys.contains($0) }
        pump(link)
    }

    private func subscriptions(of feed: ValueFeed.Number, on id: LinkID) -> [SubscriptionID] {
        callers.links[id]?.feeds[feed]?.subscriptions ?? []
    }

    /// Records that a stream's consumer has taken an indication whose confirmation waits for that.
    private func taken(_ held: PendingConfirmations.Number, by feed: ValueFeed.Number, on id: LinkID) {
        guard let link = links[id] else { return }
        for key in subscriptions(of: feed, on: id) { link.gatt.session.taken(held, by: key) }
        pump(link)
    }

    /// Returns a value with the rest that did not fit its packet (Core Specification 5.4, Vol 3, Part G,
    /// 4.10.1). The value may have changed meanwhile, so it is read from its beginning: the result never
    /// consists of the head of one value and the tail of another. If the value has changed, or cannot be
    /// read, it is returned as it was received.
    private func completed(
        _ value: ReceivedValue, of feed: ValueFeed.Number, on id: LinkID
    ) async -> ReceivedValue {
        let session = links[id]?.gatt.session
        let known = subscriptions(of: feed, on: id).compactMap { session?.characteristic(of: $0) }
        guard let characteristic = known.first(where: { $0.valueHandle == value.handle }) else {
            return value
        }
        do throws(BLEError) {
            let checked = CheckedHandle(characteristic)
            let whole = try await run(ReadLongValue(value.handle), about: [checked], on: id)
            guard whole.starts(with: value.value) else { return value }
            var completed = value
            completed.value = whole
            completed.mayBeTruncated = false
            completed.length = nil
            return completed
        } catch {
            log.debug("the rest of the value of \(value.handle): \(error)")
            return value
        }
    }
}

/// When an indication is confirmed. Until then the server sends no other indication (Core Specification 5.4,
/// Vol 3, Part F, 3.4.7.2).
public enum IndicationConfirmation: Hashable, Sendable {
    /// As soon as the value is in the stream's buffer.
    case whenQueued
    /// When the consumer has taken the value, or after 25 s, because the server would give up the link after
    /// 30 s.
    case whenTaken
}
