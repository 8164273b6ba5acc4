import ATT
import BLECore
import GATT
import GATTServer
import HCISocket
import Logging

extension Adapter {
    /// Takes services as this host's server, in place of those before. On kernel adapters it begins to
    /// take links. The first time links may be up, of the central role: their peers have seen nothing yet.
    func publish(
        _ services: [GATTService], _ generic: GenericServices?, _ options: ServerOptions
    ) throws(BLEError) {
        if let end { throw end }
        guard links.isEmpty || !server.isPublished else {
            throw .invalidRequest(.servicesInUse)
        }
        _ = try generic?.preferredConnection?.checked()
        let database: AttributeDatabase
        do throws(DatabaseError) {
            let kept = server.kept?.state.value
            database = try AttributeDatabase(
                services, generic: generic, like: kept?.services ?? [], above: kept?.highest ?? .none)
        } catch {
            throw .database(error)
        }
        // A channel that comes now is taken in a later turn.
        try listenForCentrals()
        do throws(AttributeValueError) {
            try server.publish(
                database, options, isNamedByAdvertising: generic != nil && generic?.deviceName == nil)
        } catch {
            warnOfName(error)
        }
        mtu = options.mtu
        keepServices()
        for link in links.values {
            if link.protection.isRecognized, let bond = link.protection.bond { restore(bond, of: link) }
        }
        reportServicesChanged()
    }

    /// On kernel adapters, takes the links of centrals from now on.
    private func listenForCentrals() throws(BLEError) {
        guard let kernel else { return }
        if kernel.kernel.files.bluetoothDaemon != nil {
            log.warning(
                "bluetoothd runs: the newest listener gets the links, so this server loses them to a restart of it"
            )
        }
        try kernel.listen(
            at: identity, on: loop,
            accepted: { [weak self] channel in self?.assumeIsolated { $0.accept(channel) } },
            failed: { [weak self] error in self?.assumeIsolated { $0.listenerFailed(error) } })
    }

    /// Takes the name of an advertisement that begins or changes for the Device Name, if the application has
    /// given none.
    func takeName(of request: AdvertisingRequest) {
        guard request.isConnectable, let name = request.plan.name else { return }
        do throws(AttributeValueError) {
            try server.advertises(as: name)
        } catch {
            warnOfName(error)
        }
    }

    private func warnOfName(_ error: AttributeValueError) {
        log.warning("the name that is advertised is no Device Name: \(error)")
    }

    private func accept(_ channel: L2CAPChannel) {
        // The raw socket may have the link's parameters and leave them for a while.
        port.readNow()
        guard end == nil else { return channel.port.close() }
        addLink(to: channel.peer, as: .peripheral, over: .socket(channel))
    }

    private func listenerFailed(_ error: PortError) {
        log.error("no more centrals can connect: \(error)")
        kernel?.close()
        server.listeners.finish(.port(error))
    }

    /// Starts a stream of what centrals do.
    func listen(into buffer: StreamBuffer<PeripheralEvent>) {
        if let end { return buffer.finish(.failure(end)) }
        let number = server.listeners.add(buffer)
        buffer.onEnd { [self] in
            loop.execute { self.assumeIsolated { $0.server.listeners.remove(number) } }
        }
    }
}

// MARK: - Links

extension Adapter {
    /// A link is there: its peer may use the server, whichever side made the link.
    func linkConnected(_ link: Link) {
        server.gatt.connect(
            ClientID(link.id), at: link.peer, security: link.protection.servedSecurity,
            current: currentSecurity(of: link))
        checkSignatures(of: link)
        if link.role == .peripheral { server.emit(.connected(Central(link), link.parameters)) }
        // The kernel may have encrypted it before.
        noteSecurity(of: link)
    }

    func linkDisconnected(_ link: Link, _ reason: DisconnectReason) {
        remember(server.gatt.disconnect(ClientID(link.id)), of: link)
        reportServerEvents()
        // Whether its bond is saved is not known yet, so it is reported as none.
        reportWithheldSecurity(of: link)
        if link.role == .peripheral { server.emit(.disconnected(Central(link), reason)) }
    }

    func noteMTU(_ mtu: ATTMTU, of link: Link) {
        if link.role == .peripheral { server.emit(.mtu(Central(link), mtu.octets)) }
        link.watchers.emit(link.parameters)
    }
}

