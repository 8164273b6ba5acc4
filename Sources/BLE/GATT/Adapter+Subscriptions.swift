import ATT
import BLECore
import GATT
import GATTClient
import HCISocket
import Logging

/// How a stream of values shall be.
struct SubscriptionOptions: Sendable {
    var indications: Bool
    var buffer: BufferPolicy
    var confirmation: IndicationConfirmation
    var completing: Bool
}

extension Adapter {
    /// Switches notifications or indications on and gives their stream. The stream is there first, so that
    /// none is missed.
    func subscribe(
        to characteristic: RemoteCharacteristic, _ options: SubscriptionOptions, on id: LinkID
    ) async throws(BLEError) -> BoundedStream<ReceivedValue> {
        let checked = CheckedHandle(characteristic)
        try await locate([checked], on: id)
        let link = try link(id)
        try check([checked], on: link)
        var characteristic = characteristic
        if characteristic.descriptors.isEmpty {
            // Found without them, as in steps.
            characteristic.descriptors = try await discoverDescriptors(of: characteristic, on: id)
        }
        let needed: CharacteristicProperties = options.indications ? .indicate : .notify
        guard characteristic.properties.contains(needed) else {
            throw .invalidRequest(
                "characteristic \(characteristic.uuid) does not \(options.indications ? "indicate" : "notify")"
            )
        }
        guard characteristic.descriptor(.clientCharacteristicConfiguration) != nil else {
            throw .peer("characteristic \(characteristic.uuid) has no Client Characteristic Configuration")
        }
        let buffer = listen(to: characteristic, options, on: link)
        do throws(BLEError) {
            try await configure(characteristic, on: id)
        } catch {
            buffer.finish(.failure(error))
            throw error
        }
        guard options.completing else { return BoundedStream(buffer) }
        return BoundedStream(buffer) { [weak self] value in
            guard value.mayBeCut, let self else { return value }
            return await self.completed(value, checked, on: id)
        }
    }

    /// Adds a stream to those who listen, and gives it what came before.
    private func listen(
        to characteristic: RemoteCharacteristic, _ options: SubscriptionOptions, on link: Link
    ) -> StreamBuffer<ReceivedValue> {
        let (id, handle) = (link.id, characteristic.valueHandle)
        let key = link.client.table.subscribe(to: handle, options.indications ? .indicate : .notify)
        let buffer = StreamBuffer<ReceivedValue>(options.buffer, octets: { $0.value.count }) {
            [loop, weak self] value in
            guard let held = value.held else { return }
            loop.execute { [weak self] in self?.assumeIsolated { $0.taken(held, by: key, on: id) } }
        }
        link.client.streams[key] = LinkClient.Subscription(
            buffer: buffer, characteristic: characteristic, confirmation: options.confirmation)
        buffer.onEnd { [loop, weak self] in
            loop.execute { [weak self] in self?.assumeIsolated { $0.unsubscribe(key, on: id) } }
        }
        for value in link.client.early.take(handle) { buffer.yield(value) }
        return buffer
    }

    private func unsubscribe(_ key: SubscriptionID, on id: LinkID) {
        guard let link = links[id], let ended = link.client.streams.removeValue(forKey: key) else { return }
        link.client.table.unsubscribe(key)
        for _ in 0..<link.client.held.released(by: key) { link.gatt.confirm() }
        pump(link)
        Task(executorPreference: loop) {
            do throws(BLEError) {
                try await self.configure(ended.characteristic, on: id)
            } catch {
                self.log.debug("switching notifications off: \(error)")
            }
        }
    }

    /// Tells the server what all subscribers of a characteristic want together, unless it knows (Core
    /// Specification 5.4, Vol 3, Part G, 3.3.3.3). What they want is looked at when the turn has come, so
    /// that the last word is the right one, however subscribing and leaving follow each other.
    func configure(
        _ characteristic: RemoteCharacteristic, raising: Bool = true, on id: LinkID
    ) async throws(BLEError) {
        let link = try link(id)
        try await link.procedures.enter(self, of: id, at: \.procedures)
        defer { link.procedures.leave() }
        let handle = characteristic.valueHandle
        let wanted = link.client.table.configuration(of: handle)
        guard wanted != link.client.configured[handle] ?? [],
            let descriptor = characteristic.descriptor(.clientCharacteristicConfiguration)
        else { return }
        // Also when the write is given up: it may have reached the server.
        link.client.configured[handle] = wanted
        do throws(BLEError) {
            try await perform(
                WriteValue(descriptor.handle, configuration: wanted), about: [CheckedHandle(characteristic)],
                raising: raising, on: link)
        } catch {
            if case .att = error { link.client.configured[handle] = nil }
            throw error
        }
    }

    /// A notification or indication came. Indications are confirmed when they are queued, or when nobody
    /// listens; later only where a subscriber wants that.
    func deliver(_ push: ATTPush, on link: Link) {
        let now = loop.now
        var confirms = push.opcode == .handleValueIndication
        for var value in push.values(mtu: link.gatt.mtu, at: now) {
            let listeners = link.client.table.subscribers(of: value.handle)
                .filter { link.client.streams[$0] != nil }
            if value.isIndication {
                let holding = listeners.filter { link.client.streams[$0]?.confirmation == .whenTaken }
                if !holding.isEmpty {
                    value.held = link.client.held.hold(for: holding, at: now)
                    confirms = false
                }
            }
            if value.handle == link.client.serviceChanged {
                noteChange(ServiceChange(value.value).range, of: link)
            } else if listeners.isEmpty {
                link.client.early.keep(value)
            }
            for listener in listeners { link.client.streams[listener]?.buffer.yield(value) }
        }
        if confirms { link.gatt.confirm() }
    }

    /// A subscriber has taken an indication that waits for that.
    private func taken(_ held: HeldConfirmations.Number, by key: SubscriptionID, on id: LinkID) {
        guard let link = links[id], link.client.held.taken(held, by: key) else { return }
        link.gatt.confirm()
        pump(link)
    }

    /// A value with the rest that did not fit its packet (Core Specification 5.4, Vol 3, Part G, 4.10.1). The
    /// value may have changed meanwhile, so it is read from its beginning: never the head of one and the
    /// tail of another. Where it has changed, or cannot be read, the value stays as it came.
    private func completed(
        _ value: ReceivedValue, _ checked: CheckedHandle, on id: LinkID
    ) async -> ReceivedValue {
        do throws(BLEError) {
            let whole = try await run(ReadLongValue(value.handle), about: [checked], on: id)
            guard whole.starts(with: value.value) else { return value }
            var completed = value
            completed.value = whole
            completed.mayBeCut = false
            return completed
        } catch {
            log.debug("the rest of the value of \(value.handle): \(error)")
            return value
        }
    }
}
