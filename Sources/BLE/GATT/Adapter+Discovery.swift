import ATT
import BLECore
import GATT
import GATTClient
import Logging

extension Adapter {
    /// The database of a link's server: what is known, if it is certain to be true, else what discovery
    /// finds. Those who ask meanwhile wait for the same discovery.
    func discover(on id: LinkID, refreshing: Bool = false) async throws(BLEError) -> RemoteDatabase {
        let link = try link(id)
        try await link.discovery.enter(self, of: id, at: \.discovery)
        defer { link.discovery.leave() }
        if !refreshing, let database = link.gatt.session.currentDatabase { return database }
        for _ in 0..<3 {
            let state = link.gatt.session.state
            do throws(BLEError) {
                let found = try await find(refreshing: refreshing, on: link)
                if adopt(found, since: state, of: link) {
                    try await greetServer(of: link)
                    if let database = link.gatt.session.currentDatabase {
                        link.gatt.session.closeEarlyValues()
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
        if try link(id).gatt.session.needsDiscovery(for: handles.map(\.generation)) {
            _ = try await discover(on: id)
        }
    }

    /// The primary services of a type: of the database, if it is known, else what looking for them finds.
    func discover(service uuid: BluetoothUUID, on id: LinkID) async throws(BLEError) -> [RemoteService] {
        let link = try link(id)
        if let database = link.gatt.session.currentDatabase {
            return database.services(uuid).filter(\.isPrimary)
        }
        let state = link.gatt.session.state
        let found = try await run(DiscoverDatabase(service: uuid), on: id)
        guard let generation = link.gatt.session.partialGeneration(since: state, in: &clients.cache) else {
            throw .databaseChanged(found.services.first?.handle ?? .none)
        }
        return found.stamped(generation).services
    }

    /// The server said that something among these handles has changed. Streams of it end: what comes under
    /// their handles may be something else now.
    func noteChange(_ range: AttributeRange, of link: Link) {
        log.debug("the database of \(link.peer) has changed among \(range)")
        link.gatt.session.databaseChanged(of: link.identity, in: &clients.cache)
        for subscriber in link.gatt.session.subscribers(among: range) {
            guard let characteristic = link.gatt.session.characteristic(of: subscriber) else { continue }
            link.streams[subscriber]?.finish(.failure(.databaseChanged(characteristic.valueHandle)))
        }
        link.changeWatchers.tell(ServiceChange(range))
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
    private func adopt(
        _ database: RemoteDatabase, since state: ClientSession.DatabaseState, of link: Link
    ) -> Bool {
        let found = CachedDatabase(database, isBonded: isBonded(link))
        let kept = link.gatt.session.adopt(found, since: state, of: link.identity, in: &clients.cache)
        guard let kept else { return false }
        retain(CachedDatabase(kept, isBonded: isBonded(link)), of: link)
        return true
    }

    /// Tells the server what this client can do, and asks it to tell when its database changes (Core
    /// Specification 5.4, Vol 3, Part G, 7.1 and 7.2). A server that refuses is not asked for security: that
    /// is for what the application does.
    private func greetServer(of link: Link) async throws(BLEError) {
        if let features = link.gatt.session.untoldFeatures {
            let can: ClientSupportedFeatures = [.robustCaching, .multipleNotifications]
            try await tolerating("its supported features") { () throws(BLEError) in
                try await run(
                    WriteValue(features.valueHandle, [can.rawValue]), about: [CheckedHandle(features)],
                    raising: false, on: link.id)
            }
            link.gatt.session.toldFeatures()
        }
        if let changed = link.gatt.session.wishForServiceChanges() {
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
