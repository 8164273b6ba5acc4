import BLECore
import SMP

/// Finds out whose resolvable private addresses are met (Core Specification 5.4, Vol 3, Part C, 10.8.2.3).
///
/// There is no shorter way than to try every key, so what was found of an address, be it nothing, is remembered:
/// a scan meets the same addresses over and over. Of a new key, only that one is tried.
struct AddressResolver {
    /// Addresses that are remembered; a device has a new one every 15 minutes or so.
    private static let addressLimit = 8192

    private struct Entry {
        let peer: DeviceAddress
        let key: UInt128
        let cipher: any BlockCipher
        /// Numbers the keys in the order in which they came.
        let number: Int
    }

    private struct Finding {
        var peer: DeviceAddress?
        /// The newest key that was tried.
        var number: Int
    }

    private var entries: [Entry] = []
    private var places: [DeviceAddress: Int] = [:]
    private var found = RecencyTable<DeviceAddress, Finding>(limit: addressLimit)
    private var newest = 0

    var isEmpty: Bool { entries.isEmpty }

    /// The identity whose key an address was made with; nil when none is known, or the address is no resolvable
    /// one.
    mutating func identity(behind address: DeviceAddress) -> DeviceAddress? {
        guard address.kind == .resolvable, !entries.isEmpty else { return nil }
        let known = found[peek: address]
        if let peer = known?.peer, let place = places[peer], entries[place].number <= known?.number ?? 0 {
            return found.use(address, first: Finding(number: newest)) { $0.peer }.result
        }
        // What was found with a key that is no more is no finding.
        let tried = known.map { $0.peer == nil ? $0.number : 0 } ?? 0
        let peer = entries.first { $0.number > tried && address.isResolved(by: $0.cipher) }?.peer
        let finding = Finding(peer: peer, number: newest)
        return found.use(address, first: finding) { last in
            last = finding
            return last.peer
        }.result
    }

    /// Says what a peer's addresses are made with. Zero is what peers give that do not use such addresses.
    mutating func set(_ key: UInt128?, of peer: DeviceAddress) {
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
