import BLECore

/// The reason for which a pairing ended without keys.
public enum PairingFailure: Error, Hashable, Sendable {
    /// The peer has ended the pairing, for this reason.
    case peer(PairingFailureReason)
    /// This host has ended the pairing and sent this reason to the peer.
    case local(PairingFailureReason)
    /// The owner has cancelled the pairing.
    case cancelled
    /// The controller could not encrypt the link with the new key.
    case encryption
    /// Thirty seconds passed without progress. No further pairing is possible on the link (Core Specification
    /// 5.4, Vol 3, Part H, 3.4).
    case timeout
}

/// The reason for which a pairing cannot begin.
public enum PairingImpossible: Error, Hashable, Sendable {
    /// A pairing is already in progress.
    case busy
    /// A pairing on this link has timed out; only a new link can pair.
    case timedOut
    /// Pairings with the peer have failed, and the next pairing must not begin before this time.
    case repeatedAttempts(until: Instant)
    /// The IO capability or the policy of this host does not allow the required security.
    case requirements
    /// This build has no cryptographic toolbox.
    case unsupported
}

extension PairingFailure {
    /// Whether this host did not let the peer pair. Otherwise the pairing has failed, as by a wrong passkey.
    public var isRefusal: Bool {
        guard case .local(let reason) = self else { return false }
        let failed: [PairingFailureReason] = [
            .passkeyEntryFailed, .confirmValueFailed, .dhKeyCheckFailed, .numericComparisonFailed,
            .invalidParameters,
        ]
        return !failed.contains(reason)
    }
}

extension PairingFailure: CustomStringConvertible {
    /// The failure as a phrase, such as "the peer: Confirm Value Failed".
    public var description: String {
        switch self {
        case .peer(let reason): "the peer: \(reason)"
        case .local(let reason): "\(isRefusal ? "refused here" : "ended here"): \(reason)"
        case .cancelled: "cancelled"
        case .encryption: "the controller could not encrypt the link with the new key"
        case .timeout: "no packet arrived for 30 s"
        }
    }
}

extension PairingImpossible: CustomStringConvertible {
    /// The reason as a phrase.
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
