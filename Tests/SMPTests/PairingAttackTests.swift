#if SecurityManager
import BLECore
import SMP
import TestSupport
import Testing

private let keyboard = PairingPolicy(ioCapability: .keyboardOnly)
private let display = PairingPolicy(ioCapability: .displayOnly)

private func legacy(_ policy: PairingPolicy) -> PairingPolicy {
    var policy = policy
    policy.secureConnections = .off
    return policy
}

/// Returns a function that flips the lowest bit of the last octet of one frame of a code from one end.
private func flipping(_ code: SMPCode, of role: LinkRole, occurrence: Int = 0) -> (
    PairedMachines.Frame, Int
)
    -> [UInt8]?
{
    let counter = Counter()
    return { frame, _ in
        guard frame.from == role, frame.octets.first == code.rawValue else { return nil }
        counter.value += 1
        guard counter.value == occurrence + 1 else { return nil }
        var octets = frame.octets
        octets[octets.count - 1] ^= 1
        return octets
    }
}

private final class Counter { var value = 0 }

// MARK: - Public keys

@Test(arguments: [LinkRole.central, .peripheral])
func publicKeysOffCurveAreRefused(from role: LinkRole) throws {
    var pair = PairedMachines()
    pair.alter = flipping(.pairingPublicKey, of: role)
    try pair.pair()
    let (victim, other) = (role.peer, role)
    #expect(pair.failure(of: victim) == .local(.dhKeyCheckFailed))
    #expect(pair.failure(of: other) == .peer(.dhKeyCheckFailed))
}

@Test func reflectedPublicKeyIsRefused() throws {
    for negates in [false, true] {
        var pair = PairedMachines()
        var sent: [UInt8] = []
        pair.alter = { frame, _ in
            guard frame.octets.first == SMPCode.pairingPublicKey.rawValue else { return nil }
            if frame.from == .central {
                sent = frame.octets
                return nil
            }
            return negates ? negated(sent) : sent
        }
        try pair.pair()
        #expect(pair.initiatorFailure == .local(.dhKeyCheckFailed))
    }
}

