import BLECore

/// The association model, by which two devices authenticate each other (Core Specification 5.4, Vol 3, Part H,
/// 2.3.5.1).
package enum PairingMethod: Hashable, Sendable {
    /// No authentication: a man in the middle can take part.
    case justWorks
    /// Both users see six digits and say whether they are the same. Only with LE Secure Connections.
    case numericComparison
    /// Six digits that this end shows are typed at the other.
    case passkeyShown(by: LinkRole)
    /// Both users type the same six digits.
    case passkeyEnteredByBoth
    /// Pairing data is exchanged over another medium.
    case outOfBand

    /// What two ends' features come to (Tables 2.6 to 2.8).
    package init(request: PairingFeatures, response: PairingFeatures) {
        let both = request.authentication.intersection(response.authentication)
        let isSecure = both.contains(.secureConnections)
        let presences = [request.oobData, response.oobData].count { $0 == .present }
        let either = request.authentication.union(response.authentication)
        if presences == 2 || isSecure && presences == 1 {
            self = .outOfBand
        } else if !either.contains(.mitm) {
            self = .justWorks
        } else {
            self.init(request.ioCapability, response.ioCapability, isSecure)
        }
    }

    /// Chooses the method by the IO capabilities (Table 2.8).
    private init(_ initiator: IOCapability, _ responder: IOCapability, _ isSecure: Bool) {
        if isSecure, initiator.comparesNumbers, responder.comparesNumbers {
            self = .numericComparison
        } else if initiator == .keyboardOnly, responder == .keyboardOnly {
            self = .passkeyEnteredByBoth
        } else if initiator.showsNumbers, responder.takesNumbers {
            self = .passkeyShown(by: .central)
        } else if responder.showsNumbers, initiator.takesNumbers {
            self = .passkeyShown(by: .peripheral)
        } else {
            self = .justWorks
        }
    }

    /// Whether no third party in between can take part.
    package var isAuthenticated: Bool { self != .justWorks }

    /// Whether a passkey is typed at that end.
    func isEntered(by role: LinkRole) -> Bool {
        switch self {
        case .passkeyShown(let other): other != role
        case .passkeyEnteredByBoth: true
        default: false
        }
    }
}

extension IOCapability {
    fileprivate var showsNumbers: Bool { self != .keyboardOnly && self != .noInputNoOutput }
    fileprivate var takesNumbers: Bool { self == .keyboardOnly || self == .keyboardDisplay }
    fileprivate var comparesNumbers: Bool { self == .displayYesNo || self == .keyboardDisplay }
}
