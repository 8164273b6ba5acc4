import BLECore
import HCISocket
import SMP

/// Puts the keys of a pairing together, which the kernel tells one by one when it has all of them: the peer's
/// identity, what signs, then what encrypts. LE legacy pairing has a key for each role: each makes the bond anew.
struct KernelKeyring {
    /// What a pairing has made.
    struct Pairing: Hashable {
        var bond: Bond
        /// Whether it is for the next link too: both sides wanted a bond, and the peer can be known again.
        var isKept: Bool
        /// The address that the peer had until it told its identity, if that was another one.
        var resolved: DeviceAddress?
    }

    private struct Keys {
        var resolved: DeviceAddress?
        var identity: UInt128?
        var peerSigning: UInt128?
        var localSigning: UInt128?
        var central: Management.LongTermKey?
        var peripheral: Management.LongTermKey?
    }

    /// The keys of pairings whose links are there.
    private var keys: [DeviceAddress: Keys] = [:]

    /// Takes what the kernel tells. When that was a key that encrypts, what its pairing has made up to now, as the
    /// device `local`.
    mutating func take(_ event: ManagementEvent, as local: DeviceAddress) -> Pairing? {
        switch event {
        // With it every pairing begins in which the peer tells its identity.
        case .newIdentityKey(let key, let resolved, _):
            keys[key.peer] = Keys(resolved: resolved, identity: key.value)
        case .newSigningKey(let key, _):
            set(key.value, in: key.isLocal ? \.localSigning : \.peerSigning, of: key.peer)
        case .newLongTermKey(let key, let isKept): return take(key, isKept, as: local)
        case .disconnected(let peer, _), .unpaired(let peer): keys[peer] = nil
        default: break
        }
        return nil
    }

    private mutating func take(
        _ key: Management.LongTermKey, _ isKept: Bool, as local: DeviceAddress
    ) -> Pairing? {
        // It protects nothing, and the kernel forgets it with the link.
        guard key.kind != .debugP256 else { return nil }
        if key.strength.isSecureConnections {
            if keys[key.peer]?.central != nil { keys[key.peer] = nil }
            keys[key.peer, default: Keys()].central = key
            keys[key.peer]?.peripheral = key
        } else {
            set(key, in: key.isForCentral ? \.central : \.peripheral, of: key.peer)
        }
        guard let keys = keys[key.peer] else { return nil }
        var bond = Bond(with: key.peer, as: local, key.strength)
        bond.centralKey = keys.central.map { LongTermKey($0) }
        bond.peripheralKey = keys.peripheral.map { LongTermKey($0) }
        bond.peerIdentityKey = keys.identity
        bond.peerSigningKey = keys.peerSigning
        bond.localSigningKey = keys.localSigning
        return Pairing(bond: bond, isKept: isKept, resolved: keys.resolved)
    }

    /// Notes a key. One that is there already is of an earlier pairing on the same link, as all others then are.
    private mutating func set<Key>(
        _ key: Key, in slot: WritableKeyPath<Keys, Key?>, of peer: DeviceAddress
    ) {
        if keys[peer]?[keyPath: slot] != nil { keys[peer] = nil }
        keys[peer, default: Keys()][keyPath: slot] = key
    }
}

// MARK: - The kernel's keys and ours

extension Management.LongTermKey {
    /// What the pairing was worth that made it.
    var strength: PairingStrength {
        PairingStrength(
            isAuthenticated: kind == .authenticated || kind == .authenticatedP256,
            isSecureConnections: kind != .authenticated && kind != .unauthenticated, keySize: Int(size))
    }
}

extension LongTermKey {
    fileprivate init(_ key: Management.LongTermKey) {
        self.init(key.value, ediv: key.ediv, random: key.random, size: Int(key.size))
    }
}

extension Bond {
    /// What the kernel has to know of it to encrypt links: one key of LE Secure Connections, or one for each role.
    /// None when the kernel would refuse it, and all others with it: it takes identities only.
    var kernelKeys: [Management.LongTermKey] {
        guard peer.kind == .public || peer.kind == .static else { return [] }
        let kind: Management.LongTermKey.Kind =
            switch (strength.isSecureConnections, strength.isAuthenticated) {
            case (false, false): .unauthenticated
            case (false, true): .authenticated
            case (true, false): .unauthenticatedP256
            case (true, true): .authenticatedP256
            }
        let keys =
            strength.isSecureConnections
            ? [(key: centralKey ?? peripheralKey, isForCentral: false)]
            : [(key: centralKey, isForCentral: true), (key: peripheralKey, isForCentral: false)]
        return keys.compactMap { key, isForCentral in
            guard let key, (7...16).contains(key.size) else { return nil }
            return Management.LongTermKey(
                peer: peer, kind: kind, isForCentral: isForCentral, size: UInt8(key.size), ediv: key.ediv,
                random: key.random, value: key.value)
        }
    }

    /// What the kernel has to know of it to recognize the peer.
    var kernelIdentityKey: Management.IdentityKey? {
        guard peer.kind == .public || peer.kind == .static else { return nil }
        return peerIdentityKey.map { Management.IdentityKey(peer: peer, value: $0) }
    }
}
