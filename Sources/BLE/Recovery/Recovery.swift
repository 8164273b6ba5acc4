import BLECore
import DequeModule
import HCI

/// Tracks whether an adapter's controller works, and decides how it is recovered when it does not.
///
/// A step that ends links waits until they have ended, unless the fault has already ended them or the owner
/// requires the step at once. One attempt is made at a time; an attempt during which another fault occurs has
/// failed, unless that fault is a silence.
///
/// A controller that does not answer may still carry the data of its links. A step that ends links is therefore
/// postponed until they have ended. When nothing was received for 32 s meanwhile, the controller is sent a
/// command that every controller supports. If that is not answered, the step is taken, since the controller does
/// not report the end of links any more.
///
/// ```swift
/// repeat {
///     recovery.beginSetUp()
///     try await bringUp()
/// } while try !recovery.setUpEnded(at: now)
/// // From then on:
/// recovery.handle(fault, links: 2, at: now)
/// recovery.linksEnded(at: now)
/// recovery.received(at: now)
/// // Run `expire` at `deadline`.
/// recovery.begun(attempt)
/// recovery.ended(attempt, .done(wasReset: true), links: 0, at: now)
/// while let event = recovery.nextEvent() { handle(event) }
/// ```
struct Recovery: Sendable {
    /// An attempt to recover from a fault.
    struct Attempt: Hashable, Sendable {
        let number: UInt64
        let step: RecoveryStep
        let fault: AdapterFault
        /// Whether the attempt ends all links of the controller, or the fault has ended them.
        let losesLinks: Bool
        /// Whether the attempt is made only if no other program has links.
        let sparesOthers: Bool
        /// Whether the kernel resets the controller by itself.
        let isOfKernel: Bool
    }

    enum Outcome: Sendable {
        /// The controller was set up. With `wasReset` it does nothing that it was commanded before.
        case done(wasReset: Bool)
        /// The step could not be carried out.
        case failed
        /// The attempt was not made, because other programs have this many links, or because there was
        /// another fault.
        case notMade(othersLinks: Int)
    }

    enum Event: Hashable, Sendable {
        /// An event for the watchers of the controller's health.
        case note(AdapterHealthEvent)
        /// An attempt is to be made.
        case begin(Attempt)
        /// `Recovery.probe` is to be sent.
        case probe
        /// The controller works, or is left as it is; its activities are to be requested again.
        case resume(wasReset: Bool)
        /// Nothing has helped; the adapter ends.
        case giveUp(AdapterFault)
    }

    private enum Phase {
        /// The controller is being set up for the first time; a disturbance makes the set-up fail.
        case settingUp(disturbance: AdapterFault?)
        /// The controller works, or is left as it is: the recovery from the postponed fault waits until there
        /// are no links.
        case working(postponed: AdapterFault?)
        /// The controller is being recovered; a disturbance makes the attempt fail.
        case attempting(Attempt, disturbance: AdapterFault?)
        /// No step has recovered the controller from this fault.
        case gaveUp(AdapterFault)
    }

    private let isKernel: Bool
    private let costsLinks: Bool
    private var phase = Phase.settingUp(disturbance: nil)
    private var ladder: RecoveryLadder
    private var lastAttempt: UInt64 = 0
    /// The time since which nothing was received while a recovery is postponed.
    private var quietSince = Instant.zero
    /// Whether the probe was sent since then.
    private var isProbing = false
    private var events = Deque<Event>()

    /// The time without a packet after which a controller is probed: the longest supervision timeout.
    static let quiet = LinkEnding.longestSupervision
    /// The command that shows whether a controller still works. Every controller supports it.
    static let probe = HCIOpcode.readBDADDR

    /// Creates the recovery of a controller. With `isKernel` the controller is the kernel's. With
    /// `costsLinks` no step waits for the end of links.
    init(isKernel: Bool, costsLinks: Bool) {
        self.isKernel = isKernel
        self.costsLinks = costsLinks
        ladder = isKernel ? .kernel : .own
    }

    /// Whether the controller is not ready: it is being set up or recovered, or has been given up.
    var isUnderWay: Bool { if case .working = phase { false } else { true } }

    /// Whether there was a fault while the controller was being set up.
    var isDisturbed: Bool {
        switch phase {
        case .settingUp(let disturbance), .attempting(_, let disturbance): disturbance != nil
        case .working, .gaveUp: false
        }
    }

    /// Whether a kernel adapter is being switched off and on, by a recovery step or by the kernel.
    var switchesPower: Bool {
        guard isKernel else { return false }
        return switch phase {
        case .attempting(let attempt, let disturbance):
            attempt.step == .powerCycle || attempt.isOfKernel || disturbance.map(hasCostLinks) ?? false
        case .gaveUp(let fault): hasCostLinks(fault)
        case .settingUp, .working: false
        }
    }

    mutating func nextEvent() -> Event? { events.popFirst() }
}

// MARK: - Setting up

extension Recovery {
    /// Starts the set-up of the controller, for the first time or once more.
    mutating func beginSetUp() { phase = .settingUp(disturbance: nil) }

    /// Handles the end of the set-up. Returns false when a fault occurred during it, so that it has to be
    /// repeated; throws when it was repeated too often.
    mutating func setUpEnded(at now: Instant) throws(BLEError) -> Bool {
        guard case .settingUp(let disturbance) = phase else { return true }
        guard let disturbance else {
            phase = .working(postponed: nil)
            return true
        }
        guard ladder.nextStep(at: now) != nil else { throw .adapter(.failed(disturbance)) }
        return false
    }
}

