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
/// Taking a frame may make events: `.paired` comes when the last key has left. Whatever a peer sends, the worst that
/// comes of it is `.failed`; a later pairing on the same link can succeed, except after a time-out.
package struct SecurityManager: Machine, Sendable {
    /// Which end of the link this is.
    package let role: LinkRole
    /// How to pair. A change holds for the next pairing.
    package var policy: PairingPolicy
    /// Attempts with this peer: set from those of earlier links, kept for later ones.
    package var attempts = PairingAttempts()
    /// Counts the failed attempts with each passkey that could be used again, on this link, or on others as the owner
    /// says. Each reveals some of its bits to an attacker (Core Specification 5.4, Vol 3, Part H, 2.3.5.6.3), so after
    /// three it is used no more; users mistype, and links break. On the link itself a fixed one is not shown again
    /// after the first.
    package var passkeyFailures: [Passkey: Int] = [:]
    /// Whether the fixed passkey has been part of an attempt that failed on this link.
    private var hasFailedWithFixedPasskey = false
    /// The number of failures after which a passkey is not used any more.
    package static let passkeyFailureLimit = 3

    private let own: DeviceAddress
    private let peer: DeviceAddress
    private let identity: LocalIdentity
    private let toolbox: (any SecurityToolbox)?
    private var random: any RandomNumberGenerator & Sendable

    private var events = Deque<Event>()
    private var outbox = Deque<SMPCommand>()
    private var refusal = PairingRefusal()
    /// A pairing is one or the other.
    private var negotiation: Negotiation?
    private var pairing: Pairing?
    /// Peripheral: Security Request has gone, and what for. Central: it has come.
    private var securityRequest: PairingRequirements?
    /// 3.4: thirty seconds after the last packet that was queued.
    private var timer: Instant?
    /// Whether the thirty seconds have passed once.
    package internal(set) var hasTimedOut = false

    /// The machine of a new link. `own` and `peer` are the addresses with which it was made, as they were on
    /// air. Without a toolbox it refuses to pair.
    package init(
        role: LinkRole, own: DeviceAddress, peer: DeviceAddress, policy: PairingPolicy,
        identity: LocalIdentity,
        toolbox: (any SecurityToolbox)? = SecurityManager.defaultToolbox,
        random: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
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

    /// Takes one packet. Codes that are reserved for future use are ignored (3.3).
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

    /// Ends a pairing, or the wait for an answer to a Security Request, when its time has passed.
    package mutating func expire(at now: Instant) {
        guard let due = timer, due <= now else { return }
        // A central that never answered Security Request has not begun a pairing, so that it may still do so.
        hasTimedOut = isPairing
        if isPairing { outbox.removeAll() }
        end(.timeout)
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

    /// When the time of a pairing has passed.
    package var deadline: Instant? { timer }
}

extension SecurityManager {
    /// The link layer reports that the link is encrypted, with a new key or anew, or is not: that it could not be.
    package mutating func encryptionChanged(isOn: Bool, at now: Instant) {
        switch pairing?.step {
        case .encryption where isOn: distributeKeys(at: now)
        case .encryption, .keys:
            if !isOn { fail(.unspecifiedReason, as: .encryption, at: now) }
        case nil where negotiation == nil && isOn:
            // Security Request is answered with the key of a bond.
            securityRequest = nil
            timer = nil
        default: break
        }
    }

    /// Ends what runs, and notifies the peer. A central may still act on a Security Request that it has received.
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

    /// Sends Pairing Failed to the peer, in place of all packets that were still queued.
    mutating func fail(
        _ reason: PairingFailureReason, as failure: PairingFailure? = nil, at now: Instant
    ) {
        outbox.removeAll()
        outbox.append(.pairingFailed(reason))
        end(failure ?? .local(reason))
    }

    mutating func end(_ failure: PairingFailure) {
        countPasskeyFailure()
        negotiation = nil
        pairing = nil
        securityRequest = nil
        timer = nil
        events.append(.failed(failure))
    }
}

extension SecurityManager {
    /// What the machine reports to its owner. Events after which it waits for an `answer` name it.
    package enum Event: Hashable, Sendable {
        /// Central: the peripheral requests this. Encrypt with the key of the bond, `begin`, or `.refuse`.
        case securityRequested(AuthenticationRequirements)
        /// Peripheral: the central requests pairing. Nothing happens before `.accept` or `.refuse`; a peer that
        /// has a bond has lost it, or is another one that says so.
        case pairingRequested(PairingFeatures)
        /// Central: it comes to Just Works. `.accept` or `.refuse`.
        case confirm
        /// Show this until the pairing ends; the peer's user types it.
        case display(Passkey)
        /// The user types what the peer shows: `.passkey` or `.refuse(.passkeyEntryFailed)`. Between this
        /// event and the answer `press` notifies the peer of key presses.
        case enterPasskey
        /// Both users see a number: `.comparison`.
        case compare(Passkey)
        /// What is known of the peer by another way: `.outOfBand`.
        case outOfBandWanted
        /// The peer's user is entering a passkey.
        case keypress(KeypressNotification)
        /// Central: start encryption with this key, then say `encryptionChanged`.
        case encrypt(LongTermKey)
        /// Peripheral: the answer to the controller's next request for a long term key, whatever its EDIV and
        /// Rand.
        case provide(LongTermKey)
        /// The pairing has succeeded, and all keys are distributed. Without bonding the keys are for this link
        /// only. The peer itself states its identity: a stronger bond with that identity, which the policy did
        /// not have as `existing`, must not be replaced.
        case paired(Bond, isBonding: Bool)
        /// The pairing has failed with this error.
        case failed(PairingFailure)
        /// A packet of this code began nothing and was answered with that reason: there is no toolbox, the
        /// peer must wait after failed attempts, or no pairing is under way to which it belongs.
        case refused(SMPCode, PairingFailureReason)
    }
}

extension SecurityManager {
    /// Begins: the central sends Pairing Request, the peripheral Security Request, for which the central
    /// encrypts with the key of a bond, pairs, or does nothing. The end is `.paired` or `.failed`.
    package mutating func begin(
        _ wanted: PairingRequirements, at now: Instant
    ) throws(PairingImpossible) {
        guard toolbox != nil else { throw .unsupported }
        guard !hasTimedOut else { throw .timedOut }
        guard !isPairing, role == .central || securityRequest == nil else { throw .busy }
        let demand = policy.demand(wanted)
        // The central may have no more to do than to encrypt with the key that there is.
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

    /// Says what an event asked for.
    package mutating func answer(_ answer: PairingAnswer, at now: Instant) {
        switch answer {
        case .accept where negotiation?.step == .acceptance: accept(at: now)
        case .accept where pairing?.step == .consent: startAuthentication(at: now)
        case .refuse(let reason) where isPairing: fail(reason, at: now)
        case .refuse(let reason) where role == .central && securityRequest != nil:
            securityRequest = nil
            // In one place: a peer that takes nothing and asks on must not fill the memory.
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

    /// Notifies the peer that the user presses keys, if both ends want that (3.5.8).
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
        // What cannot do is known before the initiator is led on.
        if let reason = refusalOfFeatures(request, response, negotiation) {
            fail(reason, at: now)
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
            // A peripheral's Security Request is answered so as well (2.4.6).
            guard isPairing || role == .peripheral && securityRequest != nil else { return }
            outbox.removeAll()
            end(.peer(reason))
        case .pairingRequest(let request) where role == .peripheral && !isPairing:
            receiveRequest(request, at: now)
        case .pairingResponse(let response) where negotiation?.step == .response:
            receiveResponse(response, at: now)
        case .securityRequest(let requirements) where role == .central:
            // While a pairing is under way it is moot (2.4.6).
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

    /// A packet that does not belong here ends a pairing; without one it is answered, so that the peer
    /// does not wait for its time limit.
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
        // With out-of-band data still to come, the answer to the request is not known yet.
        if !policy.asksForOutOfBandData || negotiation.outOfBandData != nil,
            let reason = refusalOfFeatures(request, negotiation.responderFeatures(to: request), negotiation)
        {
            fail(reason, at: now)
            return
        }
        attempts.begin(at: now)
        events.append(.pairingRequested(request))
    }

    private mutating func receiveResponse(_ response: PairingFeatures, at now: Instant) {
        guard let negotiation, let request = negotiation.request else { return }
        if let reason = Self.problem(of: response) ?? refusalOfFeatures(request, response, negotiation) {
            fail(reason, at: now)
            return
        }
        attempts.begin(at: now)
        agree(request, response, negotiation, at: now)
    }

    /// Values that no device may send.
    private static func problem(of features: PairingFeatures) -> PairingFailureReason? {
        guard features.ioCapability.rawValue <= IOCapability.keyboardDisplay.rawValue,
            features.oobData.rawValue <= OOBData.present.rawValue, features.maximumKeySize <= 16
        else { return .invalidParameters }
        return features.maximumKeySize < 7 ? .encryptionKeySize : nil
    }

    /// Why what both ends want does not do; nil when it does.
    private func refusalOfFeatures(
        _ request: PairingFeatures, _ response: PairingFeatures, _ negotiation: Negotiation
    ) -> PairingFailureReason? {
        let pairing = Pairing(of: peer, with: identity.address, as: role, negotiation, request, response)
        let strength = pairing.bond.strength
        if strength.keySize < negotiation.demand.keySize { return .encryptionKeySize }
        if strength.isWeaker(than: negotiation.demand) { return .authenticationRequirements }
        guard pairing.method == .outOfBand else { return nil }
        // Each end says what it has of the other: who has given nothing cannot prove it.
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

    /// Continues when both sides know each other's features.
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
    /// The initiator sends its public key; the responder waits for it.
    private mutating func startPublicKeys(at now: Instant) {
        pairing?.step = .publicKey
        if role == .central { sendPublicKey(at: now) }
    }

    /// A new key for each pairing, except the one that the peer knows out of band.
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
        // One's own key sent back would make all the peer's values those of this host. The sign of Y does not
        // matter.
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
            // The responder commits before it learns the initiator's random number (2.3.5.6.2).
            if role == .peripheral { commit(at: now) } else { self.pairing?.step = .confirm }
        case .passkeyShown, .passkeyEnteredByBoth:
            self.pairing?.proceed(initiator: .passkey, responder: .confirm)
            prompt()
            if role == .central { commit(at: now) }
        case .outOfBand: checkOutOfBand(key, toolbox, at: now)
        }
    }

    /// The peer's public key is the one that came the other way (2.3.5.6.4).
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

/// Pairing Confirm and Pairing Random: who is to show a random number has committed to it before (Core
/// Specification 5.4, Vol 3, Part H, 2.3.5.5, 2.3.5.6.2 and 2.3.5.6.3).
extension SecurityManager {
    /// The confirm value that one end has to send for a random number; nil while the user types.
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

    /// Sends Pairing Confirm, when the turn has come and the passkey is known. The initiator begins, but
    /// where only the responder commits.
    mutating func commit(at now: Instant) {
        guard let pairing, !pairing.waitsForPasskey,
            role == .central
                ? pairing.step == .passkey : pairing.peerConfirm != nil || pairing.onlyResponderCommits
        else { return }
        // Meanwhile other links' pairings may have failed with it.
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
        // In legacy pairing both ends commit alike, so a value that comes back proves nothing.
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

/// The user's part in passkey entry, of both kinds of pairing (Core Specification 5.4, Vol 3, Part H, 2.3.5.3
/// and 2.3.5.6.3).
extension SecurityManager {
    /// Asks for the passkey, or makes one and shows it.
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

    /// Counts a failure of the passkey of a pairing that ends without success, also by the end of its link. It
    /// counts if the peer could learn something of the passkey: from the peer's commitment on, what is sent next
    /// depends on its bits.
    package mutating func countPasskeyFailure() {
        guard let pairing, let passkey = pairing.passkey, pairing.round > 0 || pairing.peerConfirm != nil
        else { return }
        let isFixed = passkey == pairing.policy.fixedPasskey && !pairing.method.isEntered(by: role)
        if isFixed { hasFailedWithFixedPasskey = true }
        if isFixed || pairing.method.isEntered(by: role) { passkeyFailures[passkey, default: 0] += 1 }
    }

    /// Whether a passkey is used no more.
    func isSpent(_ passkey: Passkey) -> Bool {
        passkeyFailures[passkey, default: 0] >= Self.passkeyFailureLimit
    }

    /// The peer reports key presses as long as its user types: before its first confirm value.
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

/// The end of phase 2 of LE Secure Connections: each proves that it has the same Diffie-Hellman key and has
/// seen the same features (Core Specification 5.4, Vol 3, Part H, 2.3.5.6.5).
extension SecurityManager {
    /// Both random numbers are known. The keys are made, and the users compare what they see if that is the
    /// method.
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

    /// Sends the initiator's DHKey check, which goes first.
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
            // The initiator's user was faster.
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
    /// The initiator sends its confirm value as soon as it has the temporary key; the responder waits for
    /// that.
    private mutating func startLegacy(at now: Instant) {
        pairing?.proceed(initiator: .passkey, responder: .confirm)
        prompt()
        if role == .central { commit(at: now) }
    }

    /// Both random numbers are known, and make the key.
    private mutating func finishLegacy(peerRandom: UInt128, _ toolbox: any SecurityToolbox) {
        guard let pairing, let key = pairing.temporaryKey else { return }
        let (initiator, responder) =
            role == .central ? (pairing.ownRandom, peerRandom) : (peerRandom, pairing.ownRandom)
        encrypt(with: toolbox.s1(key, responder, initiator))
    }

    /// Phase 2 is over: the link layer is to encrypt with this key, as long as agreed on.
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
    /// The link is encrypted. The responder's keys go first.
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
            // Zero stands for a device that has no resolvable addresses.
            pairing?.bond.peerIdentityKey = key == 0 ? nil : key
        case .identityAddressInformation(let address):
            guard address.kind == .public || address.kind == .static else {
                fail(.invalidParameters, at: now)
                return
            }
            pairing?.bond.peer = address
        case .signingInformation(let key): pairing?.bond.peerSigningKey = key
        default: break
        }
        if role == .central, pairing?.distribution.toTake.isEmpty == true { sendKeys(at: now) }
        finishIfDone()
    }

    private mutating func sendKeys(at now: Instant) {
        guard let pairing else { return }
        let keys = pairing.distribution.toSend
        self.pairing?.distribution.hasSent = true
        if keys.contains(.encryption) {
            let ediv = UInt16(truncatingIfNeeded: random.next())
            // Zero and zero name the keys that have no name.
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

    /// The pairing is done when the peer's last key has come and ours has left.
    private mutating func finishIfDone() {
        guard let pairing, pairing.step == .keys, pairing.distribution.isDone, outbox.isEmpty else { return }
        self.pairing = nil
        timer = nil
        attempts.succeed()
        if pairing.isBonding { policy.existing = pairing.bond.strength }
        events.append(.paired(pairing.bond, isBonding: pairing.isBonding))
    }
}

/// A pairing from the moment when both ends know each other's features.
private struct Pairing: Sendable {
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

// MARK: - Phase 2

extension Pairing {
    /// LE Secure Connections without a passkey: the responder's commitment alone keeps the initiator's number
    /// from being chosen.
    var onlyResponderCommits: Bool {
        isSecureConnections && (method == .justWorks || method == .numericComparison)
    }

    /// Whether an end's random number was preceded by its confirm value.
    func isCommitted(_ role: LinkRole) -> Bool {
        if isSecureConnections, method == .outOfBand { return false }
        return role == .peripheral || !onlyResponderCommits
    }

    /// What else is committed to with LE Secure Connections: the bit of the passkey in this round, or
    /// nothing. Nil while the user types.
    var committedBit: UInt8? {
        guard hasPasskey else { return 0 }
        return passkey.map { 0x80 | UInt8(truncatingIfNeeded: $0.value >> UInt32(round) & 1) }
    }

    /// Whether further bits of the passkey are to be proved after this one: six digits are below 2^20.
    var hasMoreBits: Bool { hasPasskey && round + 1 < 20 }

    /// Whether the user still types.
    var waitsForPasskey: Bool { hasPasskey && passkey == nil }

    private var hasPasskey: Bool { method.isEntered(by: .central) || method.isEntered(by: .peripheral) }

    /// The number that this host shares with the peer apart from Diffie-Hellman, and that the peer must prove
    /// to know: the passkey, or what this host has given out of band if the peer has it.
    var ownNumber: UInt128 {
        guard method == .outOfBand else { return UInt128(passkey?.value ?? 0) }
        return peerFeatures.oobData == .present ? policy.outOfBandOffer?.random ?? 0 : 0
    }

    /// The same of the peer's.
    var peerNumber: UInt128 {
        guard method == .outOfBand else { return UInt128(passkey?.value ?? 0) }
        return if case .secureConnections(_, let value) = outOfBandData { value } else { 0 }
    }

    /// TK (2.3.5.2 to 2.3.5.4); nil while the user types.
    var temporaryKey: UInt128? {
        switch method {
        case .justWorks, .numericComparison: 0
        case .passkeyShown, .passkeyEnteredByBoth: passkey.map { UInt128($0.value) }
        case .outOfBand: if case .temporaryKey(let key) = outOfBandData { key } else { nil }
        }
    }
}

extension LinkRole {
    /// The one at the other end.
    var other: LinkRole { self == .central ? .peripheral : .central }
}

/// What two public keys come to.
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
    /// The initiator's check, while the responder's user still compares.
    var early: UInt128?
}

/// Which keys are still to come, and whether ours have gone (Core Specification 5.4, Vol 3, Part H, 3.6.1).
private struct Distribution: Sendable {
    /// Packets that the peer shall send, in order.
    var toTake: [SMPCode]
    /// Keys that this host shall send.
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
