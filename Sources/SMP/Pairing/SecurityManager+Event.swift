import BLECore

extension SecurityManager {
    /// What the machine reports to its owner. Events after which it waits for an `answer` name it.
    package enum Event: Hashable, Sendable {
        /// Central: the peripheral wants this. Encrypt with the key of the bond, `begin`, or `.refuse`.
        case securityRequested(AuthenticationRequirements)
        /// Peripheral: the central wants to pair. Nothing happens before `.accept` or `.refuse`; a peer that
        /// has a bond has lost it, or is another one that says so.
        case pairingRequested(PairingFeatures)
        /// Central: it comes to Just Works. `.accept` or `.refuse`.
        case confirm
        /// Show this until the pairing ends; the peer's user types it.
        case display(Passkey)
        /// The user types what the peer shows: `.passkey` or `.refuse(.passkeyEntryFailed)`. Between this
        /// event and the answer `press` notifies the peer of key presses.
        case enterPasskey
        /// Both users see a number: `.comparison`.
        case compare(Passkey)
        /// What is known of the peer by another way: `.outOfBand`.
        case outOfBandWanted
        /// The peer's user types.
        case keypress(KeypressNotification)
        /// Central: start encryption with this key, then say `encryptionChanged`.
        case encrypt(LongTermKey)
        /// Peripheral: the answer to the controller's next request for a long term key, whatever its EDIV and
        /// Rand.
        case provide(LongTermKey)
        /// Done, keys included. Without bonding the keys are for this link only. The peer says itself who it
        /// is: a bond of more worth with that identity, which the policy did not name as `existing`, must not
        /// give way.
        case paired(Bond, isBonding: Bool)
        /// It has come to nothing.
        case failed(PairingFailure)
        /// A packet of this code began nothing and was answered with that reason: there is no toolbox, the
        /// peer must wait after failed attempts, or no pairing is under way to which it belongs.
        case refused(SMPCode, PairingFailureReason)
    }
}
