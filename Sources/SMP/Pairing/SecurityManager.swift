import BLECore
import DequeModule

/// The security manager of one link: LE legacy pairing and LE Secure Connections, as central or peripheral
/// (Core Specification 5.4, Vol 3, Part H). Keys of the other transport, BR/EDR, are neither derived nor
/// distributed.
///
/// ```swift
/// try manager.begin(.encryption, at: now)
/// manager.receive(frame, at: now)
/// while manager.nextFrame(into: &output, at: now) { transport.send(output) }
/// while let event = manager.nextEvent() {
///     switch event {
///     case .encrypt(let key): enableEncryption(key)  // then manager.encryptionChanged(isOn:at:)
///     case .paired(let bond, let isBonding): if isBonding { keep(bond) }
///     default: handle(event)
///     }
/// }
/// ```
/// Sending a frame can generate events too: `.paired` is reported when the last key has been sent. Whatever a
/// peer sends, the worst outcome is `.failed`. A later pairing on the same link can succeed, except after a
/// timeout.
package struct SecurityManager: Machine, Sendable {
    /// The role of this host on the link.
    package let role: LinkRole
    /// The pairing policy. A change applies to the next pairing.
    package var policy: PairingPolicy
    /// The attempts with this peer. The owner sets them from earlier links and stores them for later links.
    package var attempts = PairingAttempts()
    /// The attempts before the pairing in progress, if that is one.
    private var attemptsBefore: PairingAttempts?
    /// The number of failed attempts with each passkey that could be used again, on this link, or on other
    /// links if the owner adds them. Each failed attempt reveals some bits of the passkey to an attacker
    /// (Core Specification 5.4, Vol 3, Part H, 2.3.5.6.3), so a passkey is not used after three failures;
    /// fewer would not allow for typing errors and lost links. On the link itself, a fixed passkey is not
    /// displayed again after the first failure.
    package var passkeyFailures: [Passkey: Int] = [:]
    /// Whether the fixed passkey has been part of an attempt that failed on this link.
    private var hasFailedWithFixedPasskey = false
    /// The number of failures after which a passkey is no longer used.
    package static let passkeyFailureLimit = 3

    private let own: DeviceAddress
    private let peer: DeviceAddress
    private let identity: LocalIdentity
    private let toolbox: (any SecurityToolbox)?
    private var random: any RandomNumberGenerator & Sendable

    private var events = Deque<Event>()
    private var outbox = Deque<SMPCommand>()
    private var refusal = PairingRefusal()
    /// The pairing before its features are exchanged; at most one of `negotiation` and `pairing` is set.
    private var negotiation: Negotiation?
    private var pairing: Pairing?
    /// Peripheral: the requirements of the Security Request that was sent. Central: set while a received
    /// Security Request is pending.
    private var securityRequest: PairingRequirements?
    /// The end of the SMP timeout (3.4): thirty seconds after the last packet was queued.
    private var timer: Instant?
    /// Whether a pairing on this link has timed out.
    package internal(set) var hasTimedOut = false

    /// Creates the machine of a new link. `own` and `peer` are the addresses on air with which the link was
    /// established. Without a toolbox, the machine refuses to pair.
    package init(
        role: LinkRole, own: DeviceAddress, peer: DeviceAddress, policy: PairingPolicy,
        identity: LocalIdentity,
        toolbox: (any SecurityToolbox)? = SecurityManager.defaultToolbox,
        random: some RandomNumberGenerator & Sendable
    ) {
        self.role = role
        self.own = own
        self.peer = peer
        self.policy = policy
        self.identity = identity
        self.toolbox = toolbox
        self.random = random
    }

    /// Whether a pairing is under way.
    package var isPairing: Bool { negotiation != nil || pairing != nil }

    /// Processes one packet. Codes that are reserved for future use are ignored (3.3).
    package mutating func receive(_ frame: Span<UInt8>, at now: Instant) {
        guard !hasTimedOut, frame.count > 0, SMPCode(rawValue: frame[0]).octets != nil else { return }
        guard toolbox != nil else {
            refusal.receive(frame, at: now)
            return
        }
        do throws(DecodeError) {
            try receive(SMPCommand(frame), at: now)
        } catch {
            receiveMalformed(SMPCode(rawValue: frame[0]), at: now)
        }
    }

    /// Ends a pairing, or the wait for an answer to a Security Request, when its timeout has expired.
    package mutating func expire(at now: Instant) {
        guard let due = timer, due <= now else { return }
        // A central that never answered Security Request has not begun a pairing, so it can still begin one.
        hasTimedOut = isPairing
        if isPairing { outbox.removeAll() }
        end(.timeout, at: now)
    }

    package mutating func nextFrame(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        guard let command = outbox.popFirst() else { return refusal.nextFrame(into: &output, at: now) }
        command.encode(into: &output)
        finishIfDone()
        return true
    }

    package mutating func nextEvent() -> Event? {
        if let event = events.popFirst() { return event }
        guard case .refused(let code, let reason) = refusal.nextEvent() else { return nil }
        return .refused(code, reason)
    }

    /// The time when the pairing, or the wait for an answer to Security Request, times out.
    package var deadline: Instant? { timer }
}

extension SecurityManager {
    /// Processes the link layer's report that the link is now encrypted, with a new key or after a key
    /// refresh, or that encryption could not be started.
    package mutating func encryptionChanged(isOn: Bool, at now: Instant) {
        let early = pairing?.early ?? []
        pairing?.early = []
        switch pairing?.step {
        case .encryption where isOn:
            distributeKeys(at: now)
            // Keys that were received before this report, in a pairing that may have ended meanwhile.
            for command in early where pairing != nil { receive(command, at: now) }
        case .encryption, .keys:
            if !isOn { fail(.unspecifiedReason, as: .encryption, at: now) }
        case nil where negotiation == nil && isOn:
            // Security Request is answered with the key of a bond.
            securityRequest = nil
            timer = nil
        default: break
        }
    }

