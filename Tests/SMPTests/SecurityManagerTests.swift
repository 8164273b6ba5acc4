import BLECore
import SMP
import TestSupport
import Testing

@Test func pairingRequiresToolbox() {
    var pair = PairedMachines(toolbox: nil)
    #expect(throws: PairingImpossible.unsupported) { try pair.initiator.begin(.encryption, at: .zero) }
    pair.responder.receive([1, 3, 0, 1, 16, 7, 7], at: .zero)
    #expect(pair.responder.frame() == [5, 5])
    #expect(pair.responder.nextEvent() == .refused(.pairingRequest, .pairingNotSupported))
    pair.initiator.receive([0x0b, 1], at: .zero)
    #expect(pair.initiator.frame() == [5, 5])
    #expect(pair.initiator.deadline == nil)
}

#if SecurityManager
@Test func buildHasToolbox() {
    #expect(SecurityManager.defaultToolbox != nil)
}

// MARK: - Security Request

@Test func securityRequestIsReportedToCentral() throws {
    var pair = PairedMachines(
        PairingPolicy(ioCapability: .keyboardDisplay), PairingPolicy(ioCapability: .displayOnly))
    try pair.responder.begin(.authenticated, at: pair.now)
    #expect(throws: PairingImpossible.busy) { try pair.responder.begin(.authenticated, at: pair.now) }
    pair.settle()
    #expect(pair.frames.map(\.octets) == [[0x0b, 0x0d]])
    #expect(
        pair.initiatorEvents == [.securityRequested([.bonding, .mitm, .secureConnections])])
    try pair.pair()
    #expect(pair.responderBond?.strength.isAuthenticated == true)
    #expect(pair.responder.deadline == nil)
}

/// The Pairing Request must satisfy the requirements of the Security Request.
@Test func securityRequestRequirementsApplyToPairing() throws {
    var pair = PairedMachines(PairingPolicy(), PairingPolicy(ioCapability: .displayOnly))
    try pair.responder.begin(.authenticated, at: pair.now)
    try pair.pair()
    #expect(pair.responderFailure == .local(.authenticationRequirements))
}

@Test func securityRequestEndsWithRefusalOrEncryption() throws {
    var pair = PairedMachines()
    try pair.responder.begin(.encryption, at: pair.now)
    pair.settle()
    pair.initiator.answer(.refuse(.pairingNotSupported), at: pair.now)
    pair.settle()
    #expect(pair.responderEvents == [.failed(.peer(.pairingNotSupported))])
    // A second answer has no effect.
    pair.initiator.answer(.refuse(.pairingNotSupported), at: pair.now)
    #expect(pair.initiator.frame() == nil)

    try pair.responder.begin(.encryption, at: pair.now)
    pair.settle()
    pair.responder.encryptionChanged(isOn: true, at: pair.now)
    #expect(pair.responder.deadline == nil)
    #expect(pair.responder.nextEvent() == nil)
}

/// A central that does not answer a Security Request has not begun to pair, so it can still pair.
@Test func securityRequestTimesOutAfterThirtySeconds() throws {
    var pair = PairedMachines()
    try pair.responder.begin(.encryption, at: pair.now)
    pair.settle()
    pair.now = pair.now + .seconds(30)
    pair.responder.expire(at: pair.now)
    pair.settle()
    #expect(pair.responderFailure == .timeout)
    #expect(!pair.responder.hasTimedOut)
    try pair.pair()
    #expect(pair.responderBond != nil)
}

// MARK: - What is wanted

@Test func impossibleRequirementsPreventPairing() throws {
    var legacy = PairingPolicy(ioCapability: .displayYesNo)
    legacy.secureConnections = .off
    let cases: [(PairingPolicy, PairingRequirements)] = [
        (PairingPolicy(), .authenticated), (PairingPolicy(), .secureConnections),
        (legacy, .secureConnections),
    ]
    for (policy, wanted) in cases {
        var pair = PairedMachines(policy, policy)
        #expect(throws: PairingImpossible.requirements) { try pair.initiator.begin(wanted, at: pair.now) }
        #expect(throws: PairingImpossible.requirements) { try pair.responder.begin(wanted, at: pair.now) }
        #expect(pair.initiator.frame() == nil)
    }
}

