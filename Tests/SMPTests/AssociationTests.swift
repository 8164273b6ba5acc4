#if SecurityManager
import BLECore
import SMP
import Testing

/// Table 2.8 of the Core Specification 5.4, Vol 3, Part H: the columns are initiators and the rows are responders,
/// both in the order of their values. J: Just Works. N: numeric comparison. I, R: the initiator or the responder
/// displays a passkey. B: a passkey is entered at both ends. Of two letters, the second is for LE Secure Connections.
private let table = [
    ["J", "J", "R", "J", "R"],
    ["J", "JN", "R", "J", "RN"],
    ["I", "I", "B", "J", "I"],
    ["J", "J", "J", "J", "J"],
    ["I", "IN", "R", "J", "IN"],
]

private let methods: [Character: PairingMethod] = [
    "J": .justWorks, "N": .numericComparison, "I": .passkeyShown(by: .central),
    "R": .passkeyShown(by: .peripheral),
    "B": .passkeyEnteredByBoth,
]

private let cells: [(UInt8, UInt8, Bool)] = (0..<5).flatMap { initiator in
    (0..<5).flatMap { responder in [(initiator, responder, false), (initiator, responder, true)] }
}

private func method(_ initiator: UInt8, _ responder: UInt8, _ isSecure: Bool) throws -> PairingMethod {
    let cell = table[Int(responder)][Int(initiator)]
    let letter = try #require(isSecure ? cell.last : cell.first)
    return try #require(methods[letter])
}

@Test(arguments: cells)
func pairingMethodFollowsAssociationTable(initiator: UInt8, responder: UInt8, isSecure: Bool) throws {
    var policies = [initiator, responder].map { PairingPolicy(ioCapability: IOCapability(rawValue: $0)) }
    if !isSecure { policies[Int(initiator) % 2].secureConnections = .off }
    var pair = PairedMachines(policies[0], policies[1], seed: UInt64(initiator) << 8 | UInt64(responder))
    let expected = try method(initiator, responder, isSecure)
    if expected == .passkeyEnteredByBoth {
        pair.initiatorUser.passkey = Passkey(999_999)
        pair.responderUser.passkey = Passkey(999_999)
    }
    try pair.pair()

    let bond = try #require(pair.initiatorBond)
    let other = try #require(pair.responderBond)
    #expect(bond.strength.isAuthenticated == (expected != .justWorks))
    #expect(bond.strength.isSecureConnections == isSecure)
    #expect(bond.strength == other.strength)
    #expect(bond.centralKey == other.peripheralKey && bond.centralKey != nil)
    #expect(bond.peripheralKey == other.centralKey)
    #expect(pair.initiatorEvents.dialogue == expected.dialogue(of: .central))
    #expect(pair.responderEvents.dialogue == expected.dialogue(of: .peripheral))
}

extension PairingMethod {
    /// Returns the requests that the user of one end receives.
    fileprivate func dialogue(of role: LinkRole) -> String {
        let first = role == .peripheral ? "requested " : ""
        return switch self {
        case .justWorks: first + (role == .central ? "confirm" : "")
        case .numericComparison: first + "compare"
        case .passkeyShown(let other): first + (other == role ? "display" : "enter")
        case .passkeyEnteredByBoth: first + "enter"
        case .outOfBand: first
        }
    }
}

extension [SecurityManager.Event] {
    fileprivate var dialogue: String {
        compactMap {
            switch $0 {
            case .pairingRequested: "requested "
            case .confirm: "confirm"
            case .compare: "compare"
            case .display: "display"
            case .enterPasskey: "enter"
            default: nil
            }
        }.joined()
    }
}

/// Tables 2.6 and 2.7: when neither end requires MITM protection, the method is Just Works; with out-of-band
/// data, it is out of band.
@Test func mitmAndOutOfBandPrecedeAssociationTable() {
    var request = PairingFeatures(ioCapability: .keyboardDisplay, authentication: .secureConnections)
    var response = request
    #expect(PairingMethod(request: request, response: response) == .justWorks)
    response.authentication.insert(.mitm)
    #expect(PairingMethod(request: request, response: response) == .numericComparison)
    request.oobData = .present
    #expect(PairingMethod(request: request, response: response) == .outOfBand)
    request.authentication = []
    #expect(PairingMethod(request: request, response: response) == .passkeyShown(by: .central))
    response.oobData = .present
    response.authentication = []
    #expect(PairingMethod(request: request, response: response) == .outOfBand)
}
#endif
