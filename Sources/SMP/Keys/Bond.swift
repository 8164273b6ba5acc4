import BLECore

/// The keys and identities that this host stores after a pairing (Core Specification 5.4, Vol 3, Part H,
/// 2.4.3 and Part C, 9.4).
public struct Bond: Hashable, Sendable {
    /// The peer's identity: its public or static address.
    public var peer: DeviceAddress
    /// Whether the peer has only claimed its identity: it paired behind a private address, made with a key that it
    /// sent together with the identity address. Another device can have that address.
    package var isIdentityClaimed = false
    /// The identity address that this host used in the pairing.
    public var local: DeviceAddress
    /// The strength of the pairing that made the bond.
    public var strength: PairingStrength

    /// The key with which this host encrypts as central: the key that the peer distributed, or the long term
    /// key of LE Secure Connections.
    package var centralKey: LongTermKey?
    /// The key that the controller requests from this host as peripheral: the key that this host distributed,
    /// or the long term key of LE Secure Connections.
    package var peripheralKey: LongTermKey?
    /// The identity resolving key with which the peer generates its resolvable private addresses.
    package var peerIdentityKey: UInt128?
    /// The signing key (CSRK) with which the peer signs its writes.
    package var peerSigningKey: UInt128?
    /// The signing key (CSRK) with which this host signs its writes to the peer.
    package var localSigningKey: UInt128?

    package init(with peer: DeviceAddress, as local: DeviceAddress, _ strength: PairingStrength) {
        self.peer = peer
        self.local = local
        self.strength = strength
    }
}

/// The identity that this host distributes when it pairs; it is the same for every peer (2.4.2.1).
package struct LocalIdentity: Hashable, Sendable {
    /// The public or static random address that identifies this host.
    package var address: DeviceAddress
    /// The identity resolving key with which this host generates its resolvable private addresses.
    package var identityKey: UInt128

    package init(address: DeviceAddress, identityKey: UInt128) {
        self.address = address
        self.identityKey = identityKey
    }
}
