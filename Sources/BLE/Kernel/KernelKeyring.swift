import BLECore
import HCISocket
import SMP

/// The pairings that the kernel reports: which devices are pairing, the identities that they claim, and their
/// keys. The kernel reports the keys one by one when it has all of them: the peer's identity key, the signing
/// keys, then the encryption keys. LE legacy pairing has an encryption key for each role, and each of them
/// produces the bond again.
struct KernelKeyring {
    /// The keys and the strength that a pairing produced.
    struct Pairing: Hashable {
        var bond: Bond
        /// Whether the bond is kept for later links: both sides requested bonding, and the peer can be
        /// recognized again.
        var isKept: Bool
        /// The peer's address on the link on which the bond was made; nil when that is uncertain.
        var link: DeviceAddress?
    }

    private struct Keys {
        var link: DeviceAddress?
        /// The time after which further keys belong to another pairing.
        var end: Instant
        /// Whether the kernel has been given other keys since the first of these was reported.
        var isReplaced = false
        var identity: UInt128?
        var peerSigning: UInt128?
        var localSigning: UInt128?
        var central: Management.LongTermKey?
        var peripheral: Management.LongTermKey?
    }

    /// The maximum time that a pairing can take of which nothing is reported. A pairing has failed after 30 s
    /// without a packet (Core Specification 5.4, Vol 3, Part H, 3.4), and the question, the answer, the
    /// encryption and the last key can each take that long. A pairing that distributes no keys ends without
    /// an event.
    static let timeLimit = Duration.seconds(120)
    /// The maximum time without a packet in a pairing.
    static let silence = Duration.seconds(30)
    /// The maximum time that the keys of one pairing can take: the kernel reports all of them at once.
    static let burst = Duration.seconds(5)

    /// The keys of pairings whose links are up.
    private var keys: [DeviceAddress: Keys] = [:]
    /// The identities of peers whose links, of this process, began under another address.
    private var identities: [DeviceAddress: DeviceAddress] = [:]
    /// The peers that are pairing, by the addresses by which the kernel knows them, and the time at which
    /// each pairing has failed at the latest.
    private var underWay: [DeviceAddress: Instant] = [:]

    /// Returns the address by which the kernel now knows the peer of a link.
    func identity(of peer: DeviceAddress) -> DeviceAddress { identities[peer] ?? peer }

    /// Whether the peer of a link is pairing.
    func isPairing(_ peer: DeviceAddress, at now: Instant) -> Bool {
        underWay[identity(of: peer)].map { $0 > now } ?? false
    }

    /// Returns the time at which no device is pairing any more, unless more events arrive; nil when none is
    /// pairing.
    func quiet(after now: Instant) -> Instant? { underWay.values.max().flatMap { $0 > now ? $0 : nil } }

    /// Notes that the peer of a link starts to pair, or that the kernel asks about it.
    mutating func begin(_ peer: DeviceAddress, at now: Instant) {
        underWay[identity(of: peer)] = now.advanced(by: Self.timeLimit)
    }

    /// Notes that a link of this process to a peer is encrypted. If that was by pairing, the keys of the
    /// pairing follow, or there are none.
    mutating func encrypted(_ peer: DeviceAddress, at now: Instant) {
        let name = identity(of: peer)
        if let limit = underWay[name] { underWay[name] = min(limit, now + Self.silence) }
    }

    /// Notes that the kernel is given other keys for a peer, or none.
    mutating func replace(_ peer: DeviceAddress) { keys[peer]?.isReplaced = true }

    /// Returns whether the kernel has the keys of a bond for the bond's peer, as far as it has reported them
    /// on a link that is up.
    func holds(_ bond: Bond) -> Bool {
        guard let keys = keys[bond.peer], !keys.isReplaced else { return false }
        return keys.central.map { LongTermKey($0) } == bond.centralKey
            && keys.peripheral.map { LongTermKey($0) } == bond.peripheralKey
    }

    /// Forgets the identity of a peer, whose link of this process has ended.
    mutating func forget(_ peer: DeviceAddress) { identities[peer] = nil }

