/// Whether a host pairs by LE Secure Connections.
public enum SecureConnectionsUse: Hashable, Sendable {
    /// Only LE legacy pairing is used.
    case off
    /// With peers that support it, otherwise legacy pairing.
    case preferred
    /// Peers without LE Secure Connections are refused, and so are keys under 16 octets. GAP's Secure Connections
    /// Only mode (Core Specification 5.4, Vol 3, Part C, 10.2.4) also refuses Just Works; here the permissions of
    /// values decide on that, so that hosts without input and output can use this mode.
    case only
}

/// How a host pairs with one peer.
package struct PairingPolicy: Hashable, Sendable {
    /// How this host talks with its user. Other than `.noInputNoOutput`, a method that keeps third parties
    /// out is asked for wherever the peer can do it too.
    package var ioCapability = IOCapability.noInputNoOutput
    /// Whether keys are kept. If not, only the link is encrypted and no keys are distributed.
    package var isBonding = true
    /// Whether a pairing that a third party could take part in is refused.
    package var requiresMITM = false
    /// Whether it pairs by LE Secure Connections.
    package var secureConnections = SecureConnectionsUse.preferred
    /// Octets under which a key is refused, 7 to 16.
    package var minimumKeySize = 16
    /// Octets of the longest key that is offered, 7 to 16.
    package var maximumKeySize = 16
    /// Whether key presses are reported while a passkey is typed, if the peer does so too.
    package var reportsKeypresses = false

    /// Whether the owner is asked for the peer's out-of-band data before features are exchanged.
    package var asksForOutOfBandData = false
    /// The out-of-band data that is there already.
    package var outOfBandData: OutOfBandData?
    /// What this host has given the peer out of band.
    package var outOfBandOffer: OutOfBandOffer?

    /// Keys that this host distributes when it bonds.
    package var keysToSend: KeyDistribution = [.encryption, .identity, .signing]
    /// The keys that this host accepts from the peer when it bonds.
    package var keysToTake: KeyDistribution = [.encryption, .identity, .signing]

    /// A passkey to show in place of a random one, until a pairing has failed with it.
    package var fixedPasskey: Passkey?
    /// Whether peers may use the debug key, whose private key is public, so that any device can decrypt the link.
    package var takesDebugKey = false
    /// What the bond with this peer is worth, if there is one. A weaker pairing would take that away and is
    /// refused.
    package var existing: PairingStrength?

    /// The policy of a device without input and output.
    package init() {}

    /// The policy of a device that talks with its user so.
    package init(ioCapability: IOCapability) { self.ioCapability = ioCapability }
}

/// What a caller requires of one pairing, beyond the policy: the levels of GAP's security mode 1 (Vol 3, Part C,
/// 10.2.1).
package struct PairingRequirements: Hashable, Sendable {
    /// Whether third parties are kept out.
    package var isAuthenticated: Bool
    /// Whether it is LE Secure Connections, with a key of 16 octets.
    package var isSecureConnections: Bool

    package init(isAuthenticated: Bool = false, isSecureConnections: Bool = false) {
        self.isAuthenticated = isAuthenticated
        self.isSecureConnections = isSecureConnections
    }

    /// Level 2: any key, authenticated or not.
    package static let encryption = PairingRequirements()
    /// Level 3: third parties are kept out.
    package static let authenticated = PairingRequirements(isAuthenticated: true)
    /// Level 4: as level 3, by LE Secure Connections with a key of 16 octets.
    package static let secureConnections = PairingRequirements(
        isAuthenticated: true, isSecureConnections: true)
}

extension PairingPolicy {
    /// The least that a pairing may come to.
    func demand(_ wanted: PairingRequirements) -> PairingStrength {
        let isSecure =
            secureConnections == .only || wanted.isSecureConnections || existing?.isSecureConnections == true
        let fullSize = secureConnections == .only || wanted.isSecureConnections ? 16 : 7
        return PairingStrength(
            isAuthenticated: requiresMITM || wanted.isAuthenticated || existing?.isAuthenticated == true,
            isSecureConnections: isSecure,
            keySize: max(fullSize, minimumKeySize, existing?.keySize ?? 7))
    }

    /// Whether any peer could meet a demand.
    func canMeet(_ demand: PairingStrength) -> Bool {
        let hasMeans =
            ioCapability != .noInputNoOutput || outOfBandData != nil || outOfBandOffer != nil
            || asksForOutOfBandData
        return (hasMeans || !demand.isAuthenticated)
            && (secureConnections != .off || !demand.isSecureConnections)
            && demand.keySize <= maximumKeySize
    }
}
