import BLECore

/// Phase 2 of LE Secure Connections up to the two random numbers (Core Specification 5.4, Vol 3, Part H,
/// 2.3.5.6.1 to 2.3.5.6.4).
extension SecurityManager {
    /// The initiator sends its public key; the responder waits for it.
    mutating func startPublicKeys(at now: Instant) {
        pairing?.step = .publicKey
        if role == .central { sendPublicKey(at: now) }
    }

    /// A new key for each pairing, except the one that the peer knows out of band.
    private mutating func sendPublicKey(at now: Instant) {
        guard let toolbox, let pairing else { return }
        let offered = pairing.method == .outOfBand ? pairing.policy.outOfBandOffer?.keyPair : nil
        guard let pair = offered ?? toolbox.keyPair(using: &random) else {
            fail(.unspecifiedReason, at: now)
            return
        }
        self.pairing?.keyPair = pair
        send(.pairingPublicKey(pair.publicKey), at: now)
    }

    mutating func receivePublicKey(_ key: PairingPublicKey, at now: Instant) {
        if role == .peripheral { sendPublicKey(at: now) }
        guard let toolbox, let pairing, let pair = pairing.keyPair else { return }
        // One's own key sent back would make all the peer's values those of this host. The sign of Y does not
        // matter.
        guard key.x != pair.publicKey.x, let dhKey = toolbox.sharedSecret(of: pair, with: key) else {
            fail(.dhKeyCheckFailed, at: now)
            return
        }
        guard key.x != PairingPublicKey.debug.x || pairing.policy.takesDebugKey else {
            fail(.authenticationRequirements, at: now)
            return
        }
        self.pairing?.exchange = KeyExchange(own: pair, peer: key, dhKey: dhKey)
        switch pairing.method {
        case .justWorks, .numericComparison:
            // The responder commits before it learns the initiator's random number (2.3.5.6.2).
            if role == .peripheral { commit(at: now) } else { self.pairing?.step = .confirm }
        case .passkeyShown, .passkeyEnteredByBoth:
            self.pairing?.proceed(initiator: .passkey, responder: .confirm)
            prompt()
            if role == .central { commit(at: now) }
        case .outOfBand: checkOutOfBand(key, toolbox, at: now)
        }
    }

    /// The peer's public key is the one that came the other way (2.3.5.6.4).
    private mutating func checkOutOfBand(
        _ key: PairingPublicKey, _ toolbox: any SecurityToolbox, at now: Instant
    ) {
        if case .secureConnections(let confirm, let value) = pairing?.outOfBandData,
            toolbox.f4(key.x, key.x, value, 0) != confirm
        {
            fail(.confirmValueFailed, at: now)
            return
        }
        pairing?.step = .random
        if role == .central { sendNewRandom(at: now) }
    }
}