    /// Notes that the controller has been given the key of the pairing. From then on it accepts only encrypted
    /// data, which can arrive before the report of the encryption, because events and data take different ways.
    package mutating func keyWasGiven() {
        if pairing?.step == .encryption { pairing?.isKeyGiven = true }
    }

    /// Cancels the pairing and notifies the peer. Without a pairing, a peripheral stops waiting for the
    /// answer to its Security Request, and a central can still act on a Security Request that it has
    /// received.
    package mutating func cancel(at now: Instant) {
        guard isPairing else {
            if role == .peripheral { (securityRequest, timer) = (nil, nil) }
            return
        }
        let isTyping = pairing.map { $0.method.isEntered(by: role) && $0.passkey == nil } ?? false
        fail(isTyping ? .passkeyEntryFailed : .unspecifiedReason, as: .cancelled, at: now)
    }

    mutating func send(_ command: SMPCommand, at now: Instant) {
        outbox.append(command)
        timer = now + .seconds(30)
    }

    /// Ends the pairing and sends Pairing Failed to the peer, in place of all packets that are still queued.
    mutating func fail(
        _ reason: PairingFailureReason, as failure: PairingFailure? = nil, at now: Instant
    ) {
        outbox.removeAll()
        outbox.append(.pairingFailed(reason))
        end(failure ?? .local(reason), at: now)
    }

    mutating func end(_ failure: PairingFailure, at now: Instant) {
        countFailure(at: now)
        attemptsBefore = nil
        negotiation = nil
        pairing = nil
        securityRequest = nil
        timer = nil
        events.append(.failed(failure))
    }
}

extension SecurityManager {
    /// An event that the machine reports to its owner. The comments on events that require an `answer` name
    /// the answer.
    package enum Event: Hashable, Sendable {
        /// Central: the peripheral requests security. Encrypt with the key of the bond, call `begin`, or
        /// answer `.refuse`.
        case securityRequested(AuthenticationRequirements)
        /// Peripheral: the central requests pairing. The machine waits for `.accept` or `.refuse`. If there
        /// is a bond with the peer, the peer has lost it, or is another device that uses the peer's address.
        case pairingRequested(PairingFeatures)
        /// Central: the pairing method is Just Works. Answer `.accept` or `.refuse`.
        case confirm
        /// Display the passkey until the pairing ends; the user enters it on the peer.
        case display(Passkey)
        /// The user enters the passkey that the peer displays. Answer `.passkey` or
        /// `.refuse(.passkeyEntryFailed)`. Between this event and the answer, `press` notifies the peer of
        /// keypresses.
        case enterPasskey
        /// Both devices display this number for the users to compare. Answer `.comparison`.
        case compare(Passkey)
        /// The machine requests the peer's out-of-band data. Answer `.outOfBand`.
        case outOfBandWanted
        /// The peer's user is entering a passkey.
        case keypress(KeypressNotification)
        /// Central: start encryption with this key, then call `encryptionChanged`.
        case encrypt(LongTermKey)
        /// Peripheral: the answer to the controller's next request for a long term key, whatever its EDIV and
        /// Rand.
        case provide(LongTermKey)
        /// The pairing has succeeded, and all keys are distributed. Without bonding the keys are for this
        /// link only. The peer itself declares its identity, so the bond must not replace a stronger bond
        /// with that identity that the policy did not have as `existing`.
        case paired(Bond, isBonding: Bool)
        /// The pairing has failed with this error.
        case failed(PairingFailure)
        /// A packet with this code was refused with this reason: there is no toolbox, the peer must wait
        /// after failed attempts, the owner refused a Security Request, or the packet belongs to no pairing
        /// in progress.
        case refused(SMPCode, PairingFailureReason)
    }
}

extension SecurityManager {
    /// Begins a pairing. A central sends Pairing Request. A peripheral sends Security Request; its central
    /// then encrypts with the key of a bond, pairs, or does nothing. A pairing ends with `.paired` or
    /// `.failed`.
    package mutating func begin(
        _ wanted: PairingRequirements, at now: Instant
    ) throws(PairingImpossible) {
        guard toolbox != nil else { throw .unsupported }
        guard !hasTimedOut else { throw .timedOut }
        guard !isPairing, role == .central || securityRequest == nil else { throw .busy }
        let demand = policy.demand(wanted)
        // If the existing bond is sufficient, the central only has to encrypt with its key.
        let isMetByBond = role == .peripheral && policy.existing?.isWeaker(than: demand) == false
        guard isMetByBond || policy.canMeet(demand) else { throw .requirements }
        if let end = attempts.wait(at: now) { throw .repeatedAttempts(until: end) }
        switch role {
        case .central:
            securityRequest = nil
            var negotiation = Negotiation(.response, policy, demand)
            let asks = policy.asksForOutOfBandData && negotiation.outOfBandData == nil
            if asks { negotiation.step = .outOfBand }
            self.negotiation = negotiation
            timer = now + .seconds(30)
            if asks { events.append(.outOfBandWanted) } else { sendRequest(at: now) }
        case .peripheral:
            securityRequest = wanted
            let features = Negotiation(.acceptance, policy, demand).initiatorFeatures()
            send(.securityRequest(features.authentication), at: now)
        }
    }

    /// Returns whether there can be a peer with which this host meets `wanted`.
    package func canMeet(_ wanted: PairingRequirements) -> Bool { policy.canMeet(policy.demand(wanted)) }

