import BLECore

/// What a pairing leaves behind on this host (Core Specification 5.4, Vol 3, Part H, 2.4.3 and Part C, 9.4).
public struct Bond: Hashable, Sendable {
    /// The peer's identity: its public or static address.
    public var peer: DeviceAddress
    /// The identity that this host had.
    public var local: DeviceAddress
    /// The strength of the pairing that made the bond.
    public var strength: PairingStrength

    /// The key with which this host encrypts as central: the one that the peer has distributed, or the one of LE
    /// Secure Connections.
    package var centralKey: LongTermKey?
    /// The key for which this host is asked as peripheral: the one that it has distributed, or the one of LE
    /// Secure Connections.
    package var peripheralKey: LongTermKey?
    /// The identity resolving key with which the peer makes its resolvable addresses.
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

/// What this host distributes of itself when it pairs: the same to every peer (2.4.2.1).
package struct LocalIdentity: Hashable, Sendable {
    /// The public or static address that stands for this host.
    package var address: DeviceAddress
    /// What its resolvable addresses are made with.
    package var identityKey: UInt128

    package init(address: DeviceAddress, identityKey: UInt128) {
        self.address = address
        self.identityKey = identityKey
    }
}