    /// Handles an event of the kernel. For an encryption key, returns the pairing with its keys so far, made
    /// as the device `local`, whose process has links to the peers in `links`.
    mutating func take(
        _ event: ManagementEvent, as local: DeviceAddress, with links: @autoclosure () -> [DeviceAddress],
        at now: Instant
    ) -> Pairing? {
        switch event {
        case .confirmationRequest(let peer, _, _), .passkeyRequest(let peer), .passkeyNotify(let peer, _, _):
            begin(peer, at: now)
            // Drops keys of an earlier pairing without an encryption key.
            keys[peer] = nil
        // The first key of every pairing in which the peer distributes its identity.
        case .newIdentityKey(let key, let resolved, _):
            let link = resolved ?? pairing(as: key.peer, at: now)
            keys[key.peer] = Keys(link: link, end: now + Self.burst, identity: key.value)
            if let link, link != key.peer {
                if let limit = underWay.removeValue(forKey: link) { underWay[key.peer] = limit }
                if links().contains(link) { identities[link] = key.peer }
            }
        case .newSigningKey(let key, _):
            set(key.value, in: key.isLocal ? \.localSigning : \.peerSigning, of: key.peer, at: now)
        case .newLongTermKey(let key, let isKept):
            let made = take(key, isKept, as: local, at: now)
            // If the link is uncertain, the keys may be of another pairing, and this one continues.
            if made?.link != nil || key.kind == .debugP256 { underWay[key.peer] = nil }
            return made
        case .authenticationFailed(let peer, _): underWay[peer] = nil
        case .unpaired(let peer), .disconnected(let peer, _):
            underWay[peer] = nil
            keys[peer] = nil
        default: break
        }
        return nil
    }

    /// Returns the address of the link whose peer has the identity `peer`, if the kernel does not report it:
    /// `peer` itself, or an address that cannot be resolved. Nil unless exactly one of these is pairing.
    private func pairing(as peer: DeviceAddress, at now: Instant) -> DeviceAddress? {
        let candidates = underWay.filter { candidate, limit in
            limit > now
                && (candidate == peer || candidate.kind == .nonResolvable || candidate.kind == .reserved)
        }
        return candidates.count == 1 ? candidates.first?.key : nil
    }

    private mutating func take(
        _ key: Management.LongTermKey, _ isKept: Bool, as local: DeviceAddress, at now: Instant
    ) -> Pairing? {
        // A debug key protects nothing, and the kernel forgets it with the link.
        guard key.kind != .debugP256 else { return nil }
        if key.strength.isSecureConnections {
            set(key, in: \.central, of: key.peer, at: now)
            keys[key.peer]?.peripheral = key
        } else {
            set(key, in: key.isForCentral ? \.central : \.peripheral, of: key.peer, at: now)
        }
        guard let keys = keys[key.peer] else { return nil }
        var bond = Bond(with: key.peer, as: local, key.strength)
        bond.centralKey = keys.central.map { LongTermKey($0) }
        bond.peripheralKey = keys.peripheral.map { LongTermKey($0) }
        bond.peerIdentityKey = keys.identity
        bond.peerSigningKey = keys.peerSigning
        bond.localSigningKey = keys.localSigning
        return Pairing(bond: bond, isKept: isKept, link: keys.link)
    }

    /// Stores a key. If a key of this kind is stored already, it and all others are of an earlier pairing on
    /// the same link, and are dropped. Without an identity key, keys carry the address of the link itself.
    private mutating func set<Key>(
        _ key: Key, in slot: WritableKeyPath<Keys, Key?>, of peer: DeviceAddress, at now: Instant
    ) {
        if let earlier = keys[peer], earlier[keyPath: slot] != nil || earlier.end <= now { keys[peer] = nil }
        keys[peer, default: Keys(link: peer, end: now + Self.burst)][keyPath: slot] = key
    }
}

// MARK: - The kernel's keys and ours

extension Management.LongTermKey {
    /// The strength of the pairing that made the key.
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
    /// The keys that the kernel needs to encrypt links with this bond: one key of LE Secure Connections, or
    /// one for each role. Empty when the peer's address is not an identity, because the kernel would refuse
    /// such a key, and all others with it.
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

    /// The key that the kernel needs to recognize the peer.
    var kernelIdentityKey: Management.IdentityKey? {
        guard peer.kind == .public || peer.kind == .static else { return nil }
        return peerIdentityKey.map { Management.IdentityKey(peer: peer, value: $0) }
    }
}
