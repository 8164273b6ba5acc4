import BLECore
import HCI

/// The peers whose private addresses a controller resolves, and towards which it uses private addresses (Core
/// Specification 5.4, Vol 6, Part B, 4.7 and 6).
struct ResolvingList: Sendable {
    /// A peer and the keys for it.
    struct Entry: Sendable {
        let identity: DeviceAddress
        let peerKey: UInt128
        let localKey: UInt128
        var mode = LESetPrivacyMode.Mode.network
        /// The last private address of the peer, either received from it or generated for it.
        fileprivate(set) var peerAddress: DeviceAddress?
        /// The private address of this controller towards the peer; `target` is the generated address of the
        /// peer.
        fileprivate var own = MadeAddress()
        fileprivate var target = MadeAddress()
        /// Nil if the key is zero, which means that there is no key.
        fileprivate let peerCipher: AES128?
        fileprivate let localCipher: AES128?

        init(_ identity: DeviceAddress, peerKey: UInt128, localKey: UInt128) {
            (self.identity, self.peerKey, self.localKey) = (identity, peerKey, localKey)
            peerCipher = peerKey == 0 ? nil : AES128(key: peerKey)
            localCipher = localKey == 0 ? nil : AES128(key: localKey)
        }
    }

    /// A private address that this controller generates.
    fileprivate struct MadeAddress: Sendable {
        private var address: DeviceAddress?
        private var made = Instant.zero

        /// Returns the address at `now`, which changes after each period of `age`.
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
    /// Whether address resolution is enabled.
    var isEnabled = false
    /// The time after which a generated address changes.
    var timeout = Duration.seconds(900)

    /// Returns the index of a peer's entry.
    func index(of identity: DeviceAddress) -> Int? { entries.firstIndex { $0.identity == identity } }

    mutating func append(_ entry: Entry) { entries.append(entry) }
    mutating func remove(at index: Int) { entries.remove(at: index) }
    mutating func removeAll() { entries.removeAll() }
    mutating func setMode(_ mode: LESetPrivacyMode.Mode, at index: Int) { entries[index].mode = mode }

    /// Returns the peer with an address on air; nil if the peer must use a private address but does not, so
    /// that its packet must be ignored (Vol 6, Part B, 6.2 to 6.4).
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

    /// Returns whether a private address belongs to this controller.
    func isOwn(_ address: DeviceAddress) -> Bool {
        isEnabled && entries.contains { $0.localCipher.map(address.isResolved(by:)) ?? false }
    }

    /// Returns the private address to use towards a peer, if there is a key for it.
    mutating func ownAddress(
        towards peer: DeviceAddress, at now: Instant, _ random: inout SplitMix64
    ) -> DeviceAddress? {
        guard let index = index(of: peer), let key = entries[index].localCipher else { return nil }
        return entries[index].own.current(by: key, upTo: timeout, at: now, &random)
    }

    /// Returns the target address of advertising that is directed at a peer: a private address if there is a
    /// key for it.
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
    /// The identity address, if the address was resolved.
    let identity: DeviceAddress?

    init(onAir: DeviceAddress, identity: DeviceAddress? = nil) {
        (self.onAir, self.identity) = (onAir, identity)
    }

    /// The address with which lists and hosts identify the device.
    var address: DeviceAddress { identity ?? onAir }

    /// The address that events report: the identity if it is known.
    var reported: HCIAddress { identity.map { HCIAddress(identity: $0) } ?? HCIAddress(onAir) }
}

extension HCIAddress {
    /// Creates the address of an identity to which an address was resolved.
    init(identity: DeviceAddress) {
        self.init(identity.value, type: identity.type == .public ? .publicIdentity : .randomIdentity)
    }
}