/// Returns the same point with the other Y: p - y.
private func negated(_ frame: [UInt8]) -> [UInt8] {
    let modulus =
        [UInt8](hex: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")?.reversed() ?? []
    var borrow = 0
    let y = zip(modulus, frame[33...]).map { prime, octet in
        let difference = Int(prime) - Int(octet) - borrow
        borrow = difference < 0 ? 1 : 0
        return UInt8(truncatingIfNeeded: difference)
    }
    return frame[..<33] + y
}

/// The responder refuses its own key even from an initiator that has it before it is sent, as with out-of-band data.
@Test func respondersOwnKeyIsRefused() throws {
    let toolbox = try #require(SecurityManager.defaultToolbox)
    var policy = PairingPolicy()
    let offer = try #require(OutOfBandOffer(toolbox: toolbox, using: SplitMix64(seed: 4)))
    policy.outOfBandOffer = offer
    let key = try #require(offer.keyPair?.publicKey)
    var initiator = PairingPolicy()
    initiator.outOfBandData = offer.data
    var pair = PairedMachines(initiator, policy)
    pair.alter = { frame, _ in
        frame.from == .central && frame.octets.first == 0x0c
            ? SMPCommand.pairingPublicKey(key).encoded : nil
    }
    try pair.pair()
    #expect(pair.responderFailure == .local(.dhKeyCheckFailed))
}

@Test func debugKeyIsRefusedUnlessAllowed() throws {
    var pair = PairedMachines()
    pair.alter = { frame, _ in
        frame.from == .central && frame.octets.first == 0x0c
            ? SMPCommand.pairingPublicKey(.debug).encoded : nil
    }
    var debugging = pair
    try pair.pair()
    #expect(pair.responderFailure == .local(.authenticationRequirements))
    debugging.responder.policy.takesDebugKey = true
    try debugging.pair()
    // The initiator does not have the debug key, so the pairing fails at the confirm value.
    #expect(debugging.responderFailure == .peer(.confirmValueFailed))
}

// MARK: - Short keys

@Test(arguments: [UInt8(0), 1, 6, 7, 15])
func shortKeysAreRefused(size: UInt8) throws {
    for isRequest in [true, false] {
        var pair = PairedMachines()
        pair.alter = { frame, _ in
            guard frame.octets.first == (isRequest ? 1 : 2) else { return nil }
            var octets = frame.octets
            octets[4] = size
            return octets
        }
        try pair.pair()
        #expect(pair.failure(of: isRequest ? .peripheral : .central) == .local(.encryptionKeySize))
    }
}

@Test func invalidKeySizesAreRefused() throws {
    var pair = PairedMachines()
    pair.alter = { frame, index in index == 0 ? frame.octets.replacing(4, with: 17) : nil }
    try pair.pair()
    #expect(pair.responderFailure == .local(.invalidParameters))
}

@Test(arguments: [true, false])
func keySizeIsSmallerMaximum(isSecure: Bool) throws {
    var short = PairingPolicy()
    (short.minimumKeySize, short.maximumKeySize) = (7, 9)
    if !isSecure { short.secureConnections = .off }
    var long = PairingPolicy()
    long.minimumKeySize = 7
    var pair = PairedMachines(short, long)
    try pair.pair()
    let bond = try #require(pair.initiatorBond)
    let keys = [bond.centralKey, bond.peripheralKey].compactMap { $0 }
    #expect(keys.count == 2)
    #expect(bond.strength.keySize == 9)
    for key in keys {
        #expect(key.size == 9)
        #expect(key.value >> 72 == 0 && key.value >> 56 != 0)
    }
}

// MARK: - Guessing

@Test func failedAttemptsDoubleTheWait() throws {
    var pair = PairedMachines(keyboard, display)
    var waits: [Duration] = []
    for attempt in 0..<12 {
        pair.initiatorUser.passkey = Passkey(UInt32(attempt))
        try pair.pair()
        #expect(pair.responderFailure == .local(.confirmValueFailed))
        let end = try #require(pair.responder.attempts.wait(at: pair.now))
        waits.append(pair.now.duration(until: end))
        #expect(throws: PairingImpossible.repeatedAttempts(until: end)) {
            try pair.initiator.begin(.encryption, at: pair.now)
        }
        pair.now = end
    }
    #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024].map { .seconds($0) })
    // An initiator that does not wait gets Repeated Attempts, and the user receives no request.
    pair.now = pair.now + .seconds(-1)
    let asked = pair.responderEvents.count
    pair.initiator.attempts = PairingAttempts()
    try pair.pair()
    #expect(pair.initiatorFailure == .peer(.repeatedAttempts))
    #expect(pair.responderEvents[asked...] == [.refused(.pairingRequest, .repeatedAttempts)])
}

@Test("a pairing that a user refuses is no attempt: nothing was guessed")
func refusalsCountNoAttempt() throws {
    var pair = PairedMachines()
    pair.responderUser.accepts = false
    for _ in 0..<20 {
        try pair.pair()
        #expect(pair.responderFailure == .local(.unspecifiedReason))
        #expect(pair.initiatorFailure == .peer(.unspecifiedReason))
    }
    (pair.responderUser.accepts, pair.initiatorUser.accepts) = (true, false)
    try pair.pair()
    #expect(pair.initiatorFailure == .local(.unspecifiedReason))
    #expect(pair.initiator.attempts == PairingAttempts())
    // The responder has begun: its peer could have guessed.
    #expect(pair.responder.attempts.wait(at: pair.now) == pair.now + .seconds(1))
    // A refusal does not prolong the wait for what failed before.
    pair.now = pair.now + .seconds(1)
    pair.responderUser.accepts = false
    try pair.pair()
    #expect(pair.responder.attempts.wait(at: pair.now) == nil)
    (pair.responderUser.accepts, pair.initiatorUser.accepts) = (true, true)
    try pair.pair()
    #expect(pair.responderBond != nil)
}

@Test("a request that is too weak does not prolong the wait for what failed before")
func weakRequestsDoNotProlongTheWait() throws {
    var pair = PairedMachines(keyboard, display)
    pair.initiatorUser.passkey = Passkey(1)
    for _ in 0..<3 {
        try pair.pair()
        pair.now = try #require(pair.responder.attempts.wait(at: pair.now))
    }
    let failures = pair.responder.attempts
    pair.responder.policy.minimumKeySize = 16
    pair.initiator.policy.maximumKeySize = 7
    pair.initiator.policy.minimumKeySize = 7
    try pair.pair()
    #expect(pair.responderFailure == .local(.encryptionKeySize))
    #expect(pair.responder.attempts == failures)
}