@Test func peersBelowRequirementsAreRefused() throws {
    var only = PairingPolicy()
    only.secureConnections = .only
    var legacy = PairingPolicy()
    legacy.secureConnections = .off
    var pair = PairedMachines(only, legacy)
    try pair.pair()
    #expect(pair.initiatorFailure == .local(.authenticationRequirements))
    pair = PairedMachines(legacy, only)
    try pair.pair()
    #expect(pair.responderFailure == .local(.authenticationRequirements))
    pair = PairedMachines(only, only)
    try pair.pair()
    #expect(pair.initiatorBond?.strength.isSecureConnections == true)

    // Secure Connections Only mode accepts no short keys, even if the policy accepts them in other modes.
    var short = PairingPolicy()
    (short.minimumKeySize, short.maximumKeySize) = (7, 15)
    only.minimumKeySize = 7
    pair = PairedMachines(short, only)
    try pair.pair()
    #expect(pair.responderFailure == .local(.encryptionKeySize))

    var mitm = PairingPolicy(ioCapability: .displayOnly)
    mitm.requiresMITM = true
    pair = PairedMachines(PairingPolicy(), mitm)
    try pair.pair()
    #expect(pair.responderFailure == .local(.authenticationRequirements))
    pair = PairedMachines(mitm, PairingPolicy())
    try pair.pair()
    #expect(pair.initiatorFailure == .local(.authenticationRequirements))
}

@Test func pairingCanBeRefusedAndCancelled() throws {
    var pair = PairedMachines()
    pair.initiatorUser.accepts = false
    try pair.pair()
    #expect(pair.initiatorFailure == .local(.unspecifiedReason))
    #expect(pair.responderFailure == .peer(.unspecifiedReason))

    pair = PairedMachines(
        PairingPolicy(ioCapability: .keyboardOnly), PairingPolicy(ioCapability: .displayOnly))
    pair.stopsTyping = true
    try pair.pair()
    pair.initiator.cancel(at: pair.now)
    pair.initiator.cancel(at: pair.now)
    pair.settle()
    #expect(pair.initiatorFailure == .cancelled)
    #expect(pair.responderFailure == .peer(.passkeyEntryFailed))
    // An answer that comes too late has no effect.
    for answer in [
        .accept, .passkey(try #require(Passkey(1))), .comparison(true), .comparison(false), .outOfBand(nil),
        .refuse(.busy),
    ] as [PairingAnswer] {
        pair.initiator.answer(answer, at: pair.now)
    }
    #expect(pair.initiator.frame() == nil)
    #expect(pair.initiator.nextEvent() == nil)
}

// MARK: - Key presses

@Test(arguments: [true, false])
func keypressesAreReportedWhenBothEndsSupportThem(isSecure: Bool) throws {
    var policies = [PairingPolicy(ioCapability: .keyboardOnly), PairingPolicy(ioCapability: .displayOnly)]
    for index in 0..<2 { policies[index].reportsKeypresses = true }
    if !isSecure { policies[0].secureConnections = .off }
    let keys: [KeypressNotification] = [.started, .digitEntered, .digitErased, .cleared, .completed]
    for isInitiator in [true, false] {
        var pair = PairedMachines(policies[isInitiator ? 0 : 1], policies[isInitiator ? 1 : 0])
        pair.stopsTyping = true
        try pair.pair()
        for key in keys {
            if isInitiator {
                pair.initiator.press(key, at: pair.now)
            } else {
                pair.responder.press(key, at: pair.now)
            }
        }
        pair.settle()
        let (typing, showing) =
            isInitiator
            ? (pair.initiatorEvents, pair.responderEvents) : (pair.responderEvents, pair.initiatorEvents)
        #expect(typing.last == .enterPasskey)
        #expect(showing.suffix(5) == keys.map { .keypress($0) }[...])
        pair.stopsTyping = false
        pair.typeWhatIsShown()
        pair.settle()
        #expect(pair.initiatorBond != nil)
        // After the entry no key press is sent.
        pair.initiator.press(.started, at: pair.now)
        #expect(pair.initiator.frame() == nil)
    }
}

@Test func unwantedKeypressesAreNeitherSentNorAccepted() throws {
    var pair = PairedMachines(
        PairingPolicy(ioCapability: .keyboardOnly), PairingPolicy(ioCapability: .displayOnly))
    pair.stopsTyping = true
    try pair.pair()
    pair.initiator.press(.started, at: pair.now)
    #expect(pair.initiator.frame() == nil)
    pair.responder.receive([0x0e, 0], at: pair.now)
    #expect(pair.responder.frame() == [5, 8])
}
#endif
