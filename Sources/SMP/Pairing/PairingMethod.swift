import BLECore

/// The association model with which two devices authenticate each other (Core Specification 5.4, Vol 3, Part
/// H, 2.3.5.1).
package enum PairingMethod: Hashable, Sendable {
    /// No authentication: a man in the middle can take part.
    case justWorks
    /// Both devices display six digits, and the users confirm that they are the same. Only with LE Secure
    /// Connections.
    case numericComparison
    /// The device with this role displays six digits, which the user enters on the other device.
    case passkeyShown(by: LinkRole)
    /// Both users enter the same six digits.
    case passkeyEnteredByBoth
    /// Pairing data is exchanged over another medium.
    case outOfBand

    /// Selects the method from the features of both devices (Tables 2.6 to 2.8).
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

    /// Selects the method from the IO capabilities (Table 2.8).
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

    /// Whether the method protects against a man in the middle.
    package var isAuthenticated: Bool { self != .justWorks }

    /// Returns whether the user enters a passkey on the device with this role.
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
