#if SecurityManager
import BLECore
import SMP
import TestSupport
import Testing

private func policy(
    secure: Bool = true, bonding: Bool = true, send: KeyDistribution = [.encryption, .identity, .signing],
    take: KeyDistribution = [.encryption, .identity, .signing]
) -> PairingPolicy {
    var policy = PairingPolicy()
    policy.secureConnections = secure ? .preferred : .off
    policy.isBonding = bonding
    policy.keysToSend = send
    policy.keysToTake = take
    return policy
}

@Test func keysAreDistributedResponderFirst() throws {
    var pair = PairedMachines(policy(secure: false), policy(secure: false))
    try pair.pair()
    let keys = pair.frames.filter { (6...10).contains($0.octets[0]) }
    #expect(keys.map(\.octets[0]) == [6, 7, 8, 9, 10, 6, 7, 8, 9, 10])
    #expect(
        keys.map(\.from) == [LinkRole](repeating: .peripheral, count: 5)
            + [LinkRole](repeating: .central, count: 5))

    let bond = try #require(pair.initiatorBond)
    let other = try #require(pair.responderBond)
    #expect(bond.peer == PairedMachines.responderIdentity.address)
    #expect(bond.local == PairedMachines.initiatorIdentity.address)
    #expect(bond.peerIdentityKey == PairedMachines.responderIdentity.identityKey)
    #expect(other.peer == PairedMachines.initiatorIdentity.address)
    #expect(other.peerIdentityKey == PairedMachines.initiatorIdentity.identityKey)
    // The private address of the initiator proves its key, and nothing proves its identity.
    #expect(other.isIdentityClaimed)
    #expect(bond.peerSigningKey == other.localSigningKey && bond.peerSigningKey != nil)
    #expect(bond.localSigningKey == other.peerSigningKey && bond.localSigningKey != nil)
    // Each end has generated the key that it provides as the peripheral.
    #expect(bond.centralKey == other.peripheralKey && bond.peripheralKey == other.centralKey)
    #expect(bond.centralKey != bond.peripheralKey)
    for key in [bond.centralKey, bond.peripheralKey] {
        #expect(key?.random != 0)
        #expect(key?.size == 16)
    }
    #expect(pair.initiatorEvents.last == .paired(bond, isBonding: true))
}

@Test func secureConnectionsUseOneKeyWithoutEDIVAndRand() throws {
    var pair = PairedMachines()
    try pair.pair()
    let bond = try #require(pair.initiatorBond)
    #expect(bond.centralKey == bond.peripheralKey)
    #expect(bond.centralKey?.ediv == 0 && bond.centralKey?.random == 0)
    #expect(pair.initiatorEvents.contains(.encrypt(try #require(bond.centralKey))))
    #expect(pair.responderEvents.contains(.provide(try #require(bond.centralKey))))
    #expect(pair.codes.filter { (6...10).contains($0) } == [8, 9, 10, 8, 9, 10])
    // The response omits the long term key, which LE Secure Connections does not distribute.
    #expect(pair.frames[1].octets[5...] == [6, 6])
}

@Test(arguments: 0..<16)
func onlyKeysWantedByBothAreDistributed(bits: UInt8) throws {
    let keys = KeyDistribution(rawValue: bits)
    for isSecure in [true, false] {
        var pair = PairedMachines(policy(secure: isSecure, send: keys), policy(take: .identity))
        try pair.pair()
        let sent = pair.frames.filter { $0.from == .central && (6...10).contains($0.octets[0]) }.map(
            \.octets[0])
        #expect(sent == (keys.contains(.identity) ? [8, 9] : []))
        #expect((pair.responderBond?.peerIdentityKey != nil) == keys.contains(.identity))

        pair = PairedMachines(policy(secure: isSecure, take: keys), policy())
        try pair.pair()
        let expected: [UInt8] =
            (keys.contains(.encryption) && !isSecure ? [6, 7] : [])
            + (keys.contains(.identity) ? [8, 9] : [])
            + (keys.contains(.signing) ? [10] : [])
        #expect(
            pair.frames.filter { $0.from == .peripheral && (6...10).contains($0.octets[0]) }.map(\.octets[0])
                == expected)
    }
}

@Test func noKeysAreDistributedWithoutBonding() throws {
    for policies in [(policy(bonding: false), policy()), (policy(), policy(bonding: false))] {
        var pair = PairedMachines(policies.0, policies.1)
        try pair.pair()
        #expect(!pair.codes.contains { (6...10).contains($0) })
        let bond = try #require(pair.initiatorBond)
        #expect(pair.initiatorEvents.last == .paired(bond, isBonding: false))
        #expect(bond.peer == PairedMachines.responderAddress)
        #expect(pair.responderEvents.last == .paired(try #require(pair.responderBond), isBonding: false))
    }
}

