import BLECore

/// A pairing from the moment when both ends know each other's features.
struct Pairing: Sendable {
    enum Step: Sendable {
        /// Initiator: the owner is asked whether Just Works will do.
        case consent
        /// The peer's public key is to come.
        case publicKey
        /// Initiator: the user types a passkey.
        case passkey
        /// The peer's Pairing Confirm is to come.
        case confirm
        /// The peer's Pairing Random is to come.
        case random
        /// The user compares the numbers on both displays.
        case comparison
        /// The peer's Pairing DHKey Check is to come.
        case dhKeyCheck
        /// The link layer is to encrypt.
        case encryption
        /// The two ends distribute their keys.
        case keys
    }

    let role: LinkRole
    let policy: PairingPolicy
    let request: PairingFeatures
    let response: PairingFeatures
    let outOfBandData: OutOfBandData?

    let method: PairingMethod
    let isSecureConnections: Bool
    let keySize: Int
    var step: Step

    /// The passkey, once it is known here; no passkey in methods without one.
    var passkey: Passkey?
    /// The own nonce of the present round.
    var ownRandom: UInt128 = 0
    var ownConfirm: UInt128?
    var peerConfirm: UInt128?
    /// Bits of the passkey that are done, with LE Secure Connections.
    var round = 0

    var keyPair: PairingKeyPair?
    var exchange: KeyExchange?
    /// Of the last step of LE Secure Connections.
    var check = DHKeyCheck()

    /// The key that the link is encrypted with when all this is done: STK or LTK.
    var key: UInt128 = 0
    var distribution: Distribution
    var bond: Bond

    init(
        of peer: DeviceAddress, with local: DeviceAddress, as role: LinkRole, _ negotiation: Negotiation,
        _ request: PairingFeatures, _ response: PairingFeatures
    ) {
        self.role = role
        self.request = request
        self.response = response
        policy = negotiation.policy
        outOfBandData = negotiation.outOfBandData
        method = PairingMethod(request: request, response: response)
        isSecureConnections = request.authentication.intersection(response.authentication)
            .contains(.secureConnections)
        keySize = Int(min(request.maximumKeySize, response.maximumKeySize))
        step = isSecureConnections ? .publicKey : .confirm
        distribution = Distribution(role, request, response, isSecureConnections: isSecureConnections)
        let strength = PairingStrength(
            isAuthenticated: method.isAuthenticated, isSecureConnections: isSecureConnections,
            keySize: keySize)
        bond = Bond(with: peer, as: local, strength)
    }

    var ownFeatures: PairingFeatures { role == .central ? request : response }
    var peerFeatures: PairingFeatures { role == .central ? response : request }

    var isBonding: Bool {
        request.authentication.intersection(response.authentication).contains(.bonding)
    }

    /// Whether key presses are reported: both ends want it, and there are keys to press (Core Specification
    /// 5.4, Vol 3, Part H, 3.5.1).
    func reportsKeypresses(of role: LinkRole) -> Bool {
        request.authentication.intersection(response.authentication).contains(.keypress)
            && method.isEntered(by: role)
    }

    /// Each end waits for another thing.
    mutating func proceed(initiator: Step, responder: Step) {
        step = role == .central ? initiator : responder
    }

    /// A key as long as agreed on: the most significant octets of a shorter one are zero (2.3.4).
    func shortened(_ key: UInt128) -> UInt128 {
        keySize >= 16 ? key : key & ((1 << UInt128(8 * keySize)) - 1)
    }

    /// The key for the link, which has no name.
    var linkKey: LongTermKey { LongTermKey(key, size: keySize) }
}

extension LinkRole {
    /// The one at the other end.
    var other: LinkRole { self == .central ? .peripheral : .central }
}

/// What two public keys come to.
struct KeyExchange: Sendable {
    let own: PairingKeyPair
    let peer: PairingPublicKey
    let dhKey: PairingPublicKey.Coordinate
}

/// The last step of LE Secure Connections (Core Specification 5.4, Vol 3, Part H, 2.3.5.6.5).
struct DHKeyCheck: Sendable {
    var macKey: UInt128 = 0
    var ownRandom: UInt128 = 0
    var peerRandom: UInt128 = 0
    /// The initiator's check, while the responder's user still compares.
    var early: UInt128?
}
