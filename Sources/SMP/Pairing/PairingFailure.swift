import BLECore

/// How a pairing ended that made no keys.
public enum PairingFailure: Error, Hashable, Sendable {
    /// The peer has ended the pairing, for this reason.
    case peer(PairingFailureReason)
    /// This host has ended it, and sent the peer the reason.
    case local(PairingFailureReason)
    /// The owner has cancelled the pairing.
    case cancelled
    /// The controller could not encrypt the link with the new key.
    case encryption
    /// Thirty seconds passed without a step. The link pairs no more (Core Specification 5.4, Vol 3, Part H,
    /// 3.4).
    case timeout
}

/// Why a pairing cannot begin.
public enum PairingImpossible: Error, Hashable, Sendable {
    /// A pairing is already in progress.
    case busy
    /// One ran out of time on this link, so only a new link pairs.
    case timedOut
    /// Pairings have failed here, and the next one has to wait.
    case repeatedAttempts(until: Instant)
    /// Neither this host's user nor its policy can do what is wanted.
    case requirements
    /// This build has no cryptographic toolbox.
    case unsupported
}

extension PairingFailure: CustomStringConvertible {
    /// One phrase: "the peer: Confirm Value Failed".
    public var description: String {
        switch self {
        case .peer(let reason): "the peer: \(reason)"
        case .local(let reason): "refused here: \(reason)"
        case .cancelled: "cancelled"
        case .encryption: "the controller could not encrypt the link with the new key"
        case .timeout: "no packet arrived for 30 s"
        }
    }
}

extension PairingImpossible: CustomStringConvertible {
    /// The reason as a phrase of text.
    public var description: String {
        switch self {
        case .busy: "another pairing is under way on this link"
        case .timedOut: "a pairing has run out of time on this link; a new link can pair"
        case .repeatedAttempts: "pairings with this peer have failed, so the next one has to wait"
        case .requirements: "this side has no input or output that this security level requires"
        case .unsupported: "this build has no security manager"
        }
    }
}
