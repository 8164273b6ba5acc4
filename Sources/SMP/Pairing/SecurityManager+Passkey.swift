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
            let fixed = isPasskeySpent ? nil : pairing.policy.fixedPasskey
            let passkey = fixed ?? .random(using: &random)
            self.pairing?.passkey = passkey
            events.append(.display(passkey))
        }
    }

    mutating func enter(_ passkey: Passkey, at now: Instant) {
        guard let pairing, pairing.passkey == nil, pairing.method.isEntered(by: role),
            pairing.step == .passkey || pairing.step == .confirm
        else { return }
        self.pairing?.passkey = passkey
        commit(at: now)
    }

    /// The peer tells of key presses as long as its user types: before its first confirm value.
    mutating func receiveKeypress(_ key: KeypressNotification, at now: Instant) {
        guard let pairing, pairing.tellsKeypresses(of: role.other), pairing.round == 0,
            pairing.peerConfirm == nil,
            pairing.step == .passkey || pairing.step == .confirm
        else {
            refuse(.pairingKeypressNotification, .unspecifiedReason, at: now)
            return
        }
        events.append(.keypress(key))
    }
}