    /// Answers an event that the machine has reported.
    package mutating func answer(_ answer: PairingAnswer, at now: Instant) {
        switch answer {
        case .accept where negotiation?.step == .acceptance: accept(at: now)
        case .accept where pairing?.step == .consent: startAuthentication(at: now)
        case .refuse(let reason) where negotiation?.step == .acceptance || pairing?.step == .consent:
            refusePairing(reason, at: now)
        case .refuse(let reason) where isPairing: fail(reason, at: now)
        case .refuse(let reason) where role == .central && securityRequest != nil:
            securityRequest = nil
            // `refusal` holds a single answer, so that a peer that keeps sending requests without receiving
            // answers cannot exhaust memory.
            refusal.refuse(.securityRequest, reason)
        case .outOfBand(let data) where negotiation?.step == .outOfBand:
            negotiation?.outOfBandData = data
            role == .central ? sendRequest(at: now) : sendResponse(at: now)
        case .passkey(let passkey): enter(passkey, at: now)
        case .comparison(let isSame) where pairing?.step == .comparison:
            if isSame { exchangeChecks(at: now) } else { fail(.numericComparisonFailed, at: now) }
        default: break
        }
    }

    /// Notifies the peer of a keypress, if both devices support keypress notifications (3.5.8).
    package mutating func press(_ key: KeypressNotification, at now: Instant) {
        guard let pairing, pairing.passkey == nil, pairing.reportsKeypresses(of: role),
            pairing.step != .publicKey, pairing.step != .consent
        else { return }
        send(.pairingKeypressNotification(key), at: now)
    }

    private mutating func accept(at now: Instant) {
        guard let negotiation else { return }
        if negotiation.policy.asksForOutOfBandData, negotiation.outOfBandData == nil {
            self.negotiation?.step = .outOfBand
            events.append(.outOfBandWanted)
        } else {
            sendResponse(at: now)
        }
    }

    private mutating func sendRequest(at now: Instant) {
        guard let request = negotiation?.initiatorFeatures() else { return }
        negotiation?.request = request
        negotiation?.step = .response
        send(.pairingRequest(request), at: now)
    }

    private mutating func sendResponse(at now: Instant) {
        guard let negotiation, let request = negotiation.request else { return }
        let response = negotiation.responderFeatures(to: request)
        // Unsuitable features are refused here, before Pairing Response lets the initiator continue.
        if let reason = refusalOfFeatures(request, response, negotiation) {
            refusePairing(reason, at: now)
            return
        }
        send(.pairingResponse(response), at: now)
        agree(request, response, negotiation, at: now)
    }
}

/// Phase 1: features (Core Specification 5.4, Vol 3, Part H, 2.3.1 to 2.3.4).
extension SecurityManager {
    mutating func receive(_ command: SMPCommand, at now: Instant) {
        switch command {
        case .pairingFailed(let reason):
            // A central can also answer a peripheral's Security Request with Pairing Failed (2.4.6).
            guard isPairing || role == .peripheral && securityRequest != nil else { return }
            outbox.removeAll()
            end(.peer(reason), at: now)
        case .pairingRequest(let request) where role == .peripheral && !isPairing:
            receiveRequest(request, at: now)
        case .pairingResponse(let response) where negotiation?.step == .response:
            receiveResponse(response, at: now)
        case .securityRequest(let requirements) where role == .central:
            // A Security Request during a pairing is ignored (2.4.6).
            guard !isPairing else { return }
            securityRequest = .encryption
            events.append(.securityRequested(requirements))
        case .pairingRequest where role == .central, .securityRequest where role == .peripheral,
            .pairingResponse where role == .peripheral:
            refuse(command.code, .commandNotSupported, at: now)
        case .pairingPublicKey(let key) where pairing?.step == .publicKey: receivePublicKey(key, at: now)
        case .pairingConfirm(let value) where pairing?.step == .confirm: receiveConfirm(value, at: now)
        case .pairingRandom(let value) where pairing?.step == .random: receiveRandom(value, at: now)
        case .pairingDHKeyCheck(let value): receiveCheck(value, at: now)
        case .pairingKeypressNotification(let key): receiveKeypress(key, at: now)
        case .encryptionInformation, .centralIdentification, .identityInformation,
            .identityAddressInformation,
            .signingInformation:
            receiveKey(command, at: now)
        default: refuse(command.code, .unspecifiedReason, at: now)
        }
    }

    /// Refuses an unexpected packet: ends the pairing in progress, or, without one, sends the reason, so that
    /// the peer does not wait for its timeout.
    mutating func refuse(_ code: SMPCode, _ reason: PairingFailureReason, at now: Instant) {
        if isPairing { fail(reason, at: now) } else { refusal.refuse(code, reason) }
    }

    private mutating func receiveMalformed(_ code: SMPCode, at now: Instant) {
        guard code != .pairingFailed else {
            receive(.pairingFailed(.unspecifiedReason), at: now)
            return
        }
        refuse(code, .invalidParameters, at: now)
    }

    private mutating func receiveRequest(_ request: PairingFeatures, at now: Instant) {
        let wanted = securityRequest ?? .encryption
        let demand = policy.demand(wanted)
        let negotiation = Negotiation(.acceptance, policy, demand)
        if attempts.wait(at: now) != nil {
            refusal.refuse(.pairingRequest, .repeatedAttempts)
            return
        }
        if let reason = Self.problem(of: request) {
            fail(reason, at: now)
            return
        }
        securityRequest = nil
        self.negotiation = negotiation
        self.negotiation?.request = request
        timer = now + .seconds(30)
        // While out-of-band data is still outstanding, the response to the request is not known.
        if !policy.asksForOutOfBandData || negotiation.outOfBandData != nil,
            let reason = refusalOfFeatures(request, negotiation.responderFeatures(to: request), negotiation)
        {
            fail(reason, at: now)
            return
        }
        beginAttempt(at: now)
        events.append(.pairingRequested(request))
    }

    private mutating func receiveResponse(_ response: PairingFeatures, at now: Instant) {
        guard let negotiation, let request = negotiation.request else { return }
        if let reason = Self.problem(of: response) ?? refusalOfFeatures(request, response, negotiation) {
            fail(reason, at: now)
            return
        }
        beginAttempt(at: now)
        agree(request, response, negotiation, at: now)
    }