@Test("the owner can forget the failures of a peer, except that of a pairing in progress")
func ownerForgetsAttempts() throws {
    var pair = PairedMachines(keyboard, display)
    pair.initiatorUser.passkey = Passkey(1)
    try pair.pair()
    pair.responder.forgetAttempts(at: pair.now)
    #expect(pair.responder.attempts == PairingAttempts())
    pair.now = pair.now + .seconds(1)
    (pair.initiatorUser.passkey, pair.stopsTyping) = (nil, true)
    try pair.pair()
    pair.responder.forgetAttempts(at: pair.now)
    let guess = try #require(Passkey(2))
    pair.initiator.answer(.passkey(guess), at: pair.now)
    pair.settle()
    #expect(pair.responder.attempts.wait(at: pair.now) == pair.now + .seconds(1))
}

@Test func waitBeginsWhenPairingFails() throws {
    var pair = PairedMachines(keyboard, display)
    pair.stopsTyping = true
    try pair.pair()
    pair.now = pair.now + .seconds(20)
    let guess = try #require(Passkey(1))
    pair.initiator.answer(.passkey(guess), at: pair.now)
    pair.settle()
    #expect(pair.responderFailure == .local(.confirmValueFailed))
    for machine in [pair.initiator, pair.responder] {
        #expect(machine.attempts.wait(at: pair.now) == pair.now + .seconds(1))
    }
}

@Test func successAndElapsedTimeEndTheWait() throws {
    var attempts = PairingAttempts()
    for second in 0..<5 { attempts.begin(at: Instant.zero + .seconds(second)) }
    #expect(attempts.wait(at: .zero + .seconds(19)) == .zero + .seconds(20))
    #expect(attempts.wait(at: .zero + .seconds(20)) == nil)
    attempts.begin(at: .zero + .seconds(3 * 3600 + 5))
    #expect(attempts.count == 3)
    attempts.begin(at: .zero + .seconds(1_000_000_000))
    #expect(attempts.count == 1)
    attempts.fail(at: .zero + .seconds(1_000_000_010))
    #expect(attempts.wait(at: .zero + .seconds(1_000_000_010)) == .zero + .seconds(1_000_000_011))
    attempts.succeed()
    attempts.fail(at: .zero + .seconds(1_000_000_020))
    #expect(attempts == PairingAttempts() || attempts.wait(at: .zero) == nil)

    var all = RepeatedAttempts(limit: 2)
    let peers = (0..<3).map { DeviceAddress(UInt64($0), type: .public) }
    var twice = PairingAttempts()
    twice.begin(at: .zero)
    twice.begin(at: .zero)
    all[peers[0]] = twice
    var once = PairingAttempts()
    once.begin(at: .zero)
    all[peers[1]] = once
    all[peers[2]] = once
    #expect(all[peers[0]] == twice)
    #expect(all[peers[1]].count == 0)
    #expect(all[peers[2]] == once)
}

@Test func fixedPasskeyIsShownUntilAttemptFails() throws {
    var policy = display
    policy.fixedPasskey = Passkey(123_456)
    var pair = PairedMachines(keyboard, policy)
    try pair.pair()
    #expect(pair.responderBond != nil)
    #expect(pair.responderEvents.contains(.display(try #require(Passkey(123_456)))))
    #expect(pair.responder.passkeyFailures == [:])

    pair.initiatorUser.passkey = Passkey(1)
    try pair.pair()
    #expect(pair.responder.passkeyFailures == [try #require(Passkey(123_456)): 1])
    #expect(pair.initiator.passkeyFailures == [try #require(Passkey(1)): 1])
    pair.now = pair.now + .seconds(1)
    pair.responderEvents = []
    pair.initiatorUser.passkey = nil
    try pair.pair()
    #expect(pair.responderBond != nil)
    #expect(!pair.responderEvents.contains(.display(try #require(Passkey(123_456)))))
}

@Test(
    "a link lost during pairing counts a passkey failure if the peer could learn of the passkey",
    arguments: [3, 4], 1...2)
