import BLECore
import SMP

/// The bonds of a process, indexed by every identifier that a peer can use.
package struct BondTable {
    /// The values by which a central identifies a key of LE legacy pairing.
    private struct KeyName: Hashable {
        let local: DeviceAddress
        let ediv: UInt16
        let random: UInt64

        /// Creates the name of a key; nil for a key of LE Secure Connections, which has none.
        init?(_ ediv: UInt16, _ random: UInt64, at local: DeviceAddress) {
            guard ediv != 0 || random != 0 else { return nil }
            (self.local, self.ediv, self.random) = (local, ediv, random)
        }

        init?(of bond: Bond) {
            guard let key = bond.peripheralKey else { return nil }
            self.init(key.ediv, key.random, at: bond.local)
        }
    }

    package private(set) var records: [BondID: BondRecord] = [:]
    private var named: [KeyName: BondID] = [:]
    private var resolvers: [DeviceAddress: AddressResolver] = [:]

    package init() {}

    package subscript(id: BondID) -> BondRecord? { records[id] }

    /// Returns the bond whose `peripheralKey` has these EDIV and Rand values, by which a central requests the key
    /// after LE legacy pairing (Core Specification 5.4, Vol 3, Part H, 2.4.4.2). Keys of LE Secure Connections
    /// have neither: for 0 and 0 the result is nil, and the bond has to be found by the peer's address.
    package func record(ediv: UInt16, random: UInt64, at local: DeviceAddress) -> BondRecord? {
        KeyName(ediv, random, at: local).flatMap { named[$0] }.flatMap { records[$0] }
    }

    /// Returns the bond of the peer with an identity address. Of two with the same address, the one that has only claimed
    /// it comes second.
    private func record(with peer: DeviceAddress, at local: DeviceAddress) -> BondRecord? {
        for isClaimed in [false, true] {
            if let known = records[BondID(peer, at: local, isIdentityClaimed: isClaimed)] { return known }
        }
        return nil
    }

    /// Returns the bond of the peer that uses an address, without trying keys: a private address is known after
    /// `record(behind:)`.
    func known(behind address: DeviceAddress, at local: DeviceAddress) -> BondRecord? {
        record(with: address, at: local)
            ?? resolvers[local]?.remembered(behind: address).flatMap { records[$0] }
    }

    /// Returns the bond of the peer that uses an address: its identity address, or a resolvable private one.
    package mutating func record(behind address: DeviceAddress, at local: DeviceAddress) -> BondRecord? {
        if let known = record(with: address, at: local) { return known }
        return resolvers[local]?.bond(behind: address).flatMap { records[$0] }
    }

    /// Returns the bonds of an identity of this host for a list that has one entry for each identity address: without
    /// those of peers that have only claimed an address with which another peer is bonded.
    package func recordsByAddress(at local: DeviceAddress) -> [BondRecord] {
        let all = records.values.filter { $0.id.local == local }.sorted { $0.id < $1.id }
        return all.enumerated().filter { $0.offset == 0 || all[$0.offset - 1].id.peer != $0.element.id.peer }
            .map(\.element)
    }

    /// Returns the newest bond that was made before `time`, without authentication, and whose peer has not had another
    /// link since. Strangers can make any number of such bonds, so that the older ones are more likely the user's.
    func leastUseful(before time: Timestamp) -> BondID? {
        // In any order: no two have the same time and identifier.
        records.values.filter {
            !$0.bond.strength.isAuthenticated && $0.lastUsed == $0.created && $0.created < time
        }.max { ($0.created, $0.id) < ($1.created, $1.id) }?.id
    }

    /// Returns whether private addresses of peers can be resolved.
    package func knowsHiddenPeers(of local: DeviceAddress) -> Bool { resolvers[local]?.isEmpty == false }

    /// Adds a bond, or replaces the bond with the same identifier.
    package mutating func put(_ record: BondRecord) {
        let (id, bond) = (record.id, record.bond)
        if let old = records.updateValue(record, forKey: id) {
            // Most changes do not affect the keys.
            guard old.bond != bond else { return }
            forgetName(of: old.bond)
        }
        if let name = KeyName(of: bond) { named[name] = id }
        resolvers[id.local, default: AddressResolver()].set(bond.peerIdentityKey, of: id)
    }

    /// Removes a bond; returns false when there is none.
    @discardableResult
    package mutating func remove(_ id: BondID) -> Bool {
        guard let old = records.removeValue(forKey: id) else { return false }
        forgetName(of: old.bond)
        resolvers[id.local]?.set(nil, of: id)
        return true
    }

    private mutating func forgetName(of bond: Bond) {
        guard let name = KeyName(of: bond), named[name] == bond.id else { return }
        named[name] = nil
    }
}
