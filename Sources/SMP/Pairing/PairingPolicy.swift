/// Whether a host pairs by LE Secure Connections.
public enum SecureConnectionsUse: Hashable, Sendable {
    /// Only LE legacy pairing is used.
    case off
    /// LE Secure Connections is used with peers that support it, and legacy pairing with other peers.
    case preferred
    /// Peers without LE Secure Connections are refused, and so are keys under 16 octets. GAP's Secure
    /// Connections Only mode (Core Specification 5.4, Vol 3, Part C, 10.2.4) also refuses Just Works. This
    /// library leaves that to the permissions of values, so that hosts without input and output can use this
    /// mode.
    case only
}

/// The policy with which a host pairs with one peer.
package struct PairingPolicy: Hashable, Sendable {
    /// The input and output capability of this host. With any value but `.noInputNoOutput`, this host
    /// requests protection against a man in the middle, which is used if the peer's capability allows it.
    package var ioCapability = IOCapability.noInputNoOutput
    /// Whether a person compares the numbers of numeric comparison. If not, that method proves nothing about the
    /// peer, and counts as Just Works does.
    package var comparesNumbers = true
    /// Whether this host bonds. If not, the link is encrypted, but no keys are distributed or stored.
    package var isBonding = true
    /// Whether a pairing without protection against a man in the middle is refused.
    package var requiresMITM = false
    /// Whether this host uses LE Secure Connections.
    package var secureConnections = SecureConnectionsUse.preferred
    /// The minimum encryption key size in octets, 7 to 16; shorter keys are refused.
    package var minimumKeySize = 16
    /// The maximum encryption key size that this host offers in octets, 7 to 16.
    package var maximumKeySize = 16
    /// Whether keypresses are reported while a passkey is entered, if the peer supports this too.
    package var reportsKeypresses = false

    /// Whether the machine requests the peer's out-of-band data from the owner before features are exchanged.
    package var asksForOutOfBandData = false
    /// The out-of-band data that this host already has.
    package var outOfBandData: OutOfBandData?
    /// The offer whose data this host has passed to the peer out of band; its secrets stay on this host.
    package var outOfBandOffer: OutOfBandOffer?

    /// The keys that this host distributes when it bonds.
    package var keysToSend: KeyDistribution = [.encryption, .identity, .signing]
    /// The keys that this host accepts from the peer when it bonds.
    package var keysToTake: KeyDistribution = [.encryption, .identity, .signing]

    /// A passkey to display in place of a random passkey, until a pairing has failed with it.
    package var fixedPasskey: Passkey?
    /// Whether peers may use the debug key, whose private key is public, so that any device can decrypt the link.
    package var takesDebugKey = false
    /// The strength of the bond with this peer, if there is one. A weaker pairing is refused, because it
    /// would replace the bond.
    package var existing: PairingStrength?

    /// Creates the policy of a device without input and output.
    package init() {}

    /// Creates the policy of a device with this input and output capability.
    package init(ioCapability: IOCapability) { self.ioCapability = ioCapability }
}

/// The requirements of a caller for one pairing, in addition to the policy: the levels of GAP's security mode
/// 1 (Vol 3, Part C, 10.2.1).
package struct PairingRequirements: Hashable, Sendable {
    /// Whether protection against a man in the middle is required.
    package var isAuthenticated: Bool
    /// Whether LE Secure Connections with a key of 16 octets is required.
    package var isSecureConnections: Bool

    package init(isAuthenticated: Bool = false, isSecureConnections: Bool = false) {
        self.isAuthenticated = isAuthenticated
        self.isSecureConnections = isSecureConnections
    }

    /// Level 2: any key, authenticated or not.
    package static let encryption = PairingRequirements()
    /// Level 3: a key with protection against a man in the middle.
    package static let authenticated = PairingRequirements(isAuthenticated: true)
    /// Level 4: as level 3, by LE Secure Connections with a key of 16 octets.
    package static let secureConnections = PairingRequirements(
        isAuthenticated: true, isSecureConnections: true)
}

extension PairingPolicy {
    /// Returns the minimum strength of a pairing with these requirements.
    func demand(_ wanted: PairingRequirements) -> PairingStrength {
        let isSecure =
            secureConnections == .only || wanted.isSecureConnections || existing?.isSecureConnections == true
        let fullSize = secureConnections == .only || wanted.isSecureConnections ? 16 : 7
        return PairingStrength(
            isAuthenticated: requiresMITM || wanted.isAuthenticated || existing?.isAuthenticated == true,
            isSecureConnections: isSecure,
            keySize: max(fullSize, minimumKeySize, existing?.keySize ?? 7))
    }

    /// Returns whether there can be a peer with which this host reaches the strength `demand`.
    func canMeet(_ demand: PairingStrength) -> Bool {
        let hasMeans =
            ioCapability != .noInputNoOutput || outOfBandData != nil || outOfBandOffer != nil
            || asksForOutOfBandData
        return (hasMeans || !demand.isAuthenticated)
            && (secureConnections != .off || !demand.isSecureConnections)
            && demand.keySize <= maximumKeySize
    }
}
