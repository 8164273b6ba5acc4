/// The state of a pairing until both devices have exchanged their features (Core Specification 5.4, Vol 3,
/// Part H, 2.3.1).
struct Negotiation: Sendable {
    enum Step: Sendable {
        /// Waits for the owner to provide out-of-band data.
        case outOfBand
        /// Waits for the owner to accept or refuse the pairing.
        case acceptance
        /// Waits for Pairing Response, after Pairing Request was sent.
        case response
    }

    var step: Step
    /// The policy at the time when the pairing began. Later changes by the owner apply to the next pairing.
    let policy: PairingPolicy
    let demand: PairingStrength
    /// The initiator's features, sent or received.
    var request: PairingFeatures?
    var outOfBandData: OutOfBandData?

    init(_ step: Step, _ policy: PairingPolicy, _ demand: PairingStrength) {
        self.step = step
        self.policy = policy
        self.demand = demand
        outOfBandData = policy.outOfBandData ?? policy.outOfBandOffer?.shared
    }
}

extension Negotiation {
    /// Returns the features that this host sends as initiator.
    func initiatorFeatures() -> PairingFeatures {
        features(
            isBonding: policy.isBonding, isSecure: offersSecureConnections, oobData: outOfBandData != nil,
            initiatorKeys: policy.keysToSend, responderKeys: policy.keysToTake)
    }

    /// Returns the features that this host sends as responder to a request.
    func responderFeatures(to request: PairingFeatures) -> PairingFeatures {
        let isSecure = offersSecureConnections && request.authentication.contains(.secureConnections)
        var allowed: KeyDistribution = [.encryption, .identity, .signing]
        if isSecure { allowed.remove(.encryption) }
        return features(
            isBonding: policy.isBonding && request.authentication.contains(.bonding), isSecure: isSecure,
            oobData: outOfBandData?.serves(secureConnections: isSecure) ?? false,
            initiatorKeys: request.initiatorKeys.intersection(policy.keysToTake).intersection(allowed),
            responderKeys: request.responderKeys.intersection(policy.keysToSend).intersection(allowed))
    }

    /// Whether this host offers LE Secure Connections. A temporary key can be used only in legacy pairing, so
    /// a host that has only a temporary key does not offer LE Secure Connections, except with `.only`.
    private var offersSecureConnections: Bool {
        if policy.secureConnections == .preferred, case .temporaryKey = outOfBandData { return false }
        return policy.secureConnections != .off
    }

    private func features(
        isBonding: Bool, isSecure: Bool, oobData: Bool, initiatorKeys: KeyDistribution,
        responderKeys: KeyDistribution
    ) -> PairingFeatures {
        var authentication: AuthenticationRequirements = []
        if isBonding { authentication.insert(.bonding) }
        if isSecure { authentication.insert(.secureConnections) }
        if demand.isAuthenticated || policy.ioCapability != .noInputNoOutput { authentication.insert(.mitm) }
        if policy.reportsKeypresses { authentication.insert(.keypress) }
        // The link key is excluded, because it belongs to the other transport, BR/EDR.
        let known: KeyDistribution = isBonding ? [.encryption, .identity, .signing] : []
        return PairingFeatures(
            ioCapability: policy.ioCapability, oobData: oobData ? .present : .notPresent,
            authentication: authentication, maximumKeySize: UInt8(clamping: policy.maximumKeySize),
            initiatorKeys: initiatorKeys.intersection(known), responderKeys: responderKeys.intersection(known)
        )
    }
}

extension OutOfBandData {
    /// Returns whether the data can be used for LE Secure Connections or, if the argument is false, for
    /// legacy pairing.
    fileprivate func serves(secureConnections: Bool) -> Bool {
        switch self {
        case .temporaryKey: !secureConnections
        case .secureConnections: secureConnections
        }
    }
}