func lostLinkCountsPasskeyFailure(code: UInt8, round: Int) throws {
    let fixed = try #require(Passkey(123_456))
    var policy = display
    policy.fixedPasskey = fixed
    var pair = PairedMachines(keyboard, policy)
    var count = 0
    pair.alter = { frame, _ in
        guard frame.from == .central, frame.octets.first == code else { return nil }
        count += 1
        return count >= round ? [] : nil
    }
    try pair.pair()
    #expect(pair.responder.passkeyFailures == [:])
    pair.responder.countFailure(at: pair.now)
    #expect(pair.responder.passkeyFailures == (code == 3 && round == 1 ? [:] : [fixed: 1]))
}

@Test("a passkey exhausted in the meantime proves no further bit") func exhaustedPasskeyProvesNoBit() throws {
    let fixed = try #require(Passkey(123_456))
    var policy = display
    policy.fixedPasskey = fixed
    var pair = PairedMachines(keyboard, policy)
    pair.stopsTyping = true
    try pair.pair()
    pair.responder.passkeyFailures[fixed] = SecurityManager.passkeyFailureLimit
    pair.stopsTyping = false
    pair.typeWhatIsShown()
    pair.settle()
    #expect(pair.responderFailure == .local(.passkeyEntryFailed))
    #expect(pair.frames.filter { $0.from == .peripheral && $0.octets.first == 3 }.isEmpty)
}

@Test(
    "a refused entry counts no failure, and a passkey is refused after three failed attempts"
)
func typedPasskeyIsRefusedAfterThreeFailures() throws {
    let fixed = try #require(Passkey(123_456))
    var policy = display
    policy.fixedPasskey = fixed
    var pair = PairedMachines(keyboard, policy)
    pair.stopsTyping = true
    try pair.pair()
    pair.initiator.answer(.refuse(.passkeyEntryFailed), at: pair.now)
    pair.settle()
    #expect(pair.responderFailure == .peer(.passkeyEntryFailed))
    #expect(pair.responder.passkeyFailures == [:] && pair.initiator.passkeyFailures == [:])
    pair.stopsTyping = false
    let typed = try #require(Passkey(1))
    pair.initiatorUser.passkey = typed
    for count in 1...4 {
        pair.now = pair.now + .seconds(1000)
        try pair.pair()
        #expect(
            pair.responderFailure == (count < 4 ? .local(.confirmValueFailed) : .peer(.passkeyEntryFailed)))
        #expect(pair.initiator.passkeyFailures == [typed: min(count, 3)])
    }
}

/// Each bit of a passkey has its own random numbers, so the proof of one bit proves no other.
@Test func replayedPasskeyProofsAreRefused() throws {
    var pair = PairedMachines(keyboard, display)
    try pair.pair()
    for role in [LinkRole.central, .peripheral] {
        let numbers = pair.frames.filter { $0.from == role && $0.octets.first == 4 }.map(\.octets)
        #expect(numbers.count == 20)
        #expect(Set(numbers).count == 20)
    }

    // An initiator that replays the proofs of an earlier pairing is refused, because the keys have changed.
    let recorded = pair.frames.filter { $0.from == .central && [3, 4].contains($0.octets.first) }.map(
        \.octets)
    var next = 0
    pair.frames = []
    pair.alter = { frame, _ in
        guard frame.from == .central, [3, 4].contains(frame.octets.first), next < recorded.count else {
            return nil
        }
        next += 1
        return recorded[next - 1]
    }
    try pair.pair()
    #expect(pair.responderFailure == .local(.confirmValueFailed))
    #expect(next == 2)
}

@Test func proofOfOneBitDoesNotProveNext() throws {
    var fixed = display
    // The two lowest bits are 0 and 1, the lowest first.
    fixed.fixedPasskey = Passkey(0b10)
    var pair = PairedMachines(keyboard, fixed)
    var recorded: [UInt8: [UInt8]] = [:]
    var rounds = 0
    pair.alter = { frame, _ in
        guard frame.from == .central, let code = frame.octets.first, code == 3 || code == 4 else {
            return nil
        }
        if code == 4 { rounds += 1 }
        defer { if recorded[code] == nil { recorded[code] = frame.octets } }
        return recorded[code]
    }
    try pair.pair()
    #expect(pair.responderFailure == .local(.confirmValueFailed))
    #expect(rounds == 2)
}

// MARK: - Proofs that are wrong

