import BLECore
import SMP

/// Resolves private addresses to the identities of peers (Core Specification 5.4, Vol 3, Part C, 10.8.2.3).
///
/// The only way to resolve an address is to try every key. Therefore the result for an address is remembered,
/// even if no key matched, because a scan receives the same addresses over and over. When a key is added,
/// only that key is tried for a remembered address.
struct AddressResolver {
    /// The maximum number of remembered addresses; a device has a new address about every 15 minutes.
    private static let addressLimit = 8192

    private struct Entry {
        let peer: BondID
        let key: UInt128
        let cipher: any BlockCipher
        /// The number of the key in the order in which the keys were added.
        let number: Int
    }

    private struct Finding {
        var peer: BondID?
        /// The newest key that was tried.
        var number: Int
    }

    private var entries: [Entry] = []
    private var places: [BondID: Int] = [:]
    private var found = RecencyTable<DeviceAddress, Finding>(limit: addressLimit)
    private var newest = 0

    var isEmpty: Bool { entries.isEmpty }

    /// Returns the bond of the peer with whose key an address was generated; nil when no such key is
    /// known, or when the address is not resolvable.
    mutating func bond(behind address: DeviceAddress) -> BondID? {
        guard address.kind == .resolvable, !entries.isEmpty else { return nil }
        if remembered(behind: address) != nil {
            return found.use(address, first: Finding(number: newest)) { $0.peer }.result
        }
        // A result that was found with a key that has been removed does not count.
        let tried = found[peek: address].map { $0.peer == nil ? $0.number : 0 } ?? 0
        let peer = entries.first { $0.number > tried && address.isResolved(by: $0.cipher) }?.peer
        let finding = Finding(peer: peer, number: newest)
        return found.use(address, first: finding) { last in
            last = finding
            return last.peer
        }.result
    }

    /// Returns the bond of the peer behind an address, if it was found before and the key has not changed.
    func remembered(behind address: DeviceAddress) -> BondID? {
        guard let known = found[peek: address], let peer = known.peer, let place = places[peer] else {
            return nil
        }
        return entries[place].number <= known.number ? peer : nil
    }

    /// Sets the key of a peer's private addresses. Peers that do not use such addresses distribute a zero
    /// key.
    mutating func set(_ key: UInt128?, of peer: BondID) {
        let key = key == 0 ? nil : key
        let place = places[peer]
        guard place.map({ entries[$0].key }) != key else { return }
        if let place { remove(at: place) }
        guard let key else { return }
        newest += 1
        places[peer] = entries.count
        entries.append(Entry(peer: peer, key: key, cipher: SecurityManager.aes128(key: key), number: newest))
    }

    private mutating func remove(at place: Int) {
        places[entries[place].peer] = nil
        // The last entry fills the gap.
        let last = entries.removeLast()
        guard place < entries.count else { return }
        entries[place] = last
        places[last.peer] = place
    }
}
