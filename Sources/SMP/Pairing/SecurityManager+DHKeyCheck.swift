import BLECore

/// The end of phase 2 of LE Secure Connections: each proves that it has the same Diffie-Hellman key and has
/// seen the same features (Core Specification 5.4, Vol 3, Part H, 2.3.5.6.5).
extension SecurityManager {
    /// Both random numbers are known. The keys are made, and the users compare what they see if that is the
    /// method.
    mutating func finishAuthentication(peerRandom: UInt128, at now: Instant) {
        guard let toolbox, let pairing, let exchange = pairing.exchange else { return }
        let isInitiator = role == .central
        let (initiator, responder) =
            isInitiator ? (pairing.ownRandom, peerRandom) : (peerRandom, pairing.ownRandom)
        let keys = toolbox.f5(
            exchange.dhKey, initiator, responder, isInitiator ? own : peer, isInitiator ? peer : own)
        self.pairing?.key = keys.longTermKey
        self.pairing?.check = DHKeyCheck(
            macKey: keys.macKey, ownRandom: pairing.ownRandom, peerRandom: peerRandom)
        guard pairing.method == .numericComparison else {
            exchangeChecks(at: now)
            return
        }
        self.pairing?.step = .comparison
        let (first, second) =
            isInitiator
            ? (exchange.own.publicKey.x, exchange.peer.x) : (exchange.peer.x, exchange.own.publicKey.x)
        events.append(.compare(Passkey(lowestDigitsOf: toolbox.g2(first, second, initiator, responder))))
    }

    /// The initiator's check goes first.
    mutating func exchangeChecks(at now: Instant) {
        guard let toolbox, let pairing else { return }
        self.pairing?.step = .dhKeyCheck
        if role == .central {
            send(.pairingDHKeyCheck(ownCheck(pairing, toolbox)), at: now)
        } else if let early = pairing.check.early {
            receiveCheck(early, at: now)
        }
    }

    mutating func receiveCheck(_ value: UInt128, at now: Instant) {
        switch pairing?.step {
        case .comparison where role == .peripheral && pairing?.check.early == nil:
            // The initiator's user was faster.
            pairing?.check.early = value
            return
        case .dhKeyCheck: break
        default:
            refuse(.pairingDHKeyCheck, .unspecifiedReason, at: now)
            return
        }
        guard let toolbox, let pairing, value == peerCheck(pairing, toolbox) else {
            fail(.dhKeyCheckFailed, at: now)
            return
        }
        if role == .peripheral { send(.pairingDHKeyCheck(ownCheck(pairing, toolbox)), at: now) }
        encrypt(with: pairing.key)
    }

    private func ownCheck(_ pairing: Pairing, _ toolbox: any SecurityToolbox) -> UInt128 {
        let check = pairing.check
        return toolbox.f6(
            check.macKey, check.ownRandom, check.peerRandom, pairing.peerNumber, pairing.ownFeatures, own,
            peer)
    }

    private func peerCheck(_ pairing: Pairing, _ toolbox: any SecurityToolbox) -> UInt128 {
        let check = pairing.check
        return toolbox.f6(
            check.macKey, check.peerRandom, check.ownRandom, pairing.ownNumber, pairing.peerFeatures, peer,
            own)
    }
}

extension Pairing {
    /// The number that this host shares with the peer apart from Diffie-Hellman, and that the peer must prove
    /// to know: the passkey, or what this host has given out of band if the peer has it.
    fileprivate var ownNumber: UInt128 {
        guard method == .outOfBand else { return UInt128(passkey?.value ?? 0) }
        return peerFeatures.oobData == .present ? policy.outOfBandOffer?.random ?? 0 : 0
    }

    /// The same of the peer's.
    fileprivate var peerNumber: UInt128 {
        guard method == .outOfBand else { return UInt128(passkey?.value ?? 0) }
        return if case .secureConnections(_, let value) = outOfBandData { value } else { 0 }
    }
}
