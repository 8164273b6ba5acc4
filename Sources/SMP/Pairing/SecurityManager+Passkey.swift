import BLECore

/// The user's part in passkey entry, of both kinds of pairing (Core Specification 5.4, Vol 3, Part H, 2.3.5.3
/// and 2.3.5.6.3).
extension SecurityManager {
    /// Asks for the passkey, or makes one and shows it.
    mutating func prompt() {
        guard let pairing else { return }
        if pairing.method.isEntered(by: role) {
            events.append(.enterPasskey)
        } else if pairing.method == .passkeyShown(by: role) {
            let fixed = pairing.policy.fixedPasskey.flatMap {
                hasFailedWithFixedPasskey || isSpent($0) ? nil : $0
            }
            let passkey = fixed ?? .random(using: &random)
            self.pairing?.passkey = passkey
            events.append(.display(passkey))
        }
    }

    mutating func enter(_ passkey: Passkey, at now: Instant) {
        guard let pairing, pairing.passkey == nil, pairing.method.isEntered(by: role),
            pairing.step == .passkey || pairing.step == .confirm
        else { return }
        guard !isSpent(passkey) else { return fail(.passkeyEntryFailed, at: now) }
        self.pairing?.passkey = passkey
        commit(at: now)
    }

    /// The pairing that is under way ends without success, also by the end of its link. That counts for its passkey if the peer
    /// could learn something of it: from the peer's commitment on, what is sent next depends on its bits.
    package mutating func countPasskeyFailure() {
        guard let pairing, let passkey = pairing.passkey, pairing.round > 0 || pairing.peerConfirm != nil
        else { return }
        let isFixed = passkey == pairing.policy.fixedPasskey && !pairing.method.isEntered(by: role)
        if isFixed { hasFailedWithFixedPasskey = true }
        if isFixed || pairing.method.isEntered(by: role) { passkeyFailures[passkey, default: 0] += 1 }
    }

    /// Whether a passkey is used no more.
    func isSpent(_ passkey: Passkey) -> Bool {
        passkeyFailures[passkey, default: 0] >= Self.passkeyFailureLimit
    }

    /// The peer reports key presses as long as its user types: before its first confirm value.
    mutating func receiveKeypress(_ key: KeypressNotification, at now: Instant) {
        guard let pairing, pairing.reportsKeypresses(of: role.other), pairing.round == 0,
            pairing.peerConfirm == nil,
            pairing.step == .passkey || pairing.step == .confirm
        else {
            refuse(.pairingKeypressNotification, .unspecifiedReason, at: now)
            return
        }
        events.append(.keypress(key))
    }
}
