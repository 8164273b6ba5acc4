import ATT
import BLECore
import GATTServer
import HCISocket
import Logging

extension Adapter {
    /// Takes services as this host's server, in place of those before. On kernel adapters it begins to
    /// take links.
    func publish(
        _ services: [GATTService], _ generic: GenericServices?, _ configuration: GATTServer.Configuration
    ) throws(BLEError) {
        if let end { throw end }
        guard links.isEmpty else {
            throw .invalidRequest("all services are replaced only while there is no link; `add` adds some")
        }
        let database: AttributeDatabase
        do throws(DatabaseError) {
            database = try AttributeDatabase(services, generic: generic)
        } catch {
            throw .database(error)
        }
        server.gatt = GATTServer(database, configuration)
        server.isPublished = true
        guard let kernel else { return }
        if BluetoothDaemon.isRunning {
            log.warning(
                "bluetoothd runs: the newest listener gets the links, so this server loses them to a restart of it"
            )
        }
        do throws(PortError) {
            try kernel.listen(
                at: identity, on: loop,
                accepted: { [weak self] channel in self?.assumeIsolated { $0.accept(channel) } },
                failed: { [weak self] error in self?.assumeIsolated { $0.listenerFailed(error) } })
        } catch {
            throw .kernel(error, operation: "listening for centrals")
        }
    }

    private func accept(_ channel: L2CAPChannel) {
        addLink(to: channel.peer, as: .peripheral, over: .socket(channel))
    }

    private func listenerFailed(_ error: PortError) {
        log.error("no more centrals can connect: \(error)")
        server.finish(.failure(.port(error)))
    }

    /// Starts a stream of what centrals do.
    func listen(into buffer: StreamBuffer<PeripheralEvent>) {
        if let end { return buffer.finish(.failure(end)) }
        server.nextListener += 1
        let id = server.nextListener
        server.listeners[id] = buffer
        buffer.onEnd { [loop, weak self] in
            loop.execute { [weak self] in self?.assumeIsolated { $0.server.listeners[id] = nil } }
        }
    }
}

// MARK: - Links

extension Adapter {
    /// A link is there: its peer may use the server, whichever side made the link.
    func greet(_ link: Link) {
        server.gatt.connect(CentralID(link.id), security: security(of: link))
        if link.role == .peripheral { server.tell(.connected(Central(link), link.parameters)) }
    }

    func farewell(_ link: Link, _ reason: DisconnectReason) {
        server.gatt.disconnect(CentralID(link.id))
        tellServerEvents()
        if link.role == .peripheral { server.tell(.disconnected(Central(link), reason)) }
    }

    func noteMTU(_ mtu: ATTMTU, of link: Link) {
        if link.role == .peripheral { server.tell(.mtu(Central(link), mtu.octets)) }
    }

    func noteParameters(of link: Link) {
        if link.role == .peripheral { server.tell(.parameters(Central(link), link.parameters)) }
    }

    /// What the kernel says of a link's encryption. Without a security manager of ours, our own links have
    /// none.
    private func security(of link: Link) -> LinkSecurity {
        guard case .socket(let channel) = link.channel, let (level, keySize) = try? channel.security() else {
            return .none
        }
        return switch level {
        case .medium: LinkSecurity(level: .encrypted, keySize: keySize)
        case .high: LinkSecurity(level: .authenticated, keySize: keySize)
        case .fips: LinkSecurity(level: .secureConnections, keySize: keySize)
        case .low, nil: .none
        }
    }

    /// Raises a link's security before anything else is done on it.
    func secure(_ id: LinkID, _ level: LinkSecurityLevel) throws(BLEError) {
        guard case .socket(let channel) = try link(id).channel else {
            throw .adapter(.unsupported("pairing: this host has no security manager yet"))
        }
        do throws(PortError) {
            try channel.require(level)
        } catch {
            throw .port(error)
        }
    }
}

// MARK: - Requests

extension Adapter {
    func answer(_ request: ATTRequest, of link: Link) {
        if case .socket = link.channel {
            server.gatt.setSecurity(security(of: link), of: CentralID(link.id))
        }
        link.bearer.send(server.gatt.handle(request, from: CentralID(link.id), mtu: link.bearer.mtu))
        tellServerEvents()
    }

    func perform(_ command: ATTCommand, of link: Link) {
        server.gatt.handle(command, from: CentralID(link.id))
        tellServerEvents()
    }

    /// Gives the answer that a handler promised. An answer that nobody waits for any more is dropped.
    func complete(_ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>) {
        guard let answer = server.gatt.complete(pending, with: result),
            let link = links[LinkID(number: pending.central.rawValue)]
        else { return }
        link.bearer.send(answer)
        tellServerEvents()
        pump(link)
    }

    func tellServerEvents() {
        while let event = server.gatt.nextEvent() {
            if let event = translated(event) { server.tell(event) }
        }
    }

    private func translated(_ event: GATTServerEvent) -> PeripheralEvent? {
        func central(_ id: CentralID) -> Central? { links[LinkID(number: id.rawValue)].map { Central($0) } }
        switch event {
        case .read(let id, let handle, let uuid, let value):
            return central(id).map { .read($0, handle, uuid, value) }
        case .write(let id, let write, let kind): return central(id).map { .write($0, write, kind) }
        case .subscribed(let id, let handle, let uuid, let configuration):
            let indications = !configuration.contains(.notify)
            return central(id).map { .subscribed($0, handle, uuid, indications: indications) }
        case .unsubscribed(let id, let handle, let uuid):
            return central(id).map { .unsubscribed($0, handle, uuid) }
        // For the store of bonds, which there is none of yet.
        case .signed: return nil
        }
    }
}

extension Central {
    init(_ link: Link) { self.init(address: link.peer, link: link.id) }
}