// MARK: - Requests

extension Adapter {
    /// The device at the other end of a link.
    func central(_ id: ClientID) -> Central? { links[LinkID(number: id.rawValue)].map(Central.init) }

    /// Gives the answer that a handler promised. An answer to a request that is not open any more is dropped.
    func complete(_ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>) {
        guard let link = links[LinkID(number: pending.client.rawValue)] else { return }
        link.gatt.complete(pending, with: result, serving: &server.gatt)
        pump(link)
    }

    func reportServerEvents() {
        while let event = server.gatt.nextEvent() {
            if let event = translated(event) { server.emit(event) }
        }
    }

    private func translated(_ event: GATTServerEvent) -> PeripheralEvent? {
        switch event {
        case .read(let id, let handle, let uuid, let value):
            return central(id).map { .read($0, handle, uuid, value) }
        case .write(let id, let write, let kind):
            keepWrite(of: write.handle)
            return central(id).map { .write($0, write, kind) }
        case .refused(let id, let refusal, let uuid): return central(id).map { .refused($0, refusal, uuid) }
        case .subscribed(let id, let handle, let uuid, let configuration):
            noteClient(id)
            let indications = !configuration.contains(.notify)
            return central(id).map { .subscribed($0, handle, uuid, indications: indications) }
        case .unsubscribed(let id, let handle, let uuid):
            noteClient(id)
            return central(id).map { .unsubscribed($0, handle, uuid) }
        case .features(let id, _):
            noteClient(id)
            return nil
        case .signed(let id, let counter):
            noteSignature(counter, of: id)
            return nil
        }
    }

    /// A central has subscribed, does so no more, or can do something else; of one that has left all is kept already.
    private func noteClient(_ id: ClientID) {
        if let link = links[LinkID(number: id.rawValue)] { keepClient(of: link) }
    }
}

extension Central {
    init(_ link: Link) { self.init(address: link.peer, client: ClientID(link.id)) }

    var link: LinkID { LinkID(number: client.rawValue) }
}

/// Services that come and go while links are up.
extension Adapter {
    /// Publishes more services. Clients that asked for it receive Service Changed.
    func add(_ services: [GATTService]) throws(BLEError) -> AttributeRange? {
        if !server.isPublished { try publish([], GenericServices(), ServerOptions()) }
        do throws(DatabaseError) {
            let kept = server.kept?.state.value
            let known = Set(server.gatt.database.attributes.map(\.handle))
            let range = try server.gatt.add(
                services, like: kept?.services ?? [], above: kept?.highest ?? .none)
            keepServices(beside: known)
            reportServicesChanged()
            return range
        } catch {
            throw .database(error)
        }
    }

    /// Takes a service back. Clients that asked for it receive Service Changed.
    func removeService(at handle: AttributeHandle) throws(BLEError) {
        if let end { throw end }
        do throws(DatabaseError) {
            try server.gatt.remove(handle)
        } catch {
            throw .database(error)
        }
        forgetService(at: handle)
        reportServicesChanged()
    }

    /// Sends Service Changed to clients that asked for it, to each when it has confirmed the one before.
    func reportServicesChanged() {
        reportServerEvents()
        for link in links.values { reportServicesChanged(on: link) }
    }

    func reportServicesChanged(on link: Link) {
        link.gatt.servicesChanged()
        pumpSoon(link)
    }
}

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
        guard let link = links[central.link], !link.hasReportedNarrowness else { return }
        link.hasReportedNarrowness = true
        log.warning("\(central.address) is not sent what other centrals are: \(error)")
    }

    /// A delivery has come to its end. That its link or bearer ended, as when the central does not confirm in
    /// time, is no failure of the others.
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

    /// Throws what came up on a link, unless it is that the link or its bearer ends or has ended, which is no
    /// failure of the others.
    func forgive(_ error: BLEError, of id: LinkID) throws(BLEError) {
        guard end == nil, error != .cancelled, (try? linkThatTakes(id)) == nil else { throw error }
    }

    func reportSent(_ update: ValueUpdate, to link: Link) {
        server.emit(.notified(Central(link), update.handle, update.uuid, update.value))
    }
}
