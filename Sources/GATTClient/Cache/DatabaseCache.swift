import BLECore

/// The database of a peer as it was last found, for a cache and for storage on disk.
package struct CachedDatabase: Hashable, Sendable {
    /// The database, with its hash if the server has one.
    package var database: RemoteDatabase
    /// Whether the peer is bonded. A bonded peer also reports, by Service Changed, the changes that were made
    /// while it had no link (Core Specification 5.4, Vol 3, Part G, 2.5.2).
    package var isBonded: Bool

    package init(_ database: RemoteDatabase, isBonded: Bool = false) {
        self.database = database
        self.isBonded = isBonded
    }
}

/// The last known databases of peers, and which of them can be used again without discovery (Core
/// Specification 5.4, Vol 3, Part G, 2.5.2).
///
/// ```swift
/// if let known = cache.current(of: peer, hash: hash) { return known }
/// let found = cache.keep(CachedDatabase(discovered), of: peer)
/// ```
package struct DatabaseCache: Sendable {
    /// The maximum number of peers that are remembered. Beyond it, the peer whose database was kept longest
    /// ago is evicted.
    package static let peerLimit = 64
    /// The maximum number of attributes of a remembered database, so that a hostile server cannot fill the
    /// memory.
    package static let attributeLimit = 4096

    private struct Entry {
        var cached: CachedDatabase
        /// Whether the database can be used. Otherwise it is only compared: the server reported a change, or it has
        /// faults, and what is missing may be found the next time.
        var isCurrent = true
    }

    private var entries: [DeviceAddress: Entry] = [:]
    /// The peers, in the order in which their databases were kept.
    private var order: [DeviceAddress] = []
    private var last: UInt64 = 0

    package init() {}

    /// The remembered databases that have not been reported as changed.
    package var contents: [DeviceAddress: CachedDatabase] {
        entries.filter { $1.isCurrent }.mapValues(\.cached)
    }

    /// Whether a database of `peer` is remembered, also one that has been reported as changed.
    package func holds(_ peer: DeviceAddress) -> Bool { entries[peer] != nil }

    /// Returns the database of `peer` if it is certain to be unchanged: the hash that was read on this link
    /// equals the remembered one, or there is neither and the peer is bonded.
    package func current(of peer: DeviceAddress, hash: [UInt8]?) -> RemoteDatabase? {
        guard let entry = entries[peer], entry.isCurrent, entry.cached.database.hash == hash else {
            return nil
        }
        return hash != nil || entry.cached.isBonded ? entry.cached.database : nil
    }

    /// Stores the database that a discovery found at `peer`. Returns it with the generation of the remembered
    /// database if nothing has changed, otherwise with a new one.
    @discardableResult
    package mutating func keep(_ found: CachedDatabase, of peer: DeviceAddress) -> RemoteDatabase {
        let before = entries[peer]?.cached
        let isSame = before?.database.services == found.database.services
        let generation = before.flatMap { isSame ? $0.database.generation : nil } ?? newGeneration()
        var kept = found
        kept.database = found.database.stamped(generation)
        kept.isBonded = found.isBonded || before?.isBonded == true
        order.removeAll { $0 == peer }
        entries[peer] = nil
        if kept.database.count <= Self.attributeLimit {
            entries[peer] = Entry(cached: kept, isCurrent: kept.database.faults.isEmpty)
            order.append(peer)
            if order.count > Self.peerLimit { entries[order.removeFirst()] = nil }
        }
        return kept.database
    }

    /// Marks the database of `peer` as changed: it must not be used without a discovery.
    package mutating func invalidate(_ peer: DeviceAddress) { entries[peer]?.isCurrent = false }

    package mutating func forget(_ peer: DeviceAddress) {
        entries[peer] = nil
        order.removeAll { $0 == peer }
    }

    /// Returns a new generation, different from all others.
    package mutating func newGeneration() -> DatabaseGeneration {
        last += 1
        return DatabaseGeneration(last)
    }
}
