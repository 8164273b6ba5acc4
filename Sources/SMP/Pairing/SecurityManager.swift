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
///     case .encrypt(let key): controller.enableEncryption(key)   // then manager.encryptionChanged(isOn:at:)
///     case .paired(let bond, let isBonding): if isBonding { keep(bond) }
///     …
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
    var hasFailedWithFixedPasskey = false
    /// How often that may be.
    package static let passkeyFailureLimit = 3

    let own: DeviceAddress
    let peer: DeviceAddress
    let identity: LocalIdentity
    let toolbox: (any SecurityToolbox)?
    var random: any RandomNumberGenerator & Sendable

    var events = Deque<Event>()
    var outbox = Deque<SMPCommand>()
    var refusal = PairingRefusal()
    /// A pairing is one or the other.
    var negotiation: Negotiation?
    var pairing: Pairing?
    /// Peripheral: Security Request has gone, and what for. Central: it has come.
    var securityRequest: PairingRequirements?
    /// 3.4: thirty seconds after the last packet that was queued.
    var timer: Instant?
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

    /// Writes the next packet.
    package mutating func nextFrame(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        guard let command = outbox.popFirst() else { return refusal.nextFrame(into: &output, at: now) }
        command.encode(into: &output)
        finishIfDone()
        return true
    }

    /// Returns the next event.
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