@Test(arguments: [LinkRole.central, .peripheral], [true, false])
func wrongConfirmAndRandomValuesAreRefused(from role: LinkRole, isSecure: Bool) throws {
    for code in [SMPCode.pairingConfirm, .pairingRandom] {
        for occurrence in isSecure ? [0, 7, 19] : [0] {
            var pair = PairedMachines(
                isSecure ? keyboard : legacy(keyboard), isSecure ? display : legacy(display))
            pair.alter = flipping(code, of: role, occurrence: occurrence)
            try pair.pair()
            #expect(pair.failure(of: role.peer) == .local(.confirmValueFailed))
            #expect(pair.failure(of: role) == .peer(.confirmValueFailed))
        }
    }
}

@Test func wrongCommitmentIsRefused() throws {
    for code in [SMPCode.pairingConfirm, .pairingRandom] {
        var pair = PairedMachines()
        pair.alter = flipping(code, of: .peripheral)
        try pair.pair()
        #expect(pair.initiatorFailure == .local(.confirmValueFailed))
    }
}

@Test(arguments: [LinkRole.central, .peripheral])
func wrongDHKeyChecksAreRefused(from role: LinkRole) throws {
    for io in [IOCapability.noInputNoOutput, .displayYesNo] {
        var pair = PairedMachines(PairingPolicy(ioCapability: io), PairingPolicy(ioCapability: io))
        pair.alter = flipping(.pairingDHKeyCheck, of: role)
        try pair.pair()
        #expect(pair.failure(of: role.peer) == .local(.dhKeyCheckFailed))
        #expect(pair.failure(of: role) == .peer(.dhKeyCheckFailed))
    }
}

/// The DHKey Check detects an attacker that changes the authentication requirements in the features.
@Test func alteredFeaturesFailDHKeyCheck() throws {
    for isRequest in [true, false] {
        var pair = PairedMachines()
        pair.alter = { frame, _ in
            frame.octets.first == (isRequest ? 1 : 2) ? frame.octets.replacing(3, with: 0x0d) : nil
        }
        try pair.pair()
        #expect(pair.failure(of: isRequest ? .peripheral : .central) == .local(.dhKeyCheckFailed))
        #expect(pair.failure(of: isRequest ? .central : .peripheral) == .peer(.dhKeyCheckFailed))
    }
}

@Test func reflectedConfirmValueIsRefused() throws {
    var pair = PairedMachines(legacy(PairingPolicy()), PairingPolicy())
    var sent: [UInt8] = []
    pair.alter = { frame, _ in
        guard frame.octets.first == 3 else { return nil }
        if frame.from == .central { sent = frame.octets }
        return sent
    }
    try pair.pair()
    #expect(pair.initiatorFailure == .local(.confirmValueFailed))
}

@Test func numericComparisonMismatchFailsPairing() throws {
    for role in [LinkRole.central, .peripheral] {
        var pair = PairedMachines(
            PairingPolicy(ioCapability: .displayYesNo), PairingPolicy(ioCapability: .keyboardDisplay))
        if role == .central {
            pair.initiatorUser.compares = false
        } else {
            pair.responderUser.compares = false
        }
        try pair.pair()
        #expect(pair.failure(of: role) == .local(.numericComparisonFailed))
        #expect(pair.failure(of: role.peer) == .peer(.numericComparisonFailed))
    }
}

// MARK: - Downgrades

@Test func bondIsNotReplacedByWeakerOne() throws {
    let strong = PairingStrength(isAuthenticated: true, isSecureConnections: true)
    let authenticated = PairingStrength(isAuthenticated: true, isSecureConnections: false)
    let secure = PairingStrength(isAuthenticated: false, isSecureConnections: true)
    let cases: [(PairingStrength, PairingPolicy, PairingFailureReason)] = [
        (strong, PairingPolicy(), .authenticationRequirements),
        (authenticated, PairingPolicy(), .authenticationRequirements),
        (secure, legacy(PairingPolicy()), .authenticationRequirements),
        (strong, legacy(keyboard), .authenticationRequirements),
    ]
    for (existing, peer, reason) in cases {
        var policy = PairingPolicy(ioCapability: .keyboardDisplay)
        policy.existing = existing
        var pair = PairedMachines(peer, policy)
        try pair.pair()
        #expect(pair.responderFailure == .local(reason))
        #expect(!pair.responderEvents.contains { if case .pairingRequested = $0 { true } else { false } })

        pair = PairedMachines(policy, peer)
        try pair.pair()
        #expect(pair.initiatorFailure == .local(reason))
    }

    var short = PairingPolicy()
    (short.minimumKeySize, short.maximumKeySize) = (7, 15)
    var policy = PairingPolicy()
    policy.minimumKeySize = 7
    policy.existing = PairingStrength(isAuthenticated: false, isSecureConnections: true, keySize: 16)
    var pair = PairedMachines(short, policy)
    try pair.pair()
    #expect(pair.responderFailure == .local(.encryptionKeySize))
}

