import BLECore
import SMP
import TestSupport

/// The answers of the user of one end to the requests of its machine.
struct User: Sendable {
    /// Whether the user accepts pairings of a peer and Just Works.
    var accepts = true
    /// The passkey that the user enters; nil for the one that the other end displays.
    var passkey: Passkey?
    /// Whether the user confirms numbers that are equal.
    var compares = true
    var outOfBand: OutOfBandData?
}

/// Two machines on a link whose frames and encryption the test observes. Frames take no time.
struct PairedMachines {
    struct Frame: Equatable {
        let from: LinkRole
        let octets: [UInt8]
    }

    /// A static address, which is not the identity of the initiator.
    static let initiatorAddress = DeviceAddress(0xc1a2_a3a4_a5a6, type: .random)
    /// A private address that the initiator has made with its key.
    static let privateAddress = DeviceAddress.resolvable(
        0x12345, key: AES128(key: initiatorIdentity.identityKey))
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
    /// A function that returns the octets to deliver in place of a frame: nil for the frame itself, empty to drop it.
    var alter: (Frame, Int) -> [UInt8]? = { _, _ in nil }

    /// Whether the link layer does not report encryption when it is to encrypt.
    var stopsAtEncryption = false
    /// Whether the central's report of the encryption is later than the first packets of the peripheral.
    var reportsLate = false
    /// Whether the user has not yet entered the requested passkey.
    var stopsTyping = false

    private var shown: Passkey?
    private var encryptionKey: LongTermKey?
    private var providedKey: LongTermKey?
    private var isReportDue = false

    init(
        _ initiator: PairingPolicy = PairingPolicy(), _ responder: PairingPolicy = PairingPolicy(),
        seed: UInt64 = 1, toolbox: (any SecurityToolbox)? = SecurityManager.defaultToolbox
    ) {
        self.init(
            initiator, responder, SplitMix64(seed: seed), SplitMix64(seed: ~seed), at: Self.privateAddress,
            toolbox: toolbox)
    }

    init(
        _ initiator: PairingPolicy, _ responder: PairingPolicy,
        _ initiatorNumbers: some RandomNumberGenerator & Sendable,
        _ responderNumbers: some RandomNumberGenerator & Sendable,
        at initiatorAddress: DeviceAddress = initiatorAddress,
        toolbox: (any SecurityToolbox)? = SecurityManager.defaultToolbox
    ) {
        self.initiator = SecurityManager(
            role: .central, own: initiatorAddress, peer: Self.responderAddress, policy: initiator,
            identity: Self.initiatorIdentity, toolbox: toolbox, random: initiatorNumbers)
        self.responder = SecurityManager(
            role: .peripheral, own: Self.responderAddress, peer: initiatorAddress, policy: responder,
            identity: Self.responderIdentity, toolbox: toolbox, random: responderNumbers)
    }

    /// Starts to pair as the central, and delivers frames until neither end has one.
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
            // One frame is delivered at a time, so that frames cross no more than on air.
            if let frame = initiator.frame() {
                deliver(Frame(from: .central, octets: frame))
                moved = true
            } else if let frame = responder.frame() {
                deliver(Frame(from: .peripheral, octets: frame))
                moved = true
            }
            if !moved, isReportDue {
                isReportDue = false
                initiator.encryptionChanged(isOn: true, at: now)
                moved = true
            }
            guard moved else { return }
        }
    }

    private mutating func deliver(_ frame: Frame) {
        let octets = alter(frame, frames.count) ?? frame.octets
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

    /// Enters the displayed passkey at each end without a passkey of its own. A machine without a request ignores it.
    mutating func typeWhatIsShown() {
        guard !stopsTyping, let shown else { return }
        if initiatorUser.passkey == nil { initiator.answer(.passkey(shown), at: now) }
        if responderUser.passkey == nil { responder.answer(.passkey(shown), at: now) }
    }

    /// Reports the encryption to both ends once both have a key. It is on only when the keys are equal.
    private mutating func encrypt() {
        guard !stopsAtEncryption, let ours = encryptionKey, let theirs = providedKey else { return }
        (encryptionKey, providedKey, shown) = (nil, nil, nil)
        initiator.keyWasGiven()
        responder.keyWasGiven()
        responder.encryptionChanged(isOn: ours == theirs, at: now)
        isReportDue = reportsLate
        if !reportsLate { initiator.encryptionChanged(isOn: ours == theirs, at: now) }
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
    /// The event that ended the last pairing. Frames that were still on their way arrive later and are refused.
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