    private mutating func beginAttempt(at now: Instant) {
        attemptsBefore = attempts
        attempts.begin(at: now)
    }

    /// Ends a pairing that this host refuses before the peer could guess, which counts as no attempt: a device that
    /// has lost its bond and asks again and again has not to wait once it is welcome.
    private mutating func refusePairing(_ reason: PairingFailureReason, at now: Instant) {
        let before = attemptsBefore ?? attempts
        fail(reason, at: now)
        attempts = before
    }

    /// Forgets the failed pairings with this peer. One in progress counts as the first.
    package mutating func forgetAttempts(at now: Instant) {
        attempts = PairingAttempts()
        guard attemptsBefore != nil else { return }
        beginAttempt(at: now)
    }

    /// Returns the failure reason if the features have values that no device is allowed to send; nil if they
    /// are valid.
    private static func problem(of features: PairingFeatures) -> PairingFailureReason? {
        guard features.ioCapability.rawValue <= IOCapability.keyboardDisplay.rawValue,
            features.oobData.rawValue <= OOBData.present.rawValue, features.maximumKeySize <= 16
        else { return .invalidParameters }
        return features.maximumKeySize < 7 ? .encryptionKeySize : nil
    }

    /// Returns why the features of both devices do not meet the demand; nil when they do.
    private func refusalOfFeatures(
        _ request: PairingFeatures, _ response: PairingFeatures, _ negotiation: Negotiation
    ) -> PairingFailureReason? {
        let pairing = Pairing(of: peer, with: identity.address, as: role, negotiation, request, response)
        let strength = pairing.bond.strength
        if strength.keySize < negotiation.demand.keySize { return .encryptionKeySize }
        if strength.isWeaker(than: negotiation.demand) { return .authenticationRequirements }
        guard pairing.method == .outOfBand else { return nil }
        // The peer's OOB flag states that it has out-of-band data of this host. A host that has provided no
        // data cannot prove that it knows them.
        if pairing.peerFeatures.oobData == .present, pairing.isSecureConnections,
            negotiation.policy.outOfBandOffer?.keyPair == nil
        {
            return .oobNotAvailable
        }
        switch (pairing.outOfBandData, pairing.isSecureConnections) {
        case (.temporaryKey, false), (.secureConnections, true): return nil
        case (_, true) where pairing.ownFeatures.oobData == .notPresent: return nil
        default: return .oobNotAvailable
        }
    }

    /// Continues the pairing when both devices have exchanged their features.
    mutating func agree(
        _ request: PairingFeatures, _ response: PairingFeatures, _ negotiation: Negotiation, at now: Instant
    ) {
        let pairing = Pairing(of: peer, with: identity.address, as: role, negotiation, request, response)
        self.negotiation = nil
        self.pairing = pairing
        if role == .central, pairing.method == .justWorks {
            self.pairing?.step = .consent
            events.append(.confirm)
        } else {
            startAuthentication(at: now)
        }
    }

    private mutating func startAuthentication(at now: Instant) {
        guard let pairing else { return }
        if pairing.isSecureConnections { startPublicKeys(at: now) } else { startLegacy(at: now) }
    }
}

/// Phase 2 of LE Secure Connections up to the two random numbers (Core Specification 5.4, Vol 3, Part H,
/// 2.3.5.6.1 to 2.3.5.6.4).
extension SecurityManager {
    /// Starts the exchange of public keys: the initiator sends its key, and the responder waits for it.
    private mutating func startPublicKeys(at now: Instant) {
        pairing?.step = .publicKey
        if role == .central { sendPublicKey(at: now) }
    }

    /// Sends this host's public key: the key that the peer knows out of band, otherwise a new key for each
    /// pairing.
    private mutating func sendPublicKey(at now: Instant) {
        guard let toolbox, let pairing else { return }
        let offered = pairing.method == .outOfBand ? pairing.policy.outOfBandOffer?.keyPair : nil
        guard let pair = offered ?? toolbox.keyPair(using: &random) else {
            fail(.unspecifiedReason, at: now)
            return
        }
        self.pairing?.keyPair = pair
        send(.pairingPublicKey(pair.publicKey), at: now)
    }

    private mutating func receivePublicKey(_ key: PairingPublicKey, at now: Instant) {
        if role == .peripheral { sendPublicKey(at: now) }
        guard let toolbox, let pairing, let pair = pairing.keyPair else { return }
        // A peer that sends this host's own key back could reflect all values of this host. Only X is
        // compared, because the sign of Y does not matter.
        guard key.x != pair.publicKey.x, let dhKey = toolbox.sharedSecret(of: pair, with: key) else {
            fail(.dhKeyCheckFailed, at: now)
            return
        }
        guard key.x != PairingPublicKey.debug.x || pairing.policy.takesDebugKey else {
            fail(.authenticationRequirements, at: now)
            return
        }
        self.pairing?.exchange = KeyExchange(own: pair, peer: key, dhKey: dhKey)
        switch pairing.method {
        case .justWorks, .numericComparison:
            // The responder commits before it receives the initiator's random number (2.3.5.6.2).
            if role == .peripheral { commit(at: now) } else { self.pairing?.step = .confirm }
        case .passkeyShown, .passkeyEnteredByBoth:
            self.pairing?.proceed(initiator: .passkey, responder: .confirm)
            prompt()
            if role == .central { commit(at: now) }
        case .outOfBand: checkOutOfBand(key, toolbox, at: now)
        }
    }

    /// Checks that the peer's public key matches the confirm value that was received out of band (2.3.5.6.4).
    private mutating func checkOutOfBand(
        _ key: PairingPublicKey, _ toolbox: any SecurityToolbox, at now: Instant
    ) {
        if case .secureConnections(let confirm, let value) = pairing?.outOfBandData,
            toolbox.f4(key.x, key.x, value, 0) != confirm
        {
            fail(.confirmValueFailed, at: now)
            return
        }
        pairing?.step = .random
        if role == .central { sendNewRandom(at: now) }
    }
}

