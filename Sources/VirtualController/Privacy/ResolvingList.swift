import BLECore
import HCI

/// The peers whose private addresses a controller resolves, and for whom it makes own ones (Core
/// Specification 5.4, Vol 6, Part B, 4.7 and 6).
struct ResolvingList: Sendable {
    /// A peer, and the keys that go with it.
    struct Entry: Sendable {
        let identity: DeviceAddress
        let peerKey: UInt128
        let localKey: UInt128
        var mode = LESetPrivacyMode.Mode.network
        /// The private address that the peer was seen with last, or was called by.
        fileprivate(set) var peerAddress: DeviceAddress?
        /// What this controller calls itself towards the peer, and what it calls the peer.
        fileprivate var own = MadeAddress()
        fileprivate var target = MadeAddress()
        /// Nil for keys of zeros, which are none.
        fileprivate let peerCipher: AES128?
        fileprivate let localCipher: AES128?

        init(_ identity: DeviceAddress, peerKey: UInt128, localKey: UInt128) {
            (self.identity, self.peerKey, self.localKey) = (identity, peerKey, localKey)
            peerCipher = peerKey == 0 ? nil : AES128(key: peerKey)
            localCipher = localKey == 0 ? nil : AES128(key: localKey)
        }
    }

    /// A private address of this controller's making.
    fileprivate struct MadeAddress: Sendable {
        private var address: DeviceAddress?
        private var made = Instant.zero

        /// The address at `now`: another one after each `age`.
        mutating func current(
            by key: AES128, upTo age: Duration, at now: Instant, _ random: inout SplitMix64
        ) -> DeviceAddress {
            if let address, now < made + age { return address }
            let fresh = DeviceAddress.resolvable(.random(in: .min ... .max, using: &random), key: key)
            let periods = address == nil ? 0 : made.duration(until: now).nanoseconds / age.nanoseconds
            made = address == nil ? now : made + age * Int(periods)
            address = fresh
            return fresh
        }
    }

    private(set) var entries: [Entry] = []
    /// Whether the addresses of peers are resolved.
    var isEnabled = false
    /// How long an address is used.
    var timeout = Duration.seconds(900)

    /// Returns the index of a peer's entry.
    func index(of identity: DeviceAddress) -> Int? { entries.firstIndex { $0.identity == identity } }

    mutating func append(_ entry: Entry) { entries.append(entry) }
    mutating func remove(at index: Int) { entries.remove(at: index) }
    mutating func removeAll() { entries.removeAll() }
    mutating func setMode(_ mode: LESetPrivacyMode.Mode, at index: Int) { entries[index].mode = mode }

    /// The peer behind an address that was on air; nil for one that must use a private address and does
    /// not, which is to be ignored (Vol 6, Part B, 6.2 to 6.4).
    mutating func recognize(_ address: DeviceAddress) -> AirPeer? {
        guard isEnabled else { return AirPeer(onAir: address) }
        if address.kind == .resolvable {
            let index =
                entries.firstIndex { $0.peerAddress == address }
                ?? entries.firstIndex { $0.peerCipher.map(address.isResolved(by:)) ?? false }
            guard let index else { return AirPeer(onAir: address) }
            entries[index].peerAddress = address
            return AirPeer(onAir: address, identity: entries[index].identity)
        }
        guard let index = index(of: address) else { return AirPeer(onAir: address) }
        let isBare = entries[index].peerCipher != nil && entries[index].mode == .network
        return isBare ? nil : AirPeer(onAir: address)
    }

    /// Whether a private address is one of this controller's.
    func isOwn(_ address: DeviceAddress) -> Bool {
        isEnabled && entries.contains { $0.localCipher.map(address.isResolved(by:)) ?? false }
    }

    /// The private address to use towards a peer, if there is a key for it.
    mutating func ownAddress(
        towards peer: DeviceAddress, at now: Instant, _ random: inout SplitMix64
    ) -> DeviceAddress? {
        guard let index = index(of: peer), let key = entries[index].localCipher else { return nil }
        return entries[index].own.current(by: key, upTo: timeout, at: now, &random)
    }

    /// What to call a peer at whom advertising is directed: a private address when there is a key for it.
    mutating func target(
        _ peer: DeviceAddress, at now: Instant, _ random: inout SplitMix64
    ) -> DeviceAddress {
        guard let index = index(of: peer), let key = entries[index].peerCipher else { return peer }
        let address = entries[index].target.current(by: key, upTo: timeout, at: now, &random)
        entries[index].peerAddress = address
        return address
    }
}

/// A device on air, and its identity.
struct AirPeer: Sendable {
    /// The address in the packet.
    let onAir: DeviceAddress
    /// Who it belongs to, if it was resolved.
    let identity: DeviceAddress?

    init(onAir: DeviceAddress, identity: DeviceAddress? = nil) {
        (self.onAir, self.identity) = (onAir, identity)
    }

    /// What lists and hosts know it by.
    var address: DeviceAddress { identity ?? onAir }

    /// The address that events report: the identity if it is known.
    var reported: HCIAddress { identity.map { HCIAddress(identity: $0) } ?? HCIAddress(onAir) }
}

extension HCIAddress {
    /// An identity that an address was resolved to.
    init(identity: DeviceAddress) {
        self.init(identity.value, type: identity.type == .public ? .publicIdentity : .randomIdentity)
    }
}
