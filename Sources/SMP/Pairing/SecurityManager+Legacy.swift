import BLECore

/// Phase 2 of LE legacy pairing (Core Specification 5.4, Vol 3, Part H, 2.3.5.2 to 2.3.5.5).
extension SecurityManager {
    /// The initiator sends its confirm value as soon as it has the temporary key; the responder waits for
    /// that.
    mutating func startLegacy(at now: Instant) {
        pairing?.proceed(initiator: .passkey, responder: .confirm)
        prompt()
        if role == .central { commit(at: now) }
    }

    /// Both random numbers are known, and make the key.
    mutating func finishLegacy(peerRandom: UInt128, _ toolbox: any SecurityToolbox) {
        guard let pairing, let key = pairing.temporaryKey else { return }
        let (initiator, responder) =
            role == .central ? (pairing.ownRandom, peerRandom) : (peerRandom, pairing.ownRandom)
        encrypt(with: toolbox.s1(key, responder, initiator))
    }

    /// Phase 2 is over: the link layer is to encrypt with this key, as long as agreed on.
    mutating func encrypt(with key: UInt128) {
        guard let pairing else { return }
        let key = pairing.shortened(key)
        self.pairing?.key = key
        self.pairing?.step = .encryption
        let linkKey = LongTermKey(key, size: pairing.keySize)
        events.append(role == .central ? .encrypt(linkKey) : .provide(linkKey))
    }
}

extension Pairing {
    /// TK (2.3.5.2 to 2.3.5.4); nil while the user types.
    var temporaryKey: UInt128? {
        switch method {
        case .justWorks, .numericComparison: 0
        case .passkeyShown, .passkeyEnteredByBoth: passkey.map { UInt128($0.value) }
        case .outOfBand: if case .temporaryKey(let key) = outOfBandData { key } else { nil }
        }
    }
}
