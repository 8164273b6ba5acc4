import ATT
import BLECore
import GATTClient
import Logging

extension Adapter {
    /// The database of a link's server: what is known, if it is certain to be true, else what discovery
    /// finds. Those who ask meanwhile wait for the same discovery.
    func discover(on id: LinkID, refreshing: Bool = false) async throws(BLEError) -> RemoteDatabase {
        let link = try link(id)
        try await link.discovery.enter(self, of: id, at: \.discovery)
        defer { link.discovery.leave() }
        if !refreshing, let database = link.client.currentDatabase { return database }
        for _ in 0..<3 {
            let changes = link.client.changes
            do throws(BLEError) {
                let database = try await find(refreshing: refreshing, on: link)
                if adopt(database, ifStill: changes, of: link) {
                    try await greetServer(of: link)
                    if let database = link.client.currentDatabase {
                        link.client.early.close()
                        return database
                    }
                }
            } catch  where error.isChange {
                log.debug("the database of \(link.peer) changes: \(error)")
            }
        }
        throw .peer("its database changes as often as it is discovered")
    }

    /// Finds out about handles that are of an earlier link: without that nobody knows whether they are still
    /// right.
    func locate(_ handles: [CheckedHandle], on id: LinkID) async throws(BLEError) {
        let client = try link(id).client
        guard client.database == nil, handles.contains(where: { !client.isCurrent($0.generation) }) else {
            return
        }
        _ = try await discover(on: id)
    }

    /// The primary services of a type: of the database, if it is known, else what looking for them finds.
    func discover(service uuid: BluetoothUUID, on id: LinkID) async throws(BLEError) -> [RemoteService] {
        let link = try link(id)
        if let database = link.client.currentDatabase {
            return database.services(uuid).filter(\.isPrimary)
        }
        let changes = link.client.changes
        let found = try await run(DiscoverDatabase(service: uuid), on: id)
        guard link.client.changes == changes else {
            throw .databaseChanged(found.services.first?.handle ?? .none)
        }
        let generation = link.client.partial ?? clients.cache.newGeneration()
        link.client.partial = generation
        return found.stamped(generation).services
    }

    /// The server said that something among these handles has changed. Streams of it end: what comes under
    /// their handles may be something else now.
    func noteChange(_ range: AttributeRange, of link: Link) {
        log.debug("the database of \(link.peer) has changed among \(range)")
        link.client.changes += 1
        link.client.isStale = link.client.database != nil
        link.client.partial = nil
        clients.cache.invalidate(link.identity)
        for stream in link.client.streams.values where stream.isChecked(in: range) {
            stream.buffer.finish(.failure(.databaseChanged(stream.characteristic.valueHandle)))
        }
        link.client.changeWatchers.tell(ServiceChange(range))
    }

    /// The database: from the cache when the hash says that it is the same, else by discovery.
    private func find(refreshing: Bool, on link: Link) async throws(BLEError) -> RemoteDatabase {
        let hash = try await readHash(of: link)
        await recall(link)
        if !refreshing, let known = clients.cache.current(of: link.identity, hash: hash) {
            log.debug("the database of \(link.peer) is the one known")
            return known
        }
        // The hash was read first: should the database change now, the hash is of the one before, and the
        // next link finds out.
        let found = try await run(DiscoverDatabase(), on: link.id)
        return RemoteDatabase(services: found.services, hash: hash)
    }

    private func readHash(of link: Link) async throws(BLEError) -> [UInt8]? {
        do throws(BLEError) {
            return try await run(ReadDatabaseHash(), raising: false, on: link.id)
        } catch .peer(let text) {
            log.debug("the Database Hash of \(link.peer): \(text)")
            return nil
        }
    }

    /// Takes a database as the one of the link. False when it changed while it was looked for.
    private func adopt(_ database: RemoteDatabase, ifStill changes: Int, of link: Link) -> Bool {
        let changed = database.characteristics(.serviceChanged, in: .genericAttribute).first?.valueHandle
        // What came before its handle was known.
        if let changed, !link.client.early.take(changed).isEmpty { noteChange(.all, of: link) }
        guard link.client.changes == changes else { return false }
        let kept = clients.cache.keep(
            CachedDatabase(database, isBonded: isBonded(link)), of: link.identity)
        retain(CachedDatabase(kept, isBonded: isBonded(link)), of: link)
        if kept.generation.number != link.client.database?.generation.number {
            link.client.configured.removeAll()
            if let wish = link.client.wishForChanges.take() { link.client.table.unsubscribe(wish) }
        }
        link.client.database = kept
        link.client.isStale = false
        link.client.serviceChanged = changed
        return true
    }

    /// Tells the server what this client can do, and asks it to tell when its database changes (Core
    /// Specification 5.4, Vol 3, Part G, 7.1 and 7.2). A server that refuses is not asked for security: that
    /// is for what the application does.
    private func greetServer(of link: Link) async throws(BLEError) {
        guard let database = link.client.currentDatabase else { return }
        let features = database.characteristics(.clientSupportedFeatures, in: .genericAttribute).first
        if let features, features.properties.contains(.write), !link.client.toldFeatures {
            let can: ClientSupportedFeatures = [.robustCaching, .multipleNotifications]
            try await tolerating("its supported features") { () throws(BLEError) in
                try await run(
                    WriteValue(features.valueHandle, [can.rawValue]), about: [CheckedHandle(features)],
                    raising: false, on: link.id)
            }
            link.client.toldFeatures = true
        }
        let changed = database.characteristics(.serviceChanged, in: .genericAttribute).first
        if let changed, changed.properties.contains(.indicate) {
            if link.client.wishForChanges == nil {
                link.client.wishForChanges = link.client.table.subscribe(to: changed.valueHandle, .indicate)
            }
            try await tolerating("Service Changed") { () throws(BLEError) in
                try await configure(changed, raising: false, on: link.id)
            }
        }
    }

    /// Runs something that the server may refuse.
    private func tolerating(
        _ what: String, _ body: () async throws(BLEError) -> Void
    ) async throws(BLEError) {
        do throws(BLEError) {
            try await body()
        } catch {
            switch error {
            case .att(let refusal) where refusal.code != .databaseOutOfSync:
                log.debug("\(what): \(refusal)")
            case .peer(let text): log.debug("\(what): \(text)")
            default: throw error
            }
        }
    }
}

extension Link {
    /// The peer's lasting address: the one it connected with, as long as nobody resolves private ones.
    var identity: DeviceAddress { protection.bond?.peer ?? peer }
}

extension LinkClient.Subscription {
    /// Whether its handle lies in `range` and is not its user's responsibility.
    fileprivate func isChecked(in range: AttributeRange) -> Bool {
        range.contains(characteristic.valueHandle)
            && characteristic.generation.number != DatabaseGeneration.unknown.number
    }
}

extension BLEError {
    /// Whether the server's database was found to have changed.
    fileprivate var isChange: Bool {
        switch self {
        case .databaseChanged: true
        case .att(let refusal): refusal.code == .databaseOutOfSync
        default: false
        }
    }
}
