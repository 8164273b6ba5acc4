import BLECore

/// The controller's resolving list, as the host keeps it (Core Specification 5.4, Vol 4, Part E, 7.8.38 to 7.8.44):
/// the peers whose private addresses the controller knows by itself. The others' are known by the host.
struct PeerKeyList {
    /// The keys of an entry.
    struct Keys: Hashable {
        /// The peer's; zero for one that does not hide.
        var peer: UInt128
        /// This host's, with which the controller knows who it is that a peer calls; zero without privacy.
        var local: UInt128
    }

    /// How many peers it takes; 0 where it is not to be relied on.
    private(set) var capacity = 0
    /// The peers on it; nil when that is not known.
    private(set) var contents: [DeviceAddress: Keys]? = [:]
    /// Whether the controller has been seen to resolve.
    var isProven = false

    /// The controller was reset, which empties the list.
    mutating func wasReset(capacity: Int) {
        self.capacity = capacity
        contents = [:]
        isProven = false
    }

    /// Whether the controller knows a peer by its private addresses.
    func knows(_ peer: DeviceAddress) -> Bool { contents?[peer].map { $0.peer != 0 } ?? false }

    /// What it should hold: the peers that were used last, those first that hide. Without a key of this host's, only
    /// those. Controllers refuse one peer's key a second time, which some have that paired under two identities.
    func wanted(_ records: [BondRecord], local: UInt128) -> [DeviceAddress: Keys] {
        var wanted: [DeviceAddress: Keys] = [:]
        var known: Set<UInt128> = []
        let byUse = records.sorted { $0.lastUsed > $1.lastUsed }
        for record in byUse.filter(\.isHidden) + (local == 0 ? [] : byUse.filter { !$0.isHidden }) {
            guard wanted.count < capacity else { break }
            let key = record.isHidden ? record.bond.peerIdentityKey ?? 0 : 0
            guard key == 0 || known.insert(key).inserted else { continue }
            wanted[record.id.peer] = Keys(peer: key, local: local)
        }
        return wanted
    }

    /// It is being changed.
    mutating func begin() { contents = nil }

    /// It holds that.
    mutating func settle(_ contents: [DeviceAddress: Keys]) { self.contents = contents }

    /// It has less room than the controller said.
    mutating func shrink(to count: Int) { capacity = count }

    /// The controller does not do as it should: the host does it all.
    mutating func giveUp() { (capacity, contents) = (0, [:]) }
}

extension BondRecord {
    /// Whether the peer has told the key of private addresses, so that it may use some.
    var isHidden: Bool { bond.peerIdentityKey.map { $0 != 0 } ?? false }
}
