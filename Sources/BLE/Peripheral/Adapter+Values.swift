import ATT
import BLECore
import GATT
import GATTServer
import Logging

extension Adapter {
    /// Stores values, all or none, and sends each to those of its subscribers that are meant. Waits while a
    /// link has no room, and for confirmations; no link waits for another. Returns whom it reached; throws
    /// when a value could not be sent and none was reached.
    func update(
        _ values: [(handle: AttributeHandle, value: [UInt8])], centrals: [Central]?, truncating: Bool
    ) async throws(BLEError) -> [Central] {
        let update = server.updates.begin()
        do throws(BLEError) {
            let updates = try store(values)
            for (client, delivery) in server.gatt.deliveries(of: updates, truncating: truncating) {
                let id = LinkID(number: client.rawValue)
                guard centrals?.contains(where: { $0.link == id }) ?? true, let link = try? linkThatTakes(id)
                else { continue }
                send(delivery, to: link, as: update)
            }
            try await untilEnd(of: update)
        } catch {
            for delivery in server.updates.remove(update).open {
                links[delivery.link]?.gatt.cancel(delivery.id)
            }
            throw error
        }
        let outcome = server.updates.remove(update).outcome
        if let end { throw end }
        if let refused = outcome.refused.first, outcome.reached.isEmpty { throw refused.error }
        for (central, error) in outcome.refused { warn(central, error) }
        try await saveServer()
        return outcome.reached.sorted { $0.link.number < $1.link.number }
    }

    private func untilEnd(of update: UInt64) async throws(BLEError) {
        guard server.updates.isOpen(update) else { return }
        try await updates.wait(in: self) { adapter, update in
            adapter.updates.resume(update, with: .failure(.cancelled))
        } begin: { () throws(BLEError) in
            server.updates.isOpen(update) ? .pending(update) : .done(())
        }
    }

    /// Stores all values, or none when one of them cannot be.
    func store(
        _ values: [(handle: AttributeHandle, value: [UInt8])]
    ) throws(BLEError) -> [ValueUpdate] {
        if let end { throw end }
        do throws(AttributeValueError) {
            let updates = try server.gatt.setValues(values)
            keepUpdates(updates)
            return updates
        } catch .notFound(let handle) {
            throw .notFound(.value(handle))
        } catch {
            throw .invalidRequest(.value(error))
        }
    }

    /// Gives a link values to send, of an update that waits for their end or of none.
    func send(_ delivery: Delivery, to link: Link, as update: UInt64? = nil) {
        let id = link.gatt.deliver(delivery)
        if let update { server.updates.add(DeliveryKey(link: link.id, id: id), to: update) }
        drain(link)
        pumpSoon(link)
    }

    /// Who sends values that are too long for one central of several does so often: once a link is enough.
    private func warn(_ central: Central, _ error: BLEError) {
        guard let link = links[central.link], !link.isToldTooNarrow else { return }
        link.isToldTooNarrow = true
        log.warning("\(central.address) is not sent what other centrals are: \(error)")
    }

    /// A delivery has come to its end. That its link or bearer ended, as when the central does not confirm in time, is no
    /// failure of the others.
    func noteDelivered(_ delivery: DeliveryKey, _ end: DeliveryEnd, to link: Link) {
        let update = server.updates.end(delivery) { outcome in
            switch end {
            case .complete: outcome.reached.append(Central(link))
            case .refused(let error): outcome.refused.append((Central(link), BLEError(error)))
            case .closed: break
            }
        }
        if let update { updates.resume(update, with: .success(())) }
    }

    /// A link has ended, and all deliveries on it.
    func endDeliveries(on link: LinkID) {
        for delivery in server.updates.deliveries(on: link) {
            let update = server.updates.end(delivery) { _ in }
            if let update { updates.resume(update, with: .success(())) }
        }
    }

    /// Throws what came up on a link, unless it is that the link or its bearer ends or has ended, which is no failure of
    /// the others.
    func forgive(_ error: BLEError, of id: LinkID) throws(BLEError) {
        guard end == nil, error != .cancelled, (try? linkThatTakes(id)) == nil else { throw error }
    }

    func reportSent(_ update: ValueUpdate, to link: Link) {
        server.emit(.notified(Central(link), update.handle, update.uuid, update.value))
    }
}
