/// The answer of a pairing's owner to an event. An unexpected answer is ignored, because the pairing can have
/// ended in the meantime.
package enum PairingAnswer: Hashable, Sendable {
    /// Continues the pairing, in answer to `.pairingRequested` or `.confirm`.
    case accept
    /// Ends the pairing for this reason, at any time, or refuses `.securityRequested`.
    case refuse(PairingFailureReason)
    /// The passkey that the user entered, in answer to `.enterPasskey`.
    case passkey(Passkey)
    /// Whether the numbers are the same, in answer to `.compare`.
    case comparison(Bool)
    /// The out-of-band data of the peer, if any, in answer to `.outOfBandWanted`.
    case outOfBand(OutOfBandData?)
}