// MARK: - Faults

extension Recovery {
    /// Handles a fault of the controller, which has `links` links.
    mutating func handle(_ fault: AdapterFault, links: Int, at now: Instant) {
        switch phase {
        case .gaveUp: break
        // The set-up detects a silence by its command.
        case .settingUp: if !fault.isSilence { phase = .settingUp(disturbance: fault) }
        case .attempting(let attempt, _):
            if !fault.isSilence { phase = .attempting(attempt, disturbance: fault) }
        case .working(let postponed?) where isProbing && fault == .silence(command: Self.probe):
            takeStep(against: postponed, links: 0, at: now)
        // A silence that is postponed already stays so until links end, or the controller answers.
        case .working(let postponed?) where fault.isSilence && postponed.isSilence: break
        case .working: takeStep(against: fault, links: links, at: now)
        }
    }

    /// Handles the end of the last link, which may have postponed a recovery.
    mutating func linksEnded(at now: Instant) {
        guard case .working(let fault?) = phase else { return }
        phase = .working(postponed: nil)
        handle(fault, links: 0, at: now)
    }

    /// Whether packets from the controller matter, because a recovery is postponed.
    var listens: Bool {
        guard !isKernel, case .working(.some) = phase else { return false }
        return true
    }

    /// Notes that a packet was received.
    mutating func received(at now: Instant) { (quietSince, isProbing) = (now, false) }

    /// The time at which `expire` has to be called.
    var deadline: Instant? { listens && !isProbing ? quietSince + Self.quiet : nil }

    /// Probes the controller if nothing was received for too long.
    mutating func expire(at now: Instant) {
        guard let deadline, deadline <= now else { return }
        isProbing = true
        events.append(.probe)
    }

    /// Handles an answer to a command. It can be the command whose silence was postponed because of links;
    /// then the controller works again.
    mutating func answered(_ command: HCIOpcode) {
        guard case .working(.silence(command: command)) = phase else { return }
        phase = .working(postponed: nil)
        events.append(.note(.answersAgain(command: command)))
    }

    /// Notes that an attempt begins. It covers faults that occurred since it was decided on, unless they
    /// change how it is made.
    mutating func begun(_ attempt: Attempt) {
        guard case .attempting(attempt, let fault?) = phase else { return }
        if !isKernel || hasCostLinks(fault) == attempt.isOfKernel {
            phase = .attempting(attempt, disturbance: nil)
        }
    }

    /// Handles the end of an attempt.
    mutating func ended(_ attempt: Attempt, _ outcome: Outcome, links: Int, at now: Instant) {
        guard case .attempting(attempt, let disturbance) = phase else { return }
        switch outcome {
        case .notMade(let others):
            ladder.stepBack()
            if let disturbance {
                takeStep(against: disturbance, links: links, at: now)
            } else {
                leave(attempt.fault, links: others, at: now)
            }
        case .failed: takeStep(against: disturbance ?? attempt.fault, links: links, at: now)
        case .done(let wasReset):
            if let disturbance {
                takeStep(against: disturbance, links: links, at: now)
            } else {
                phase = .working(postponed: nil)
                events += [.note(.recovered(by: attempt.step)), .resume(wasReset: wasReset)]
            }
        }
    }

    /// Takes the next step, or postpones it until it ends no links.
    private mutating func takeStep(against fault: AdapterFault, links: Int, at now: Instant) {
        var ladder = ladder
        let step = ladder.nextStep(at: now)
        let hasCost = hasCostLinks(fault)
        if let step, links > 0, !hasCost, !costsLinks, !isKernel || step == .powerCycle {
            return leave(fault, links: links, at: now)
        }
        self.ladder = ladder
        guard let step else {
            phase = .gaveUp(fault)
            events += [.note(.gaveUp(fault)), .giveUp(fault)]
            return
        }
        lastAttempt += 1
        let attempt = Attempt(
            number: lastAttempt, step: step, fault: fault,
            losesLinks: !isKernel || step == .powerCycle || hasCost,
            sparesOthers: step == .powerCycle && !costsLinks && !hasCost, isOfKernel: isKernel && hasCost)
        phase = .attempting(attempt, disturbance: nil)
        events += [.note(.recovering(fault, by: step)), .begin(attempt)]
    }

    /// Leaves the controller as it is. A silence can end by itself; another fault stays postponed.
    private mutating func leave(_ fault: AdapterFault, links: Int, at now: Instant) {
        let wasWorking = !isUnderWay
        var before: AdapterFault?
        if case .working(let postponed) = phase { before = postponed }
        if before?.isSilence ?? true {
            phase = .working(postponed: fault)
            if before == nil { (quietSince, isProbing) = (now, false) }
            if before == nil || !fault.isSilence { events.append(.note(.postponed(fault, links: links))) }
        }
        // Gentler steps have failed before, so the activities have to be requested again.
        if !wasWorking { events.append(.resume(wasReset: false)) }
    }

    /// Returns whether the fault ends all links in any case, because the controller is, or will be, reset.
    /// The kernel does so by itself after a hardware error.
    private func hasCostLinks(_ fault: AdapterFault) -> Bool {
        switch fault {
        case .lineLost: true
        case .hardwareError: isKernel
        case .silence: false
        }
    }
}

extension AdapterFault {
    /// Whether the fault can end by itself.
    var isSilence: Bool { if case .silence = self { true } else { false } }
}