@Test func zeroIdentityKeyIsIgnored() throws {
    var pair = PairedMachines()
    pair.alter = { frame, _ in
        frame.from == .central && frame.octets[0] == 8
            ? SMPCommand.identityInformation(identityResolvingKey: 0).encoded : nil
    }
    try pair.pair()
    // Without a key, nothing connects the private address and the identity.
    #expect(pair.responderBond?.peer == PairedMachines.privateAddress)
    #expect(pair.responderBond?.peerIdentityKey == nil)
}

/// The radio's data and its events take different ways to the host, so keys can overtake the report that the
/// link is encrypted.
@Test(arguments: [true, false]) func keysBeforeReportOfEncryptionAreHeld(isSecure: Bool) throws {
    var pair = PairedMachines(policy(secure: isSecure), policy(secure: isSecure))
    pair.reportsLate = true
    try pair.pair()
    var inTime = PairedMachines(policy(secure: isSecure), policy(secure: isSecure))
    try inTime.pair()
    #expect(pair.initiatorBond != nil && pair.initiatorBond == inTime.initiatorBond)
    #expect(pair.responderBond == inTime.responderBond)
}

/// Before the controller has the key, a packet is not encrypted, and any device can have sent it. More packets
/// than a peer sends are refused as well.
@Test func keysThatNoKeyProtectsAreRefused() throws {
    let key = SMPCommand.signingInformation(signatureKey: 1).encoded
    var pair = PairedMachines(policy(), policy())
    pair.stopsAtEncryption = true
    try pair.pair()
    var late = pair.initiator
    pair.initiator.receive(key, at: pair.now)
    #expect(pair.initiator.nextEvent() == .failed(.local(.unspecifiedReason)))
    late.keyWasGiven()
    for _ in 0..<5 { late.receive(key, at: pair.now) }
    #expect(late.isPairing && late.nextEvent() == nil)
    late.receive(key, at: pair.now)
    #expect(late.nextEvent() == .failed(.local(.unspecifiedReason)))
    // A key that is held is not used when the link is not encrypted.
    var failed = pair.responder
    failed.keyWasGiven()
    failed.receive(key, at: pair.now)
    failed.encryptionChanged(isOn: false, at: pair.now)
    #expect(failed.nextEvent() == .failed(.encryption))
    failed.encryptionChanged(isOn: true, at: pair.now)
    #expect(failed.nextEvent() == nil)
}

/// A device could otherwise take the place of another one, by sending its address.
@Test func identityOtherThanAddressOnAirIsIgnored() throws {
    var pair = PairedMachines(
        policy(), policy(), SplitMix64(seed: 1), SplitMix64(seed: 2), at: PairedMachines.initiatorAddress)
    try pair.pair()
    let bond = try #require(pair.responderBond)
    #expect(bond.peer == PairedMachines.initiatorAddress && bond.peerIdentityKey == nil)
    #expect(bond.peerSigningKey != nil && bond.peripheralKey != nil)
}

@Test(arguments: [true, false]) func identityNeedsKeyThatResolvesPrivateAddress(isResolvable: Bool) throws {
    let address =
        isResolvable
        ? DeviceAddress.resolvable(7, key: AES128(key: 1)) : DeviceAddress(0x0102_0304_0506, type: .random)
    var pair = PairedMachines(policy(), policy(), SplitMix64(seed: 1), SplitMix64(seed: 2), at: address)
    try pair.pair()
    let bond = try #require(pair.responderBond)
    #expect(bond.peer == address && bond.peerIdentityKey == nil)
}

/// Keys that have not been sent are not sent after the peer has ended the pairing.
@Test func peerFailureStopsKeyDistribution() throws {
    var pair = PairedMachines()
    pair.stopsAtEncryption = true
    try pair.pair()
    pair.responder.encryptionChanged(isOn: true, at: pair.now)
    #expect(pair.responder.frame()?.first == 8)
    pair.responder.receive([5, 0x0f], at: pair.now)
    #expect(pair.responder.frame() == nil)
    #expect(pair.responder.nextEvent() == .failed(.peer(.keyRejected)))
}

/// The pairing is complete when the last key has been sent, not when it is only queued.
@Test func pairedIsReportedAfterLastKey() throws {
    var pair = PairedMachines(policy(take: []), policy())
    pair.stopsAtEncryption = true
    try pair.pair()
    pair.initiator.encryptionChanged(isOn: true, at: pair.now)
    for _ in 0..<3 {
        #expect(pair.initiator.nextEvent() == nil)
        #expect(pair.initiator.isPairing)
        #expect(pair.initiator.frame() != nil)
    }
    guard case .paired = pair.initiator.nextEvent() else {
        Issue.record("not paired")
        return
    }
    #expect(!pair.initiator.isPairing)
    #expect(pair.initiator.deadline == nil)
}
#endif
