import BLECore

/// Pairing Confirm and Pairing Random: who is to show a random number has committed to it before (Core
/// Specification 5.4, Vol 3, Part H, 2.3.5.5, 2.3.5.6.2 and 2.3.5.6.3).
extension SecurityManager {
    /// The confirm value that one end has to send for a random number; nil while the user types.
    private func commitment(to value: UInt128, by maker: LinkRole) -> UInt128? {
        guard let toolbox, let pairing else { return nil }
        guard pairing.isSecureConnections else {
            return pairing.temporaryKey.map {
                toolbox.c1(
                    $0, value, request: pairing.request, response: pairing.response,
                    initiator: role == .central ? own : peer, responder: role == .central ? peer : own)
            }
        }
        guard let exchange = pairing.exchange, let bit = pairing.committedBit else { return nil }
        let (ours, theirs) = (exchange.own.publicKey.x, exchange.peer.x)
        return maker == role ? toolbox.f4(ours, theirs, value, bit) : toolbox.f4(theirs, ours, value, bit)
    }

    /// Sends Pairing Confirm, when the turn has come and the passkey is known. The initiator begins, but
    /// where only the responder commits.
    mutating func commit(at now: Instant) {
        guard let pairing, !pairing.waitsForPasskey,
            role == .central
                ? pairing.step == .passkey : pairing.peerConfirm != nil || pairing.onlyResponderCommits
        else { return }
        // Meanwhile other links' pairings may have failed with it.
        if let passkey = pairing.passkey, isSpent(passkey) { return fail(.passkeyEntryFailed, at: now) }
        let value = random.number()
        guard let confirm = commitment(to: value, by: role) else { return }
        self.pairing?.ownRandom = value
        self.pairing?.ownConfirm = confirm
        self.pairing?.proceed(initiator: .confirm, responder: .random)
        send(.pairingConfirm(confirm), at: now)
    }

    mutating func receiveConfirm(_ value: UInt128, at now: Instant) {
        guard let pairing, pairing.peerConfirm == nil else {
            fail(.unspecifiedReason, at: now)
            return
        }
        // In legacy pairing both ends commit alike, so a value that comes back proves nothing.
        guard value != pairing.ownConfirm else {
            fail(.confirmValueFailed, at: now)
            return
        }
        self.pairing?.peerConfirm = value
        guard role == .central else {
            commit(at: now)
            return
        }
        self.pairing?.step = .random
        if pairing.onlyResponderCommits {
            sendNewRandom(at: now)
        } else {
            send(.pairingRandom(pairing.ownRandom), at: now)
        }
    }

    /// Sends a random number for which no confirm value was sent.
    mutating func sendNewRandom(at now: Instant) {
        let value = random.number()
        pairing?.ownRandom = value
        send(.pairingRandom(value), at: now)
    }

    mutating func receiveRandom(_ value: UInt128, at now: Instant) {
        guard let toolbox, let pairing else { return }
        guard !pairing.isCommitted(role.other) || commitment(to: value, by: role.other) == pairing.peerConfirm
        else {
            fail(.confirmValueFailed, at: now)
            return
        }
        if role == .peripheral {
            if pairing.isCommitted(role) {
                send(.pairingRandom(pairing.ownRandom), at: now)
            } else {
                sendNewRandom(at: now)
            }
        }
        if !pairing.isSecureConnections {
            finishLegacy(peerRandom: value, toolbox)
        } else if pairing.hasMoreBits {
            self.pairing?.round += 1
            self.pairing?.peerConfirm = nil
            self.pairing?.proceed(initiator: .passkey, responder: .confirm)
            if role == .central { commit(at: now) }
        } else {
            finishAuthentication(peerRandom: value, at: now)
        }
    }
}

extension Pairing {
    /// LE Secure Connections without a passkey: the responder's commitment alone keeps the initiator's number
    /// from being chosen.
    var onlyResponderCommits: Bool {
        isSecureConnections && (method == .justWorks || method == .numericComparison)
    }

    /// Whether an end's random number was preceded by its confirm value.
    fileprivate func isCommitted(_ role: LinkRole) -> Bool {
        if isSecureConnections, method == .outOfBand { return false }
        return role == .peripheral || !onlyResponderCommits
    }

    /// What else is committed to with LE Secure Connections: the bit of the passkey in this round, or
    /// nothing. Nil while the user types.
    fileprivate var committedBit: UInt8? {
        guard hasPasskey else { return 0 }
        return passkey.map { 0x80 | UInt8(truncatingIfNeeded: $0.value >> UInt32(round) & 1) }
    }

    /// Whether further bits of the passkey are to be proved after this one: six digits are below 2^20.
    fileprivate var hasMoreBits: Bool { hasPasskey && round + 1 < 20 }

    /// Whether the user still types.
    fileprivate var waitsForPasskey: Bool { hasPasskey && passkey == nil }

    private var hasPasskey: Bool { method.isEntered(by: .central) || method.isEntered(by: .peripheral) }
}
