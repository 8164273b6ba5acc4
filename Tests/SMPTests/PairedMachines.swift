import BLECore
import SMP
import TestSupport

/// What one end does with what its machine asks for.
struct User: Sendable {
    /// Whether a peer may pair, and Just Works will do.
    var accepts = true
    /// What it types when asked; nil for what the other end shows.
    var passkey: Passkey?
    /// Whether it finds numbers that are the same to be so.
    var compares = true
    var outOfBand: OutOfBandData?
}

/// Two machines joined by a link whose frames and encryption the test sees. Frames take no time.
struct PairedMachines {
    struct Frame: Equatable {
        let from: LinkRole
        let octets: [UInt8]
    }

    static let initiatorAddress = DeviceAddress(0xc1a2_a3a4_a5a6, type: .random)
    static let responderAddress = DeviceAddress(0xb1b2_b3b4_b5b6, type: .public)
    static let initiatorIdentity = LocalIdentity(
        address: DeviceAddress(0xc0ff_ee00_0001, type: .random), identityKey: 0x1111_2222_3333)
    static let responderIdentity = LocalIdentity(address: responderAddress, identityKey: 0x4444_5555_6666)

    var initiator: SecurityManager
    var responder: SecurityManager
    var initiatorUser = User()
    var responderUser = User()
    var now = Instant(nanoseconds: 1_000_000_000_000)

    /// Every frame, and every event of each end, in order.
    var frames: [Frame] = []
    var initiatorEvents: [SecurityManager.Event] = []
    var responderEvents: [SecurityManager.Event] = []
    /// What becomes of a frame on its way; nil is the frame itself.
    var meddle: (Frame, Int) -> [UInt8]? = { _, _ in nil }

    /// Whether the link layer says nothing when it is to encrypt.
    var stopsAtEncryption = false
    /// Whether the user who is asked for a passkey has not found it yet.
    var stopsTyping = false

    private var shown: Passkey?
    private var encryptionKey: LongTermKey?
    private var providedKey: LongTermKey?

    init(
        _ initiator: PairingPolicy = PairingPolicy(), _ responder: PairingPolicy = PairingPolicy(),
        seed: UInt64 = 1, toolbox: (any SecurityToolbox)? = SecurityManager.defaultToolbox
    ) {
        self.init(
            initiator, responder, SplitMix64(seed: seed), SplitMix64(seed: ~seed), toolbox: toolbox)
    }

    init(
        _ initiator: PairingPolicy, _ responder: PairingPolicy,
        _ initiatorNumbers: some RandomNumberGenerator & Sendable,
        _ responderNumbers: some RandomNumberGenerator & Sendable,
        toolbox: (any SecurityToolbox)? = SecurityManager.defaultToolbox
    ) {
        self.initiator = SecurityManager(
            role: .central, own: Self.initiatorAddress, peer: Self.responderAddress, policy: initiator,
            identity: Self.initiatorIdentity, toolbox: toolbox, random: initiatorNumbers)
        self.responder = SecurityManager(
            role: .peripheral, own: Self.responderAddress, peer: Self.initiatorAddress, policy: responder,
            identity: Self.responderIdentity, toolbox: toolbox, random: responderNumbers)
    }

    /// The central begins, and frames are carried to and fro until neither end has one.
    mutating func pair(_ wanted: PairingRequirements = .encryption) throws {
        try initiator.begin(wanted, at: now)
        settle()
    }

    mutating func settle() {
        while true {
            var moved = false
            while let event = initiator.nextEvent() {
                initiatorEvents.append(event)
                react(to: event, of: .central)
                moved = true
            }
            while let event = responder.nextEvent() {
                responderEvents.append(event)
                react(to: event, of: .peripheral)
                moved = true
            }
            // One frame at a time, so that answers cross as little as they do on air.
            if let frame = initiator.frame() {
                deliver(Frame(from: .central, octets: frame))
                moved = true
            } else if let frame = responder.frame() {
                deliver(Frame(from: .peripheral, octets: frame))
                moved = true
            }
            guard moved else { return }
        }
    }

    private mutating func deliver(_ frame: Frame) {
        let octets = meddle(frame, frames.count) ?? frame.octets
        frames.append(frame)
        guard !octets.isEmpty else { return }
        switch frame.from {
        case .central: responder.receive(octets, at: now)
        case .peripheral: initiator.receive(octets, at: now)
        }
    }

    private mutating func answer(_ answer: PairingAnswer, by role: LinkRole) {
        switch role {
        case .central: initiator.answer(answer, at: now)
        case .peripheral: responder.answer(answer, at: now)
        }
    }

    private mutating func react(to event: SecurityManager.Event, of role: LinkRole) {
        let user = role == .central ? initiatorUser : responderUser
        switch event {
        case .pairingRequested, .confirm:
            answer(user.accepts ? .accept : .refuse(.unspecifiedReason), by: role)
        case .display(let passkey):
            shown = passkey
            typeWhatIsShown()
        case .enterPasskey:
            if let passkey = user.passkey { answer(.passkey(passkey), by: role) } else { typeWhatIsShown() }
        case .compare(let passkey):
            let other = role == .central ? responderEvents : initiatorEvents
            let isSame = !other.contains {
                if case .compare(let theirs) = $0 { theirs != passkey } else { false }
            }
            answer(.comparison(isSame && user.compares), by: role)
        case .outOfBandWanted: answer(.outOfBand(user.outOfBand), by: role)
        case .encrypt(let key):
            encryptionKey = key
            encrypt()
        case .provide(let key):
            providedKey = key
            encrypt()
        default: break
        }
    }

    /// A machine that has not asked ignores it.
    mutating func typeWhatIsShown() {
        guard !stopsTyping, let shown else { return }
        if initiatorUser.passkey == nil { initiator.answer(.passkey(shown), at: now) }
        if responderUser.passkey == nil { responder.answer(.passkey(shown), at: now) }
    }

    /// The link layer encrypts when both ends have the same key.
    private mutating func encrypt() {
        guard !stopsAtEncryption, let ours = encryptionKey, let theirs = providedKey else { return }
        (encryptionKey, providedKey, shown) = (nil, nil, nil)
        responder.encryptionChanged(isOn: ours == theirs, at: now)
        initiator.encryptionChanged(isOn: ours == theirs, at: now)
    }
}

extension PairedMachines {
    var initiatorBond: Bond? { initiatorEvents.bond }
    var responderBond: Bond? { responderEvents.bond }
    var initiatorFailure: PairingFailure? { initiatorEvents.failure }
    var responderFailure: PairingFailure? { responderEvents.failure }
    var codes: [UInt8] { frames.compactMap(\.octets.first) }
}

extension [SecurityManager.Event] {
    /// How the last pairing ended. What was still on its way then comes later and is refused.
    private var end: SecurityManager.Event? {
        last {
            switch $0 {
            case .paired, .failed: true
            default: false
            }
        }
    }

    var bond: Bond? {
        if case .paired(let bond, isBonding: _) = end { bond } else { nil }
    }

    var failure: PairingFailure? {
        if case .failed(let failure) = end { failure } else { nil }
    }
}

extension SecurityManager {
    mutating func receive(_ octets: [UInt8], at now: Instant) { receive(octets.span, at: now) }
}