/// Pairing Confirm and Pairing Random: a device commits to a random number before it reveals it (Core
/// Specification 5.4, Vol 3, Part H, 2.3.5.5, 2.3.5.6.2 and 2.3.5.6.3).
extension SecurityManager {
    /// Returns the confirm value that the device with role `maker` sends for a random number; nil while the
    /// user enters the passkey.
    private func commitment(to value: UInt128, by maker: LinkRole) -> UInt128? {
        guard let toolbox, let pairing else { return nil }
        guard pairing.isSecureConnections else {
            return pairing.temporaryKey.map {
                toolbox.c1(
                    $0, value, request: pairing.request, response: pairing.response,
                    initiator: role == .central ? own : peer, responder: role == .central ? peer : own)
            }
        }
        guard let exchange = pairing.exchange, let bit = pairing.committedBit else { return nil }
        let (ours, theirs) = (exchange.own.publicKey.x, exchange.peer.x)
        return maker == role ? toolbox.f4(ours, theirs, value, bit) : toolbox.f4(theirs, ours, value, bit)
    }

    /// Sends Pairing Confirm if it is this host's turn and the passkey is known. The initiator sends it
    /// first, except where only the responder commits.
    mutating func commit(at now: Instant) {
        guard let pairing, !pairing.waitsForPasskey,
            role == .central
                ? pairing.step == .passkey : pairing.peerConfirm != nil || pairing.onlyResponderCommits
        else { return }
        // Pairings on other links can have failed with this passkey in the meantime.
        if let passkey = pairing.passkey, isSpent(passkey) { return fail(.passkeyEntryFailed, at: now) }
        let value = random.number()
        guard let confirm = commitment(to: value, by: role) else { return }
        self.pairing?.ownRandom = value
        self.pairing?.ownConfirm = confirm
        self.pairing?.proceed(initiator: .confirm, responder: .random)
        send(.pairingConfirm(confirm), at: now)
    }

    private mutating func receiveConfirm(_ value: UInt128, at now: Instant) {
        guard let pairing, pairing.peerConfirm == nil else {
            fail(.unspecifiedReason, at: now)
            return
        }
        // In legacy pairing both devices calculate the confirm value in the same way, so a value that is sent
        // back proves nothing.
        guard value != pairing.ownConfirm else {
            fail(.confirmValueFailed, at: now)
            return
        }
        self.pairing?.peerConfirm = value
        guard role == .central else {
            commit(at: now)
            return
        }
        self.pairing?.step = .random
        if pairing.onlyResponderCommits {
            sendNewRandom(at: now)
        } else {
            send(.pairingRandom(pairing.ownRandom), at: now)
        }
    }

    /// Sends a random number for which no confirm value was sent.
    private mutating func sendNewRandom(at now: Instant) {
        let value = random.number()
        pairing?.ownRandom = value
        send(.pairingRandom(value), at: now)
    }

    private mutating func receiveRandom(_ value: UInt128, at now: Instant) {
        guard let toolbox, let pairing else { return }
        guard !pairing.isCommitted(role.other) || commitment(to: value, by: role.other) == pairing.peerConfirm
        else {
            fail(.confirmValueFailed, at: now)
            return
        }
        if role == .peripheral {
            if pairing.isCommitted(role) {
                send(.pairingRandom(pairing.ownRandom), at: now)
            } else {
                sendNewRandom(at: now)
            }
        }
        if !pairing.isSecureConnections {
            finishLegacy(peerRandom: value, toolbox)
        } else if pairing.hasMoreBits {
            self.pairing?.round += 1
            self.pairing?.peerConfirm = nil
            self.pairing?.proceed(initiator: .passkey, responder: .confirm)
            if role == .central { commit(at: now) }
        } else {
            finishAuthentication(peerRandom: value, at: now)
        }
    }
}

/// Passkey entry by the user, in both kinds of pairing (Core Specification 5.4, Vol 3, Part H, 2.3.5.3 and
/// 2.3.5.6.3).
extension SecurityManager {
    /// Requests the passkey from the user, or selects a passkey and displays it.
    mutating func prompt() {
        guard let pairing else { return }
        if pairing.method.isEntered(by: role) {
            events.append(.enterPasskey)
        } else if pairing.method == .passkeyShown(by: role) {
            let fixed = pairing.policy.fixedPasskey.flatMap {
                hasFailedWithFixedPasskey || isSpent($0) ? nil : $0
            }
            let passkey = fixed ?? .random(using: &random)
            self.pairing?.passkey = passkey
            events.append(.display(passkey))
        }
    }

    mutating func enter(_ passkey: Passkey, at now: Instant) {
        guard let pairing, pairing.passkey == nil, pairing.method.isEntered(by: role),
            pairing.step == .passkey || pairing.step == .confirm
        else { return }
        guard !isSpent(passkey) else { return fail(.passkeyEntryFailed, at: now) }
        self.pairing?.passkey = passkey
        commit(at: now)
    }

    /// Begins the wait after a pairing that ends without success, including the end of its link. Counts a
    /// failure for its passkey, but only if the peer could learn bits of the passkey, which is possible from
    /// the peer's commitment on, because the packets after it depend on those bits.
    package mutating func countFailure(at now: Instant) {
        if attemptsBefore != nil { attempts.fail(at: now) }
        guard let pairing, let passkey = pairing.passkey, pairing.round > 0 || pairing.peerConfirm != nil
        else { return }
        let isFixed = passkey == pairing.policy.fixedPasskey && !pairing.method.isEntered(by: role)
        if isFixed { hasFailedWithFixedPasskey = true }
        if isFixed || pairing.method.isEntered(by: role) { passkeyFailures[passkey, default: 0] += 1 }
    }

