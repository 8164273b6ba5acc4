#if SecurityManager
import BLECore
import SMP
import Testing

private func offer(_ seed: UInt64) throws -> OutOfBandOffer {
    let toolbox = try #require(SecurityManager.defaultToolbox)
    return try #require(OutOfBandOffer(toolbox: toolbox, using: SplitMix64(seed: seed)))
}

/// With LE Secure Connections it is enough that one of both ends has the other's data.
@Test(arguments: [(true, true), (true, false), (false, true)])
func dataOfEitherEndSufficesForSecureConnections(initiatorHas: Bool, responderHas: Bool) throws {
    let offers = [try offer(1), try offer(2)]
    for isAsked in [false, true] {
        var policies = [PairingPolicy(), PairingPolicy()]
        policies[0].outOfBandOffer = responderHas ? offers[0] : nil
        policies[1].outOfBandOffer = initiatorHas ? offers[1] : nil
        policies[0].requiresMITM = true
        let known = [initiatorHas ? offers[1].data : nil, responderHas ? offers[0].data : nil]
        for index in 0..<2 {
            if isAsked {
                policies[index].asksForOutOfBandData = true
            } else {
                policies[index].outOfBandData = known[index]
            }
        }
        var pair = PairedMachines(policies[0], policies[1])
        pair.initiatorUser.outOfBand = known[0]
        pair.responderUser.outOfBand = known[1]
        try pair.pair()
        let bond = try #require(pair.initiatorBond)
        #expect(bond.strength == PairingStrength(isAuthenticated: true, isSecureConnections: true))
        #expect(bond.centralKey == pair.responderBond?.peripheralKey)
        #expect(pair.initiatorEvents.contains(.outOfBandWanted) == isAsked)
        // Features, public keys, random numbers, checks.
        #expect(pair.codes.prefix(8) == [1, 2, 0x0c, 0x0c, 4, 4, 0x0d, 0x0d])
    }
}

@Test func dataOfOtherDeviceIsRefused() throws {
    for isInitiator in [true, false] {
        var policies = [PairingPolicy(), PairingPolicy()]
        let (owner, other) = isInitiator ? (0, 1) : (1, 0)
        policies[owner].outOfBandData = try offer(7).data
        policies[other].outOfBandOffer = try offer(8)
        var pair = PairedMachines(policies[0], policies[1])
        try pair.pair()
        #expect(
            (isInitiator ? pair.initiatorFailure : pair.responderFailure) == .local(.confirmValueFailed))
    }
}

/// The confirm value alone could be read by an attacker on the other channel. The random number is proved
/// too.
@Test func wrongRandomNumberIsRefused() throws {
    var policies = [PairingPolicy(), PairingPolicy()]
    let real = try offer(3)
    var forged = real
    forged.random ^= 1
    policies[0].outOfBandData = real.data
    policies[1].outOfBandOffer = forged
    var pair = PairedMachines(policies[0], policies[1])
    try pair.pair()
    #expect(pair.responderFailure == .local(.dhKeyCheckFailed))
}

@Test func legacyPairingNeedsTemporaryKeyAtBothEnds() throws {
    var policy = PairingPolicy()
    policy.outOfBandData = .temporaryKey(0x1234)
    policy.secureConnections = .off
    var pair = PairedMachines(policy, policy)
    try pair.pair()
    #expect(
        pair.initiatorBond?.strength == PairingStrength(isAuthenticated: true, isSecureConnections: false))
    #expect(pair.initiatorBond?.centralKey == pair.responderBond?.peripheralKey)

    var other = policy
    other.outOfBandData = .temporaryKey(0x1235)
    pair = PairedMachines(policy, other)
    try pair.pair()
    #expect(pair.responderFailure == .local(.confirmValueFailed))

    // With one end only it is Just Works, which this policy would take.
    other.outOfBandData = nil
    pair = PairedMachines(policy, other)
    try pair.pair()
    #expect(pair.initiatorEvents.contains(.confirm))
    #expect(pair.initiatorBond?.strength.isAuthenticated == false)
}

/// A temporary key is none of LE Secure Connections: who has it pairs legacy unless that is forbidden.
@Test func temporaryKeySelectsLegacyPairing() throws {
    var policy = PairingPolicy()
    policy.outOfBandData = .temporaryKey(0x1234)
    var pair = PairedMachines(policy, policy)
    try pair.pair()
    #expect(
        pair.initiatorBond?.strength == PairingStrength(isAuthenticated: true, isSecureConnections: false))

    policy.secureConnections = .only
    pair = PairedMachines(policy, PairingPolicy())
    try pair.pair()
    #expect(pair.responderFailure == .local(.oobNotAvailable))
}

/// Who offers a temporary key has it, too, also when its user knows of no other.
@Test(arguments: [false, true])
func offeredTemporaryKeyServesBothEnds(isInitiator: Bool) throws {
    var policies = [PairingPolicy(), PairingPolicy()]
    let (owner, other) = isInitiator ? (0, 1) : (1, 0)
    policies[owner].outOfBandOffer = OutOfBandOffer(temporaryKey: 0x1234)
    policies[owner].asksForOutOfBandData = true
    policies[other].outOfBandData = .temporaryKey(0x1234)
    var pair = PairedMachines(policies[0], policies[1])
    try pair.pair()
    let bond = try #require(pair.initiatorBond)
    #expect(bond.strength == PairingStrength(isAuthenticated: true, isSecureConnections: false))
    #expect(bond.centralKey == pair.responderBond?.peripheralKey)
}

@Test func missingOutOfBandOfferFailsPairing() throws {
    var policy = PairingPolicy()
    policy.outOfBandData = try offer(1).data
    var pair = PairedMachines(policy, PairingPolicy())
    try pair.pair()
    #expect(pair.responderFailure == .local(.oobNotAvailable))
    #expect(pair.initiatorFailure == .peer(.oobNotAvailable))
}
#endif
