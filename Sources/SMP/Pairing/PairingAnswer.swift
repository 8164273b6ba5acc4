/// What the owner of a pairing answers to an event. An answer that is not expected is ignored: the
/// pairing may have ended meanwhile.
package enum PairingAnswer: Hashable, Sendable {
    /// Go on: to `.pairingRequested` and `.confirm`.
    case accept
    /// End it for that reason: at any time, and to `.securityRequested`.
    case refuse(PairingFailureReason)
    /// What the user has typed: to `.enterPasskey`.
    case passkey(Passkey)
    /// Whether the numbers are the same: to `.compare`.
    case comparison(Bool)
    /// What is known of the peer: to `.outOfBandWanted`.
    case outOfBand(OutOfBandData?)
}