    /// Returns whether a passkey has failed too often to be used again.
    func isSpent(_ passkey: Passkey) -> Bool {
        passkeyFailures[passkey, default: 0] >= Self.passkeyFailureLimit
    }

    /// Processes a keypress notification, which the peer can send while its user enters the passkey: before
    /// its first confirm value.
    private mutating func receiveKeypress(_ key: KeypressNotification, at now: Instant) {
        guard let pairing, pairing.reportsKeypresses(of: role.other), pairing.round == 0,
            pairing.peerConfirm == nil,
            pairing.step == .passkey || pairing.step == .confirm
        else {
            refuse(.pairingKeypressNotification, .unspecifiedReason, at: now)
            return
        }
        events.append(.keypress(key))
    }
}

/// The end of phase 2 of LE Secure Connections: each device proves that it has the same Diffie-Hellman key
/// and has received the same features (Core Specification 5.4, Vol 3, Part H, 2.3.5.6.5).
extension SecurityManager {
    /// Generates the keys from both random numbers, then requests the comparison from the user if the method
    /// is numeric comparison.
    private mutating func finishAuthentication(peerRandom: UInt128, at now: Instant) {
        guard let toolbox, let pairing, let exchange = pairing.exchange else { return }
        let isInitiator = role == .central
        let (initiator, responder) =
            isInitiator ? (pairing.ownRandom, peerRandom) : (peerRandom, pairing.ownRandom)
        let keys = toolbox.f5(
            exchange.dhKey, initiator, responder, isInitiator ? own : peer, isInitiator ? peer : own)
        self.pairing?.key = keys.longTermKey
        self.pairing?.check = DHKeyCheck(
            macKey: keys.macKey, ownRandom: pairing.ownRandom, peerRandom: peerRandom)
        guard pairing.method == .numericComparison else {
            exchangeChecks(at: now)
            return
        }
        self.pairing?.step = .comparison
        let (first, second) =
            isInitiator
            ? (exchange.own.publicKey.x, exchange.peer.x) : (exchange.peer.x, exchange.own.publicKey.x)
        events.append(.compare(Passkey(lowestDigitsOf: toolbox.g2(first, second, initiator, responder))))
    }

    /// Sends the initiator's DHKey check, which is sent first; a responder processes the check that it
    /// received early.
    private mutating func exchangeChecks(at now: Instant) {
        guard let toolbox, let pairing else { return }
        self.pairing?.step = .dhKeyCheck
        if role == .central {
            send(.pairingDHKeyCheck(ownCheck(pairing, toolbox)), at: now)
        } else if let early = pairing.check.early {
            receiveCheck(early, at: now)
        }
    }

    private mutating func receiveCheck(_ value: UInt128, at now: Instant) {
        switch pairing?.step {
        case .comparison where role == .peripheral && pairing?.check.early == nil:
            // The user of the initiator confirmed the numbers first.
            pairing?.check.early = value
            return
        case .dhKeyCheck: break
        default:
            refuse(.pairingDHKeyCheck, .unspecifiedReason, at: now)
            return
        }
        guard let toolbox, let pairing, value == peerCheck(pairing, toolbox) else {
            fail(.dhKeyCheckFailed, at: now)
            return
        }
        if role == .peripheral { send(.pairingDHKeyCheck(ownCheck(pairing, toolbox)), at: now) }
        encrypt(with: pairing.key)
    }

    private func ownCheck(_ pairing: Pairing, _ toolbox: any SecurityToolbox) -> UInt128 {
        let check = pairing.check
        return toolbox.f6(
            check.macKey, check.ownRandom, check.peerRandom, pairing.peerNumber, pairing.ownFeatures, own,
            peer)
    }

    private func peerCheck(_ pairing: Pairing, _ toolbox: any SecurityToolbox) -> UInt128 {
        let check = pairing.check
        return toolbox.f6(
            check.macKey, check.peerRandom, check.ownRandom, pairing.ownNumber, pairing.peerFeatures, peer,
            own)
    }
}

/// Phase 2 of LE legacy pairing (Core Specification 5.4, Vol 3, Part H, 2.3.5.2 to 2.3.5.5).
extension SecurityManager {
    /// Starts legacy pairing: the initiator sends its confirm value as soon as it has the temporary key, and
    /// the responder waits for that value.
    private mutating func startLegacy(at now: Instant) {
        pairing?.proceed(initiator: .passkey, responder: .confirm)
        prompt()
        if role == .central { commit(at: now) }
    }

    /// Generates the short term key from both random numbers.
    private mutating func finishLegacy(peerRandom: UInt128, _ toolbox: any SecurityToolbox) {
        guard let pairing, let key = pairing.temporaryKey else { return }
        let (initiator, responder) =
            role == .central ? (pairing.ownRandom, peerRandom) : (peerRandom, pairing.ownRandom)
        encrypt(with: toolbox.s1(key, responder, initiator))
    }

    /// Ends phase 2: requests that the link layer encrypt with this key, shortened to the negotiated size.
    mutating func encrypt(with key: UInt128) {
        guard let pairing else { return }
        let key = pairing.shortened(key)
        self.pairing?.key = key
        self.pairing?.step = .encryption
        let linkKey = LongTermKey(key, size: pairing.keySize)
        events.append(role == .central ? .encrypt(linkKey) : .provide(linkKey))
    }
}

/// Phase 3: keys, on an encrypted link only (Core Specification 5.4, Vol 3, Part H, 2.4.3 and 3.6.1).
extension SecurityManager {
    /// Starts phase 3 on the encrypted link. The responder sends its keys first.
    private mutating func distributeKeys(at now: Instant) {
        guard let pairing else { return }
        self.pairing?.step = .keys
        if pairing.isSecureConnections {
            self.pairing?.bond.centralKey = pairing.linkKey
            self.pairing?.bond.peripheralKey = pairing.linkKey
        }
        timer = now + .seconds(30)
        if role == .peripheral || pairing.distribution.toTake.isEmpty { sendKeys(at: now) }
        finishIfDone()
    }

