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
}

extension Adapter {
    /// Enables notifications or indications, and returns the stream of their values.
    func subscribe(
        to characteristic: RemoteCharacteristic, _ options: SubscriptionOptions, on id: LinkID
    ) async throws(BLEError) -> BoundedStream<ReceivedValue> {
        let checked = CheckedHandle(characteristic)
        try await locate([checked], on: id)
        let link = try link(id)
        try check([checked], on: link)
        var characteristic = characteristic
        if characteristic.descriptors.isEmpty {
            // The characteristic was discovered without its descriptors, as in a discovery in steps.
            characteristic.descriptors = try await discoverDescriptors(of: characteristic, on: id)
        }
        var options = options
        if !options.indications, !characteristic.properties.contains(.notify) {
            // Without notifications, indications are the only possibility.
            options.indications = characteristic.properties.contains(.indicate)
        }
        let needed: CharacteristicProperties = options.indications ? .indicate : .notify
        guard characteristic.properties.contains(needed) else {
            throw .invalidRequest(
                .notSubscribable(characteristic.uuid, indications: options.indications))
        }
        guard characteristic.descriptor(.clientCharacteristicConfiguration) != nil else {
            throw .peerMisbehaved(.missingConfiguration(characteristic.uuid))
        }
        let buffer = try await listen(to: characteristic, options, on: id)
        guard options.completing else { return BoundedStream(buffer) }
        return BoundedStream(buffer) { [weak self] value in
            guard value.mayBeTruncated, let self else { return value }
            return await self.completed(value, checked, on: id)
        }
    }

    /// Adds a stream, yields the values that came before it, and configures the server. The stream is added first, so
    /// that no value is missed.
    private func listen(
        to characteristic: RemoteCharacteristic, _ options: SubscriptionOptions, on id: LinkID
    ) async throws(BLEError) -> StreamBuffer<ReceivedValue> {
        var added: StreamBuffer<ReceivedValue>?
        do throws(BLEError) {
            try await perform(on: id) { (link) throws(BLEError) in
                added = addStream(of: characteristic, options, on: link)
                return .pending(link.gatt.session.configure(characteristic))
            }
        } catch {
            added?.finish(.failure(error))
            throw error
        }
        guard let added else { throw .cancelled }
        return added
    }

    private func addStream(
        of characteristic: RemoteCharacteristic, _ options: SubscriptionOptions, on link: Link
    ) -> StreamBuffer<ReceivedValue> {
        let id = link.id
        let (key, early) = link.gatt.session.subscribe(
            to: characteristic, options.indications ? .indicate : .notify,
            holdingConfirmation: options.confirmation == .whenTaken)
        let buffer = StreamBuffer<ReceivedValue>(options.buffer, on: loop, octets: { $0.value.count }) {
            [loop, weak self] value in
            guard let held = value.held else { return }
            loop.execute { [weak self] in self?.assumeIsolated { $0.taken(held, by: key, on: id) } }
        }
        link.streams[key] = buffer
        buffer.onEnd { [self] in
            loop.execute { self.assumeIsolated { $0.unsubscribe(key, on: id) } }
        }
        for value in early { buffer.yield(value) }
        return buffer
    }

    private func unsubscribe(_ key: SubscriptionID, on id: LinkID) {
        guard let link = links[id] else { return }
        link.streams[key] = nil
        link.gatt.session.unsubscribe(key)
        pump(link)
    }

    /// Records that a subscriber has taken an indication whose confirmation waits for that.
    private func taken(_ held: PendingConfirmations.Number, by key: SubscriptionID, on id: LinkID) {
        guard let link = links[id] else { return }
        link.gatt.session.taken(held, by: key)
        pump(link)
    }

    /// Returns a value with the rest that did not fit its packet (Core Specification 5.4, Vol 3, Part G,
    /// 4.10.1). The value may have changed meanwhile, so it is read from its beginning: the result never
    /// consists of the head of one value and the tail of another. If the value has changed, or cannot be
    /// read, it is returned as it was received.
    private func completed(
        _ value: ReceivedValue, _ checked: CheckedHandle, on id: LinkID
    ) async -> ReceivedValue {
        do throws(BLEError) {
            let whole = try await run(ReadLongValue(value.handle), about: [checked], on: id)
            guard whole.starts(with: value.value) else { return value }
            var completed = value
            completed.value = whole
            completed.mayBeTruncated = false
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
