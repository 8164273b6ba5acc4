/// A pairing before both ends know each other's features (Core Specification 5.4, Vol 3, Part H, 2.3.1).
struct Negotiation: Sendable {
    enum Step: Sendable {
        /// The owner is asked for out-of-band data.
        case outOfBand
        /// The owner is asked whether the peer may pair.
        case acceptance
        /// Pairing Request is sent, and Pairing Response is due.
        case response
    }

    var step: Step
    /// As it was when the pairing began: what the owner changes holds for the next one.
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
    /// What this host sends as initiator.
    func initiatorFeatures() -> PairingFeatures {
        features(
            isBonding: policy.isBonding, isSecure: offersSecureConnections, oobData: outOfBandData != nil,
            initiatorKeys: policy.keysToSend, responderKeys: policy.keysToTake)
    }

    /// What this host answers to a request.
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

    /// A temporary key serves only legacy pairing, so who has one and no more must not agree to the other.
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
        // The link key would be one of the other transport.
        let known: KeyDistribution = isBonding ? [.encryption, .identity, .signing] : []
        return PairingFeatures(
            ioCapability: policy.ioCapability, oobData: oobData ? .present : .notPresent,
            authentication: authentication, maximumKeySize: UInt8(clamping: policy.maximumKeySize),
            initiatorKeys: initiatorKeys.intersection(known), responderKeys: responderKeys.intersection(known)
        )
    }
}

extension OutOfBandData {
    /// Whether it is of use for that kind of pairing.
    fileprivate func serves(secureConnections: Bool) -> Bool {
        switch self {
        case .temporaryKey: !secureConnections
        case .secureConnections: secureConnections
        }
    }
}