    private mutating func receiveKey(_ command: SMPCommand, at now: Instant) {
        if let pairing, pairing.step == .encryption, pairing.isKeyGiven,
            pairing.early.count < Pairing.keyLimit
        {
            self.pairing?.early.append(command)
            return
        }
        guard pairing?.step == .keys, pairing?.distribution.toTake.first == command.code else {
            refuse(command.code, .unspecifiedReason, at: now)
            return
        }
        pairing?.distribution.toTake.removeFirst()
        switch command {
        case .encryptionInformation(let key): pairing?.key = key
        case .centralIdentification(let ediv, let random):
            guard let pairing else { return }
            self.pairing?.bond.centralKey = LongTermKey(
                pairing.shortened(pairing.key), ediv: ediv, random: random, size: pairing.keySize)
        case .identityInformation(let key):
            // A key of zero means that the device does not use resolvable private addresses.
            pairing?.identityKey = key == 0 ? nil : key
        case .identityAddressInformation(let address):
            guard address.isPossibleIdentity, address != identity.address else {
                fail(.invalidParameters, at: now)
                return
            }
            takeIdentity(address)
        case .signingInformation(let key): pairing?.bond.peerSigningKey = key
        default: break
        }
        if role == .central, pairing?.distribution.toTake.isEmpty == true { sendKeys(at: now) }
        finishIfDone()
    }

    /// Takes the identity that the peer has sent, if it can be its own. A peer that uses its identity address is
    /// known by that address: it cannot be another device, too. A peer behind a private address has at least to
    /// have made that address with the key. Otherwise, any device could take the place of another one by sending
    /// its address. The other keys of the pairing stay valid.
    private mutating func takeIdentity(_ address: DeviceAddress) {
        guard let pairing else { return }
        switch peer.kind {
        case .public, .static:
            if address == peer { self.pairing?.bond.peerIdentityKey = pairing.identityKey }
        case .resolvable:
            guard let key = pairing.identityKey, peer.isResolved(by: AES128(key: key)) else { return }
            self.pairing?.bond.peer = address
            self.pairing?.bond.peerIdentityKey = key
            self.pairing?.bond.isIdentityClaimed = true
        case .nonResolvable, .reserved: break
        }
    }

    private mutating func sendKeys(at now: Instant) {
        guard let pairing else { return }
        let keys = pairing.distribution.toSend
        self.pairing?.distribution.hasSent = true
        if keys.contains(.encryption) {
            let ediv = UInt16(truncatingIfNeeded: random.next())
            // An EDIV and Rand of zero identify keys without a name, so Rand is at least 1.
            let key = LongTermKey(
                pairing.shortened(random.number()), ediv: ediv, random: max(1, random.next()),
                size: pairing.keySize)
            self.pairing?.bond.peripheralKey = key
            send(.encryptionInformation(longTermKey: key.value), at: now)
            send(.centralIdentification(ediv: key.ediv, random: key.random), at: now)
        }
        if keys.contains(.identity) {
            send(.identityInformation(identityResolvingKey: identity.identityKey), at: now)
            send(.identityAddressInformation(identity.address), at: now)
        }
        if keys.contains(.signing) {
            let key = random.number()
            self.pairing?.bond.localSigningKey = key
            send(.signingInformation(signatureKey: key), at: now)
        }
    }

    /// Completes the pairing when the peer's last key has been received and this host's last key has been
    /// sent.
    private mutating func finishIfDone() {
        guard let pairing, pairing.step == .keys, pairing.distribution.isDone, outbox.isEmpty else { return }
        self.pairing = nil
        timer = nil
        attemptsBefore = nil
        attempts.succeed()
        if pairing.isBonding { policy.existing = pairing.bond.strength }
        events.append(.paired(pairing.bond, isBonding: pairing.isBonding))
    }
}

/// The state of a pairing after both devices have exchanged their features.
private struct Pairing: Sendable {
    enum Step: Sendable {
        /// Initiator: waits for the owner to accept Just Works.
        case consent
        /// Waits for the peer's public key.
        case publicKey
        /// Initiator: waits for the user to enter a passkey.
        case passkey
        /// Waits for the peer's Pairing Confirm.
        case confirm
        /// Waits for the peer's Pairing Random.
        case random
        /// Waits for the user to compare the numbers on both displays.
        case comparison
        /// Waits for the peer's Pairing DHKey Check.
        case dhKeyCheck
        /// Waits for the link layer to encrypt.
        case encryption
        /// Waits for the two devices to distribute their keys.
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
    /// The identity key that the peer has distributed, until its address arrives.
    var identityKey: UInt128?

    /// The passkey, once this host knows it; nil in methods without a passkey.
    var passkey: Passkey?
    /// The random number of this host in the current round.
    var ownRandom: UInt128 = 0
    var ownConfirm: UInt128?
    var peerConfirm: UInt128?
    /// The number of passkey bits that have been proved, with LE Secure Connections.
    var round = 0

    var keyPair: PairingKeyPair?
    var exchange: KeyExchange?
    /// The values of the last step of LE Secure Connections.
    var check = DHKeyCheck()

    /// The key with which the link is encrypted after phase 2: STK or LTK. In phase 3, the long term key that
    /// the peer distributes, until its EDIV and Rand arrive.
    var key: UInt128 = 0
    /// Whether the controller has been given that key.
    var isKeyGiven = false
    /// The keys of the peer that arrived before the report of the encryption.
    var early: [SMPCommand] = []
    /// The maximum number of packets with keys that a device sends.
    static let keyLimit = 5
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
        let isUnseen = method == .numericComparison && !policy.comparesNumbers
        let strength = PairingStrength(
            isAuthenticated: method.isAuthenticated && !isUnseen, isSecureConnections: isSecureConnections,
            keySize: keySize)
        bond = Bond(with: peer, as: local, strength)
    }

