import ATT
import BLECore
import GATT
import GATTServer
import HCISocket
import Logging

extension Adapter {
    /// Publishes services on this host's server, in place of the earlier ones. On kernel adapters it starts
    /// to accept links. The first call can come while links of the central role are up, because their peers
    /// have seen nothing yet.
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
        // A channel that arrives now is accepted in a later turn of the loop.
        try listenForCentrals()
        do throws(AttributeValueError) {
            try server.publish(
                database, options, isNamedByAdvertising: generic != nil && generic?.deviceName == nil)
        } catch {
            warnOfName(error)
        }
        mtu = options.mtu
        keepServices()
        for link in links {
            if link.protection.isRecognized, let bond = link.protection.bond { restore(bond, of: link) }
        }
        reportServicesChanged()
    }

    /// On kernel adapters, accepts the links of centrals from now on.
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

    /// Uses the name of an advertisement that starts or changes as the Device Name, if the application has
    /// set none.
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
        // The raw socket may have the link's parameters without having delivered them yet.
        port.readNow()
        guard end == nil else { return channel.port.close() }
        addLink(to: channel.peer, as: .peripheral, over: .socket(channel))
    }

    private func listenerFailed(_ error: PortError) {
        log.error("no more centrals can connect: \(error)")
        kernel?.close()
        server.listeners.finish(.port(error))
    }

    /// Starts a stream of the events of centrals.
    func listen(into buffer: StreamBuffer<PeripheralEvent>) {
        if let end { return buffer.finish(.failure(end)) }
        let number = server.listeners.add(buffer)
        whenEnded(buffer) { $0.server.listeners.remove(number) }
    }
}

// MARK: - Links

extension Adapter {
    /// Opens the server to the peer of a link that is up, whichever side established the link.
    func linkConnected(_ link: Link) {
        server.gatt.connect(
            ClientID(link.id), at: link.peer, security: link.protection.servedSecurity,
            current: currentSecurity(of: link))
        checkSignatures(of: link)
        if link.role == .peripheral { server.emit(.connected(Central(link), link.parameters)) }
        // The kernel may already have encrypted the link.
        noteSecurity(of: link)
    }

    func linkDisconnected(_ link: Link, _ reason: DisconnectReason) {
        remember(server.gatt.disconnect(ClientID(link.id)), of: link)
        // The subscriptions have ended with the link.
        reportServerEvents(ending: link)
        // It is not known yet whether the bond is saved, so the link is reported as not bonded.
        reportWithheldSecurity(of: link)
        guard link.role == .peripheral else { return }
        // A link whose end the controller did not report has no other reason.
        var error = link.givenUp ?? link.closing
        if case .disconnected? = error { error = nil }
        if link.pairing.isPairing || link.protection.claim != nil {
            reportPairingFailure(error ?? .disconnected(reason), of: link)
        }
        server.emit(.disconnected(Central(link), reason, error: error))
    }

    func noteMTU(_ mtu: ATTMTU, of link: Link) {
        if link.role == .peripheral { server.emit(.mtu(Central(link), mtu.octets)) }
        callers.links[link.id]?.parameters.emit(link.parameters)
    }
}

// MARK: - Requests

extension Adapter {
    /// Returns the device at the other end of a link.
    func central(_ id: ClientID) -> Central? { links[LinkID(number: id.rawValue)].map(Central.init) }

    /// Sends the answer that a handler promised. Drops an answer to a request that is no longer open.
    func complete(_ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>) {
        guard let link = links[LinkID(number: pending.client.rawValue)] else { return }
        link.gatt.complete(pending, with: result, serving: &server.gatt)
        pump(link)
    }

    /// Reports the server's events to the application: also those of `ended`, a link that is not in the table any
    /// more.
    func reportServerEvents(ending ended: Link? = nil) {
        while let event = server.gatt.nextEvent() {
            if let event = translated(event, ended) { server.emit(event) }
        }
    }

    private func translated(_ event: GATTServerEvent, _ ended: Link?) -> PeripheralEvent? {
        func central(_ id: ClientID) -> Central? {
            self.central(id) ?? ended.map(Central.init).flatMap { $0.client == id ? $0 : nil }
        }
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

    /// Saves the subscriptions and features of a central after a change. Those of a central that has
    /// disconnected are saved already.
    private func noteClient(_ id: ClientID) {
        if let link = links[LinkID(number: id.rawValue)] { keepClient(of: link) }
    }
}

extension Central {
    init(_ link: Link) { self.init(address: link.peer, client: ClientID(link.id)) }

    var link: LinkID { LinkID(number: client.rawValue) }
}

/// Services that are added and removed while links are up.
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

    /// Removes a service. Clients that asked for it receive Service Changed.
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
        for link in links { reportServicesChanged(on: link) }
    }

    func reportServicesChanged(on link: Link) {
        link.gatt.servicesChanged()
        pumpSoon(link)
    }
}

extension Adapter {
    /// Stores values, all or none, and sends each to its subscribers, or to those of them in `centrals`.
    /// Waits while a link has no room, and for confirmations; no link waits for another. Returns the centrals
    /// that were reached; throws when a value could not be sent and none was reached.
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
        try await waits.wait(in: self) { () throws(BLEError) in
            server.updates.isOpen(update) ? .pending(.update(update)) : .done(())
        }
    }

    /// Stores all values, or none when one of them cannot be stored.
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

    /// Gives a link values to send, as part of an update that waits for their end, or of none.
    func send(_ delivery: Delivery, to link: Link, as update: UInt64? = nil) {
        let id = link.gatt.deliver(delivery)
        if let update { server.updates.add(DeliveryKey(link: link.id, id: id), to: update) }
        drain(link)
        pumpSoon(link)
    }

    /// Logs values that are too long for one of several centrals. That can recur often, so it is logged once
    /// per link.
    private func warn(_ central: Central, _ error: BLEError) {
        guard let link = links[central.link], !link.hasReportedNarrowness else { return }
        link.hasReportedNarrowness = true
        guard case .limit(_, let maximum, let value) = error else {
            return log.warning("\(central.address): \(error)")
        }
        log.warning(
            "a value of \(value) octets was not sent to \(central.address), whose MTU allows \(maximum)")
    }

    /// Handles the end of a delivery. If its link or bearer ended, for example because the central did not
    /// confirm in time, that is no failure of the other deliveries.
    func noteDelivered(_ delivery: DeliveryKey, _ end: DeliveryEnd, to link: Link) {
        let update = server.updates.end(delivery) { outcome in
            switch end {
            case .complete: outcome.reached.append(Central(link))
            case .refused(let error): outcome.refused.append((Central(link), BLEError(error)))
            case .closed: break
            }
        }
        if let update { waits.end(.update(update), .success(())) }
    }

    /// Ends all deliveries on a link that has ended.
    func endDeliveries(on link: LinkID) {
        for delivery in server.updates.deliveries(on: link) {
            let update = server.updates.end(delivery) { _ in }
            if let update { waits.end(.update(update), .success(())) }
        }
    }

    /// Throws the error of an operation on a link, unless the link or its bearer ends or has ended, which is
    /// no failure of the operations on other links.
    func throwUnlessEnded(_ error: BLEError, link id: LinkID) throws(BLEError) {
        guard end == nil, error != .cancelled, (try? linkThatTakes(id)) == nil else { throw error }
    }

    func reportSent(_ update: ValueUpdate, to link: Link) {
        server.emit(.notified(Central(link), update.handle, update.uuid, update.value))
    }
}
