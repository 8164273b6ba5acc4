import BLECore

/// Phase 1: features (Core Specification 5.4, Vol 3, Part H, 2.3.1 to 2.3.4).
extension SecurityManager {
    mutating func receive(_ command: SMPCommand, at now: Instant) {
        switch command {
        case .pairingFailed(let reason):
            // A peripheral's Security Request is answered so as well (2.4.6).
            guard isPairing || role == .peripheral && securityRequest != nil else { return }
            outbox.removeAll()
            end(.peer(reason))
        case .pairingRequest(let request) where role == .peripheral && !isPairing:
            receiveRequest(request, at: now)
        case .pairingResponse(let response) where negotiation?.step == .response:
            receiveResponse(response, at: now)
        case .securityRequest(let requirements) where role == .central:
            // While a pairing is under way it is moot (2.4.6).
            guard !isPairing else { return }
            securityRequest = .encryption
            events.append(.securityRequested(requirements))
        case .pairingRequest where role == .central, .securityRequest where role == .peripheral,
            .pairingResponse where role == .peripheral:
            refuse(command.code, .commandNotSupported, at: now)
        case .pairingPublicKey(let key) where pairing?.step == .publicKey: receivePublicKey(key, at: now)
        case .pairingConfirm(let value) where pairing?.step == .confirm: receiveConfirm(value, at: now)
        case .pairingRandom(let value) where pairing?.step == .random: receiveRandom(value, at: now)
        case .pairingDHKeyCheck(let value): receiveCheck(value, at: now)
        case .pairingKeypressNotification(let key): receiveKeypress(key, at: now)
        case .encryptionInformation, .centralIdentification, .identityInformation,
            .identityAddressInformation,
            .signingInformation:
            receiveKey(command, at: now)
        default: refuse(command.code, .unspecifiedReason, at: now)
        }
    }

    /// A packet that does not belong here ends a pairing; without one it is answered, so that the peer
    /// does not wait in vain.
    mutating func refuse(_ code: SMPCode, _ reason: PairingFailureReason, at now: Instant) {
        if isPairing { fail(reason, at: now) } else { refusal.refuse(code, reason) }
    }

    mutating func receiveMalformed(_ code: SMPCode, at now: Instant) {
        guard code != .pairingFailed else {
            receive(.pairingFailed(.unspecifiedReason), at: now)
            return
        }
        refuse(code, .invalidParameters, at: now)
    }

    private mutating func receiveRequest(_ request: PairingFeatures, at now: Instant) {
        let wanted = securityRequest ?? .encryption
        let demand = policy.demand(wanted)
        let negotiation = Negotiation(.acceptance, policy, demand)
        if attempts.wait(at: now) != nil {
            refusal.refuse(.pairingRequest, .repeatedAttempts)
            return
        }
        if let reason = Self.problem(of: request) {
            fail(reason, at: now)
            return
        }
        securityRequest = nil
        self.negotiation = negotiation
        self.negotiation?.request = request
        timer = now + .seconds(30)
        // With out-of-band data still to come, the answer to the request is not known yet.
        if !policy.asksForOutOfBandData || negotiation.outOfBandData != nil,
            let reason = refusalOfFeatures(request, negotiation.responderFeatures(to: request), negotiation)
        {
            fail(reason, at: now)
            return
        }
        attempts.begin(at: now)
        events.append(.pairingRequested(request))
    }

    private mutating func receiveResponse(_ response: PairingFeatures, at now: Instant) {
        guard let negotiation, let request = negotiation.request else { return }
        if let reason = Self.problem(of: response) ?? refusalOfFeatures(request, response, negotiation) {
            fail(reason, at: now)
            return
        }
        attempts.begin(at: now)
        agree(request, response, negotiation, at: now)
    }

    /// Values that no device may send.
    private static func problem(of features: PairingFeatures) -> PairingFailureReason? {
        guard features.ioCapability.rawValue <= IOCapability.keyboardDisplay.rawValue,
            features.oobData.rawValue <= OOBData.present.rawValue, features.maximumKeySize <= 16
        else { return .invalidParameters }
        return features.maximumKeySize < 7 ? .encryptionKeySize : nil
    }

    /// Why what both ends want does not do; nil when it does.
    func refusalOfFeatures(
        _ request: PairingFeatures, _ response: PairingFeatures, _ negotiation: Negotiation
    ) -> PairingFailureReason? {
        let pairing = Pairing(of: peer, with: identity.address, as: role, negotiation, request, response)
        let strength = pairing.bond.strength
        if strength.keySize < negotiation.demand.keySize { return .encryptionKeySize }
        if strength.isWeaker(than: negotiation.demand) { return .authenticationRequirements }
        guard pairing.method == .outOfBand else { return nil }
        // Each end says what it has of the other: who has given nothing cannot prove it.
        if pairing.peerFeatures.oobData == .present, pairing.isSecureConnections,
            negotiation.policy.outOfBandOffer?.keyPair == nil
        {
            return .oobNotAvailable
        }
        switch (pairing.outOfBandData, pairing.isSecureConnections) {
        case (.temporaryKey, false), (.secureConnections, true): return nil
        case (_, true) where pairing.ownFeatures.oobData == .notPresent: return nil
        default: return .oobNotAvailable
        }
    }

    /// Both ends know each other.
    mutating func agree(
        _ request: PairingFeatures, _ response: PairingFeatures, _ negotiation: Negotiation, at now: Instant
    ) {
        let pairing = Pairing(of: peer, with: identity.address, as: role, negotiation, request, response)
        self.negotiation = nil
        self.pairing = pairing
        if role == .central, pairing.method == .justWorks {
            self.pairing?.step = .consent
            events.append(.confirm)
        } else {
            startAuthentication(at: now)
        }
    }

    mutating func startAuthentication(at now: Instant) {
        guard let pairing else { return }
        if pairing.isSecureConnections { startPublicKeys(at: now) } else { startLegacy(at: now) }
    }
}
