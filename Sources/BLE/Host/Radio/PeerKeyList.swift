import BLECore

/// The controller's resolving list, as the host keeps it (Core Specification 5.4, Vol 4, Part E, 7.8.38 to
/// 7.8.44): the peers whose private addresses the controller resolves. The host resolves those of all others.
struct PeerKeyList: Sendable {
    /// The identity resolving keys of one peer.
    struct Keys: Hashable, Sendable {
        /// The peer's key; zero for a peer that uses no private addresses.
        var peer: UInt128
        /// This host's key, with which the controller recognizes that a peer sends to a private address of
        /// this host; zero without privacy.
        var local: UInt128
    }

    /// The number of peers that the list can hold; 0 where it is not to be relied on.
    private var capacity = 0
    /// All peers, in the order in which they get room on the list.
    private var peers: [(peer: DeviceAddress, keys: Keys)] = []
    /// The peers that the list should hold.
    private(set) var wanted: [DeviceAddress: Keys] = [:]
    /// The peers that the list should hold, in the order in which they get room.
    var wantedInOrder: ArraySlice<(peer: DeviceAddress, keys: Keys)> { peers.prefix(capacity) }
    /// The peers on the list; nil when that is not known.
    private(set) var contents: [DeviceAddress: Keys]? = [:]
    /// Whether the controller has resolved an address.
    var isProven = false

    /// Whether the controller has room for any entry.
    var isUsed: Bool { capacity > 0 }

    /// Handles a reset of the controller, which empties the list.
    mutating func wasReset(capacity: Int) {
        setCapacity(capacity)
        contents = [:]
        isProven = false
    }

    /// Returns whether the controller resolves a peer's private addresses.
    func contains(_ peer: DeviceAddress) -> Bool { contents?[peer].map { $0.peer != 0 } ?? false }

    /// Sets the peers that the list should hold: those that were used last, and first those that use private
    /// addresses. Without a key of this host, only the latter. Controllers refuse the same peer's key a
    /// second time, so it is listed once; a peer that has paired under two identities has the same key in
    /// both bonds.
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

    /// Handles a list that has less room than the controller reported.
    mutating func shrink(to count: Int) { setCapacity(count) }

    /// Stops using the list, because the controller does not work as it should: the host resolves all
    /// addresses.
    mutating func giveUp() {
        setCapacity(0)
        contents = [:]
    }
}

extension BondRecord {
    /// Whether the peer has distributed its identity resolving key, so that it may use private addresses.
    var isHidden: Bool { bond.peerIdentityKey.map { $0 != 0 } ?? false }
}