    var ownFeatures: PairingFeatures { role == .central ? request : response }
    var peerFeatures: PairingFeatures { role == .central ? response : request }

    var isBonding: Bool {
        request.authentication.intersection(response.authentication).contains(.bonding)
    }

    /// Returns whether the device with this role reports keypresses: both devices support it, and the user
    /// enters a passkey there (Core Specification 5.4, Vol 3, Part H, 3.5.1).
    func reportsKeypresses(of role: LinkRole) -> Bool {
        request.authentication.intersection(response.authentication).contains(.keypress)
            && method.isEntered(by: role)
    }

    /// Sets the next step, which depends on the role.
    mutating func proceed(initiator: Step, responder: Step) {
        step = role == .central ? initiator : responder
    }

    /// Returns a key of the negotiated size; the most significant octets of a shorter key are zero (2.3.4).
    func shortened(_ key: UInt128) -> UInt128 {
        keySize >= 16 ? key : key & ((1 << UInt128(8 * keySize)) - 1)
    }

    /// The key for the link, with an EDIV and Rand of zero.
    var linkKey: LongTermKey { LongTermKey(key, size: keySize) }
}

// MARK: - Phase 2

extension Pairing {
    /// Whether only the responder commits: in LE Secure Connections with Just Works or numeric comparison,
    /// the responder's commitment alone prevents either random number from being chosen to match the other.
    var onlyResponderCommits: Bool {
        isSecureConnections && (method == .justWorks || method == .numericComparison)
    }

    /// Returns whether the device with this role sends a confirm value before its random number.
    func isCommitted(_ role: LinkRole) -> Bool {
        if isSecureConnections, method == .outOfBand { return false }
        return role == .peripheral || !onlyResponderCommits
    }

    /// The additional value of the commitment in LE Secure Connections: the passkey bit of this round, or 0
    /// without a passkey. Nil while the user enters the passkey.
    var committedBit: UInt8? {
        guard hasPasskey else { return 0 }
        return passkey.map { 0x80 | UInt8(truncatingIfNeeded: $0.value >> UInt32(round) & 1) }
    }

    /// Whether further bits of the passkey must be proved after this round: six digits are below 2^20.
    var hasMoreBits: Bool { hasPasskey && round + 1 < 20 }

    /// Whether the user has not entered the passkey yet.
    var waitsForPasskey: Bool { hasPasskey && passkey == nil }

    private var hasPasskey: Bool { method.isEntered(by: .central) || method.isEntered(by: .peripheral) }

    /// The shared number, apart from the Diffie-Hellman key, that the peer must prove to know: the passkey,
    /// or the random number that this host has provided out of band if the peer has it.
    var ownNumber: UInt128 {
        guard method == .outOfBand else { return UInt128(passkey?.value ?? 0) }
        return peerFeatures.oobData == .present ? policy.outOfBandOffer?.random ?? 0 : 0
    }

    /// The shared number that this host must prove to know: the passkey, or the random number that the peer
    /// has provided out of band.
    var peerNumber: UInt128 {
        guard method == .outOfBand else { return UInt128(passkey?.value ?? 0) }
        return if case .secureConnections(_, let value) = outOfBandData { value } else { 0 }
    }

    /// TK (2.3.5.2 to 2.3.5.4); nil while the user enters the passkey, or if there is no out-of-band
    /// temporary key.
    var temporaryKey: UInt128? {
        switch method {
        case .justWorks, .numericComparison: 0
        case .passkeyShown, .passkeyEnteredByBoth: passkey.map { UInt128($0.value) }
        case .outOfBand: if case .temporaryKey(let key) = outOfBandData { key } else { nil }
        }
    }
}

extension LinkRole {
    /// The role of the other device on the link.
    var other: LinkRole { self == .central ? .peripheral : .central }
}

/// The public keys of both devices and the resulting Diffie-Hellman key.
private struct KeyExchange: Sendable {
    let own: PairingKeyPair
    let peer: PairingPublicKey
    let dhKey: PairingPublicKey.Coordinate
}

/// The last step of LE Secure Connections (Core Specification 5.4, Vol 3, Part H, 2.3.5.6.5).
private struct DHKeyCheck: Sendable {
    var macKey: UInt128 = 0
    var ownRandom: UInt128 = 0
    var peerRandom: UInt128 = 0
    /// The initiator's check, if it arrives while the responder's user still compares.
    var early: UInt128?
}

/// The keys that are still expected from the peer, and whether this host's keys have been sent (Core
/// Specification 5.4, Vol 3, Part H, 3.6.1).
private struct Distribution: Sendable {
    /// The packets that the peer has still to send, in order.
    var toTake: [SMPCode]
    /// The keys that this host has to send.
    let toSend: KeyDistribution
    var hasSent = false

    init(
        _ role: LinkRole, _ request: PairingFeatures, _ response: PairingFeatures,
        isSecureConnections: Bool
    ) {
        var allowed: KeyDistribution = [.encryption, .identity, .signing]
        if isSecureConnections { allowed.remove(.encryption) }
        let initiator = request.initiatorKeys.intersection(response.initiatorKeys).intersection(allowed)
        let responder = request.responderKeys.intersection(response.responderKeys).intersection(allowed)
        toSend = role == .central ? initiator : responder
        toTake = (role == .central ? responder : initiator).packets
    }

    var isDone: Bool { toTake.isEmpty && hasSent }
}

extension KeyDistribution {
    fileprivate var packets: [SMPCode] {
        (contains(.encryption) ? [.encryptionInformation, .centralIdentification] : [])
            + (contains(.identity) ? [.identityInformation, .identityAddressInformation] : [])
            + (contains(.signing) ? [.signingInformation] : [])
    }
}