@Test func linkDoesNotRebondWithWeakerSecurity() throws {
    var pair = PairedMachines(
        PairingPolicy(ioCapability: .displayYesNo), PairingPolicy(ioCapability: .displayYesNo))
    try pair.pair()
    #expect(pair.responderBond != nil)
    pair.initiator.policy = PairingPolicy()
    try pair.pair()
    #expect(pair.responderFailure == .local(.authenticationRequirements))
}

/// A peer that lost its bond is treated like a new peer: it pairs only after the owner has agreed.
@Test func pairingRequestWaitsForAcceptance() throws {
    var policy = PairingPolicy()
    policy.existing = PairingStrength(isAuthenticated: false, isSecureConnections: true)
    var machine = PairedMachines(PairingPolicy(), policy).responder
    let request = PairingFeatures(
        ioCapability: .noInputNoOutput, authentication: [.bonding, .secureConnections])
    machine.receive(SMPCommand.pairingRequest(request).encoded, at: .zero)
    #expect(machine.nextEvent() == .pairingRequested(request))
    #expect(machine.frame() == nil)
    machine.answer(.refuse(.pairingNotSupported), at: .zero)
    #expect(machine.frame() == [5, 5])
    #expect(machine.nextEvent() == .failed(.local(.pairingNotSupported)))
}

// MARK: - Keys

@Test(arguments: [SMPCode.encryptionInformation, .identityInformation, .signingInformation])
func keysOnUnencryptedLinkAreRefused(code: SMPCode) throws {
    for isSecure in [true, false] {
        var machine = PairedMachines(isSecure ? PairingPolicy() : legacy(PairingPolicy()))
        // The link layer never reports encryption.
        machine.stopsAtEncryption = true
        try machine.pair()
        #expect(machine.initiator.isPairing)
        machine.initiator.receive([code.rawValue] + [UInt8](repeating: 1, count: 16), at: machine.now)
        #expect(machine.initiator.frame() == [5, 8])
        #expect(machine.initiator.nextEvent() == .failed(.local(.unspecifiedReason)))
    }
}

@Test func failedEncryptionCreatesNoBond() throws {
    var pair = PairedMachines()
    pair.stopsAtEncryption = true
    try pair.pair()
    pair.initiator.encryptionChanged(isOn: false, at: pair.now)
    pair.settle()
    #expect(pair.initiatorFailure == .encryption)
    #expect(pair.responderFailure == .peer(.unspecifiedReason))
}

@Test(
    "an identity address that is none, or that of this host, is refused",
    arguments: [0x4000_0000_0001, 0x0000_0000_0001, 0x8000_0000_0001, 0xc000_0000_0000, 0xffff_ffff_ffff].map
    {
        DeviceAddress($0, type: .random)
    } + [
        DeviceAddress(0, type: .public), DeviceAddress(0xffff_ffff_ffff, type: .public),
        PairedMachines.responderIdentity.address,
    ])
func impossibleIdentityAddressIsRefused(address: DeviceAddress) throws {
    var pair = PairedMachines()
    pair.alter = { frame, _ in
        frame.from == .central && frame.octets.first == 9
            ? SMPCommand.identityAddressInformation(address).encoded : nil
    }
    try pair.pair()
    #expect(pair.responderFailure == .local(.invalidParameters))
}

extension LinkRole {
    fileprivate var peer: LinkRole { self == .central ? .peripheral : .central }
}

extension PairedMachines {
    fileprivate func failure(of role: LinkRole) -> PairingFailure? {
        role == .central ? initiatorFailure : responderFailure
    }
}

extension [UInt8] {
    fileprivate func replacing(_ index: Int, with octet: UInt8) -> [UInt8] {
        var copy = self
        copy[index] = octet
        return copy
    }
}
#endif
