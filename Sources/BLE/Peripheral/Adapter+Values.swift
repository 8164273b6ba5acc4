import ATT
import BLECore
import GATTServer
import Logging

/// A value on its way to those who subscribed to it.
struct ValueUpdate: Sendable {
    let handle: AttributeHandle
    let uuid: BluetoothUUID
    let value: [UInt8]
}

/// What one central is to get.
private struct Delivery: Sendable {
    let link: LinkID
    let central: Central
    var notifications: [ValueUpdate] = []
    var indications: [ValueUpdate] = []
    let truncating: Bool
}

extension Adapter {
    /// Stores values, all or none, and sends each to those of its subscribers that are meant. Waits while a
    /// link has no room, and for confirmations; no link waits for another. Returns whom it reached.
    func update(
        _ values: [(handle: AttributeHandle, value: [UInt8])], centrals: [Central]?, truncating: Bool
    ) async throws(BLEError) -> [Central] {
        let deliveries = deliveries(of: try store(values), to: centrals, truncating)
        if let only = deliveries.first, deliveries.count == 1 {
            let isReached = try await deliver(only)
            try await saveServer()
            return isReached ? [only.central] : []
        }
        let results = await withTaskGroup(of: (Int, Result<Bool, BLEError>).self) { group in
            for (number, delivery) in deliveries.enumerated() {
                group.addTask(executorPreference: loop) {
                    do throws(BLEError) {
                        return (number, .success(try await self.deliver(delivery)))
                    } catch {
                        return (number, .failure(error))
                    }
                }
            }
            var results: [Int: Result<Bool, BLEError>] = [:]
            for await (number, result) in group { results[number] = result }
            return results
        }
        var reached: [Central] = []
        for (number, delivery) in deliveries.enumerated() {
            if try results[number]?.get() == true { reached.append(delivery.central) }
        }
        try await saveServer()
        return reached
    }

    /// Stores all values, or none when one of them cannot be.
    func store(
        _ values: [(handle: AttributeHandle, value: [UInt8])]
    ) throws(BLEError) -> [ValueUpdate] {
        if let end { throw end }
        do throws(AttributeValueError) {
            for (handle, value) in values { try server.gatt.checkValue(value, of: handle) }
            var updates: [ValueUpdate] = []
            for (handle, value) in values {
                try server.gatt.setValue(value, of: handle)
                guard let uuid = server.gatt.database[handle]?.type else { continue }
                updates.append(ValueUpdate(handle: handle, uuid: uuid, value: value))
            }
            keepUpdates(updates)
            return updates
        } catch .notFound(let handle) {
            throw .notFound("no value has the handle \(handle)")
        } catch {
            throw .invalidRequest("\(error)")
        }
    }

    private func deliveries(
        of updates: [ValueUpdate], to centrals: [Central]?, _ truncating: Bool
    ) -> [Delivery] {
        var deliveries: [LinkID: Delivery] = [:]
        for update in updates {
            for subscriber in server.gatt.subscribers(of: update.handle) {
                let id = LinkID(number: subscriber.central.rawValue)
                guard let link = try? linkThatTakes(id), centrals?.contains(where: { $0.link == id }) ?? true
                else { continue }
                var delivery =
                    deliveries[id] ?? Delivery(link: id, central: Central(link), truncating: truncating)
                if subscriber.prefersIndications {
                    delivery.indications.append(update)
                } else {
                    delivery.notifications.append(update)
                }
                deliveries[id] = delivery
            }
        }
        return deliveries.values.sorted { $0.link.number < $1.link.number }
    }

    /// Sends one central all that it is to get; false when its link or bearer ended meanwhile, as when it does not
    /// confirm in time, which is no failure of the others.
    private func deliver(_ delivery: Delivery) async throws(BLEError) -> Bool {
        do throws(BLEError) {
            for group in try groups(of: delivery) { try await notify(group, delivery) }
            for update in delivery.indications { try await indicate(update, delivery) }
            return true
        } catch {
            try forgive(error, of: delivery.link)
            return false
        }
    }

    /// Throws what came up on a link, unless it is that the link or its bearer ends or has ended, which is no failure of
    /// the others.
    func forgive(_ error: BLEError, of id: LinkID) throws(BLEError) {
        guard end == nil, error != .cancelled, (try? linkThatTakes(id)) == nil else { throw error }
    }

    /// Which notifications go in one PDU: as many as fit, where the client takes several at once.
    private func groups(of delivery: Delivery) throws(BLEError) -> [[ValueUpdate]] {
        let features = server.gatt.features(of: ClientID(delivery.link))
        guard features.contains(.multipleNotifications) else { return delivery.notifications.map { [$0] } }
        var room = 0
        let limit = try link(delivery.link).bearer.mtu.octets - 1
        return delivery.notifications.reduce(into: []) { groups, update in
            let octets = 4 + update.value.count
            if octets <= room, !groups.isEmpty {
                groups[groups.count - 1].append(update)
                room -= octets
            } else {
                groups.append([update])
                room = limit - octets
            }
        }
    }

    private func notify(_ group: [ValueUpdate], _ delivery: Delivery) async throws(BLEError) {
        try await withRoom(on: delivery.link) { (link) throws(ATTLimitError) in
            if let only = group.first, group.count == 1 {
                try link.bearer.notify(only.handle, value: only.value, truncating: delivery.truncating)
            } else {
                var list = ATTTupleList<ATTHandleLengthValue>()
                for update in group { list.append(ATTHandleLengthValue(update.handle, update.value)) }
                try link.bearer.notify(list)
            }
        }
        for update in group { tellNotified(update, delivery.central) }
    }

    private func indicate(_ update: ValueUpdate, _ delivery: Delivery) async throws(BLEError) {
        while case let link = try linkThatTakes(delivery.link), !link.bearer.canIndicate {
            try await link.room.wait(in: self, of: link.id)
        }
        try await confirmations.wait(in: self) { adapter, key in
            // The indication is out; its confirmation is awaited by the bearer alone.
            adapter.confirmations.resume(key, with: .failure(.cancelled))
        } start: { () throws(BLEError) in
            let link = try linkThatTakes(delivery.link)
            do throws(ATTLimitError) {
                let id = try link.bearer.indicate(
                    update.handle, value: update.value, truncating: delivery.truncating)
                tellNotified(update, delivery.central)
                pumpSoon(link)
                return TransactionKey(link: delivery.link, id: id)
            } catch {
                throw BLEError(error)
            }
        }
        server.tell(.confirmed(delivery.central, update.handle, update.uuid))
    }

    func tellNotified(_ update: ValueUpdate, _ central: Central) {
        server.tell(.notified(central, update.handle, update.uuid, update.value))
    }

    /// Gives something to a link's bearer; waits while that has no room.
    private func withRoom(
        on id: LinkID, _ send: (Link) throws(ATTLimitError) -> Void
    ) async throws(BLEError) {
        while true {
            let link = try linkThatTakes(id)
            do throws(ATTLimitError) {
                try send(link)
                return pumpSoon(link)
            } catch {
                guard error.limit == .pushes else { throw BLEError(error) }
            }
            try await link.room.wait(in: self, of: id)
        }
    }
}
