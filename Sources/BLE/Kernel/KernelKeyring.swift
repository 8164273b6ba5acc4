import BLECore
import HCISocket
import SMP

/// What the kernel reports of pairings: which devices are pairing, the identities that they claim, and their keys. It
/// reports these one by one when it has all of them: the peer's identity, what signs, then what encrypts. LE legacy
/// pairing has a key for each role: each makes the bond anew.
struct KernelKeyring {
    /// The keys and the strength that a pairing produced.
    struct Pairing: Hashable {
        var bond: Bond
        /// Whether it is for the next link too: both sides wanted a bond, and the peer can be known again.
        var isKept: Bool
        /// The address by which the link is known that it was made on; nil where that is uncertain.
        var link: DeviceAddress?
    }

    private struct Keys {
        var link: DeviceAddress?
        /// When others are not of the same pairing.
        var end: Instant
        /// Whether the kernel has been given others since the first of them was reported.
        var isReplaced = false
        var identity: UInt128?
        var peerSigning: UInt128?
        var localSigning: UInt128?
        var central: Management.LongTermKey?
        var peripheral: Management.LongTermKey?
    }

    /// How long a pairing may take of which nothing is reported. It has failed after 30 s without a packet (Core
    /// Specification 5.4, Vol 3, Part H, 3.4), and of the question, the answer, the encryption and the last key each
    /// may take that long. One that distributes no keys ends without an event.
    static let timeLimit = Duration.seconds(120)
    /// How long a pairing may be silent.
    static let silence = Duration.seconds(30)
    /// How long the keys of one pairing may take: the kernel reports all at once.
    static let burst = Duration.seconds(5)

    /// The keys of pairings whose links are there.
    private var keys: [DeviceAddress: Keys] = [:]
    /// The identities of peers whose links, of this process, began under another address.
    private var identities: [DeviceAddress: DeviceAddress] = [:]
    /// Peers, as the kernel knows them, that are pairing, and when they have failed at the latest.
    private var underWay: [DeviceAddress: Instant] = [:]

    /// The address by which the kernel knows the peer of a link now.
    func identity(of peer: DeviceAddress) -> DeviceAddress { identities[peer] ?? peer }

    /// Whether the peer of a link is pairing.
    func isPairing(_ peer: DeviceAddress, at now: Instant) -> Bool {
        underWay[identity(of: peer)].map { $0 > now } ?? false
    }

    /// When no device is pairing any more, unless more events come; nil when none is pairing.
    func quiet(after now: Instant) -> Instant? { underWay.values.max().flatMap { $0 > now ? $0 : nil } }

    /// The peer of a link begins to pair, or is asked about.
    mutating func begin(_ peer: DeviceAddress, at now: Instant) {
        underWay[identity(of: peer)] = now.advanced(by: Self.timeLimit)
    }

    /// A link of this process to a peer is encrypted: if that was by pairing, its keys follow, or there are none.
    mutating func encrypted(_ peer: DeviceAddress, at now: Instant) {
        let name = identity(of: peer)
        if let limit = underWay[name] { underWay[name] = min(limit, now + Self.silence) }
    }

    /// The kernel is given other keys for a peer, or none.
    mutating func replace(_ peer: DeviceAddress) { keys[peer]?.isReplaced = true }

    /// Whether the keys that the kernel has for a bond's peer are those of the bond, as far as it has reported them on
    /// a link that is there.
    func holds(_ bond: Bond) -> Bool {
        guard let keys = keys[bond.peer], !keys.isReplaced else { return false }
        return keys.central.map { LongTermKey($0) } == bond.centralKey
            && keys.peripheral.map { LongTermKey($0) } == bond.peripheralKey
    }

    /// A link of this process to a peer has ended.
    mutating func forget(_ peer: DeviceAddress) { identities[peer] = nil }

    /// Takes an event of the kernel. For a key that encrypts, returns what its pairing has made up to now, as the
    /// device `local`, whose process has links to these peers.
    mutating func take(
        _ event: ManagementEvent, as local: DeviceAddress, with links: @autoclosure () -> [DeviceAddress],
        at now: Instant
    ) -> Pairing? {
        switch event {
        case .confirmationRequest(let peer, _, _), .passkeyRequest(let peer), .passkeyNotify(let peer, _, _):
            begin(peer, at: now)
            // Of an earlier pairing without a key that encrypts.
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
            // Where that is uncertain, the one that it is not goes on.
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

    /// The address of the link whose peer has the identity `peer`, where the kernel does not report it: `peer` itself,
    /// or an address that cannot be resolved. Nil unless exactly one of these is pairing.
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
        // It protects nothing, and the kernel forgets it with the link.
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

    /// Notes a key. One that is there already is of an earlier pairing on the same link, as all others then
    /// are. Without an identity key they carry the name of the link itself.
    private mutating func set<Key>(
        _ key: Key, in slot: WritableKeyPath<Keys, Key?>, of peer: DeviceAddress, at now: Instant
    ) {
        if let earlier = keys[peer], earlier[keyPath: slot] != nil || earlier.end <= now { keys[peer] = nil }
        keys[peer, default: Keys(link: peer, end: now + Self.burst)][keyPath: slot] = key
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
