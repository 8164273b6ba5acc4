#if SecurityManager
import BLECore
import SMP
import Testing

private func offer(_ seed: UInt64) throws -> OutOfBandOffer {
    let toolbox = try #require(SecurityManager.defaultToolbox)
    return try #require(OutOfBandOffer(toolbox: toolbox, using: SplitMix64(seed: seed)))
}

/// With LE Secure Connections it suffices that one end has the other's data.
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

/// An attacker could read the confirm value on the out-of-band channel. Therefore the DHKey Check also
/// proves the random number.
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

    // With data at one end only, the method is Just Works, which this policy accepts.
    other.outOfBandData = nil
    pair = PairedMachines(policy, other)
    try pair.pair()
    #expect(pair.initiatorEvents.contains(.confirm))
    #expect(pair.initiatorBond?.strength.isAuthenticated == false)
}

/// LE Secure Connections does not use a temporary key: an end that has one uses LE legacy pairing unless
/// its policy forbids that.
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

/// The end that offers a temporary key also uses it, even when its user has no other data.
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
