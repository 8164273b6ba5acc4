import BLECore

/// The controller's resolving list, as the host keeps it (Core Specification 5.4, Vol 4, Part E, 7.8.38 to 7.8.44):
/// the peers whose private addresses the controller knows by itself. The others' are known by the host.
struct PeerKeyList: Sendable {
    /// The identity resolving keys of one peer.
    struct Keys: Hashable, Sendable {
        /// The peer's; zero for one that does not hide.
        var peer: UInt128
        /// This host's, with which the controller knows who it is that a peer calls; zero without privacy.
        var local: UInt128
    }

    /// How many peers it takes; 0 where it is not to be relied on.
    private var capacity = 0
    /// The peers that there are, those first that are to have its room.
    private var peers: [(peer: DeviceAddress, keys: Keys)] = []
    /// The peers that it should hold.
    private(set) var wanted: [DeviceAddress: Keys] = [:]
    /// The same, those first that are to have its room.
    var wantedInOrder: ArraySlice<(peer: DeviceAddress, keys: Keys)> { peers.prefix(capacity) }
    /// The peers on it; nil when that is not known.
    private(set) var contents: [DeviceAddress: Keys]? = [:]
    /// Whether the controller has been seen to resolve.
    var isProven = false

    /// Whether the controller has room for any entry.
    var isUsed: Bool { capacity > 0 }

    /// The controller was reset, which empties the list.
    mutating func wasReset(capacity: Int) {
        setCapacity(capacity)
        contents = [:]
        isProven = false
    }

    /// Whether the controller knows a peer by its private addresses.
    func knows(_ peer: DeviceAddress) -> Bool { contents?[peer].map { $0.peer != 0 } ?? false }

    /// It should hold the peers that were used last, those first that hide. Without a key of this host's, only those.
    /// Controllers refuse one peer's key a second time, which some have that paired under two identities.
    mutating func setPeers(_ records: [BondRecord], local: UInt128) {
        peers = []
        var known: Set<UInt128> = []
        let byUse = records.sorted { $0.lastUsed > $1.lastUsed }
        for record in byUse.filter(\.isHidden) + (local == 0 ? [] : byUse.filter { !$0.isHidden }) {
            let key = record.isHidden ? record.bond.peerIdentityKey ?? 0 : 0
            guard key == 0 || known.insert(key).inserted else { continue }
            peers.append((record.id.peer, Keys(peer: key, local: local)))
        }
        setCapacity(capacity)
    }

    private mutating func setCapacity(_ capacity: Int) {
        self.capacity = capacity
        wanted = Dictionary(wantedInOrder.map { ($0.peer, $0.keys) }) { first, _ in first }
    }

    /// Marks the contents as unknown while the list is changed.
    mutating func begin() { contents = nil }

    /// Records that the controller's list holds `contents`.
    mutating func settle(_ contents: [DeviceAddress: Keys]) { self.contents = contents }

    /// It has less room than the controller said.
    mutating func shrink(to count: Int) { setCapacity(count) }

    /// The controller does not do as it should: the host does it all.
    mutating func giveUp() {
        setCapacity(0)
        contents = [:]
    }
}

extension BondRecord {
    /// Whether the peer has distributed its identity resolving key, so that it may use private addresses.
    var isHidden: Bool { bond.peerIdentityKey.map { $0 != 0 } ?? false }
}
