import BLECore
import HCI

@testable import BLE

/// A recovery with a controller, links and other programs whose actions a test determines.
struct PlayedRecovery {
    /// An event that a test plays.
    enum Step: CaseIterable {
        /// A command is not answered.
        case silence
        /// The controller reports an error.
        case hardwareError
        /// Octets are lost on the line.
        case lineLost
        /// The command is answered after all.
        case answer
        case link
        case linksEnd
        /// Another program makes a link, or ends it.
        case otherLink
        case begin
        /// The attempt succeeds, or is not made because of other programs' links or another fault.
        case succeed
        case fail
        /// There is no fault for a minute.
        case minute
        /// Nothing is received for 32 s.
        case quiet
        /// A packet is received.
        case packet
        /// The probe is not answered.
        case silentProbe
    }

    private(set) var recovery: Recovery
    private(set) var faults: [String] = []
    private(set) var isGivenUp = false
    /// The fault that is reported as postponed until links end.
    private(set) var postponed: AdapterFault?
    /// The numbers of links of this process, and of others.
    private(set) var (links, others) = (0, 0)
    /// The attempt under way; nil if there is none.
    private(set) var attempt: Recovery.Attempt?
    private var isBegun = false
    /// Whether the controller was probed and nothing was received since, and whether it is known to be silent.
    private var (isProbed, isSilent) = (false, false)
    /// The last event that was reported.
    private var lastNote: AdapterHealthEvent?
    /// Whether the controller's activities still have to be requested again.
    private var owesResume = false
    private let isKernel: Bool
    private let costsLinks: Bool
    private var now = Instant.zero
    /// The steps of the attempts since the last minute without one.
    private var attempts: [RecoveryStep] = []
    private var latest = Instant.zero

    static let opcode = HCIOpcode.leSetScanEnable

    init(isKernel: Bool, costsLinks: Bool) {
        (self.isKernel, self.costsLinks) = (isKernel, costsLinks)
        recovery = Recovery(isKernel: isKernel, costsLinks: costsLinks)
        do throws(BLEError) {
            guard try recovery.setUpEnded(at: now), !recovery.isUnderWay else {
                faults.append("it is not set up")
                return
            }
        } catch {
            faults.append("\(error)")
        }
    }

    /// Plays a step. Returns false when it cannot occur now.
    mutating func take(_ step: Step) -> Bool {
        now = now + .milliseconds(100)
        switch step {
        case .silence: handle(.silence(command: Self.opcode))
        case .hardwareError: handle(.hardwareError(1))
        case .lineLost:
            guard !isKernel else { return false }
            handle(.lineLost)
        case .answer:
            guard attempt == nil, !isGivenUp else { return false }
            receivePacket()
            recovery.answered(.leSetScanParameters)
            takeEvents()
            if postponed == .silence(command: Self.opcode), recovery.nextEvent() != nil {
                faults.append("another command's answer")
            }
            let wasSilent = postponed == .silence(command: Self.opcode)
            recovery.answered(Self.opcode)
            takeEvents()
            if wasSilent, postponed != nil { faults.append("the answer is not reported") }
        case .link:
            guard attempt == nil, !isGivenUp else { return false }
            links += 1
        case .linksEnd:
            guard links > 0 else { return false }
            links = 0
            recovery.linksEnded(at: now)
        case .otherLink:
            guard isKernel else { return false }
            others = others == 0 ? 1 : 0
        case .begin:
            guard let attempt, !isBegun else { return false }
            isBegun = true
            recovery.begun(attempt)
        case .succeed, .fail:
            guard isBegun, let attempt = attempt.take() else { return false }
            isBegun = false
            let outcome: Recovery.Outcome
            if attempt.sparesOthers, others > 0 || recovery.isDisturbed {
                outcome = .notMade(othersLinks: others)
                attempts.removeLast()
            } else if step == .fail {
                outcome = .failed
            } else {
                outcome = .done(wasReset: attempt.losesLinks)
            }
            recovery.ended(attempt, outcome, links: links, at: now)
            // The attempt has ended already, so this has no effect.
            recovery.ended(attempt, .failed, links: links, at: now)
        case .minute: now = now + RecoveryLadder.calm
        case .quiet:
            guard recovery.deadline != nil else { return false }
            now = now + Recovery.quiet
            recovery.expire(at: now)
        case .packet:
            guard recovery.listens else { return false }
            receivePacket()
        case .silentProbe:
            guard isProbed else { return false }
            (isProbed, isSilent) = (false, true)
            handle(.silence(command: Recovery.probe))
            takeEvents()
            if postponed != nil { faults.append("a silent controller is not recovered") }
            isSilent = false
        }
        takeEvents()
        return true
    }

    private mutating func receivePacket() {
        isProbed = false
        recovery.received(at: now)
    }

    private mutating func handle(_ fault: AdapterFault) {
        recovery.handle(fault, links: links, at: now)
    }

    private mutating func takeEvents() {
        while let event = recovery.nextEvent() {
            if isGivenUp { faults.append("\(event) after the end") }
            switch event {
            case .probe:
                if isKernel || links == 0 || postponed == nil {
                    faults.append("probed for nothing")
                }
                isProbed = true
            case .begin(let attempt):
                if lastNote != .recovering(attempt.fault, by: attempt.step) { faults.append("not reported") }
                begin(attempt)
            case .giveUp(let fault):
                if lastNote != .gaveUp(fault) { faults.append("not reported") }
                (isGivenUp, owesResume) = (true, false)
            case .resume(let wasReset):
                if attempt != nil || !owesResume { faults.append("resumed for nothing") }
                switch lastNote {
                case .recovered: break
                case .postponed: if wasReset { faults.append("reset and left") }
                default: faults.append("resumed after \(String(describing: lastNote))")
                }
                owesResume = false
            case .note(let event):
                lastNote = event
                if case .postponed(let fault, _) = event { postponed = fault } else { postponed = nil }
            }
        }
        if attempt == nil, owesResume { faults.append("not resumed") }
        let switchesPower = attempt.map { $0.step == .powerCycle || $0.isOfKernel } ?? false
        if switchesPower, !recovery.switchesPower { faults.append("it switches the power") }
        if !isKernel || attempt == nil && !isGivenUp, recovery.switchesPower {
            faults.append("it does not switch the power")
        }
        let isWell = attempt == nil && !isGivenUp
        if recovery.isUnderWay == isWell { faults.append("under way: \(!isWell)") }
    }

    private mutating func begin(_ next: Recovery.Attempt) {
        if attempt != nil { faults.append("two attempts at once") }
        let isFree =
            switch next.fault {
            case .lineLost: true
            case .hardwareError: isKernel
            case .silence: false
            }
        isProbed = false
        if links > 0, next.losesLinks, !costsLinks, !isFree, !isSilent { faults.append("\(next) with links") }
        if latest + RecoveryLadder.calm <= now { attempts = [] }
        latest = now
        attempts.append(next.step)
        let allowed: [RecoveryStep] =
            isKernel ? [.reset, .reset, .powerCycle] : [.reset, .reset, .reset, .reset, .reset]
        if !allowed.starts(with: attempts) { faults.append("\(attempts)") }
        if next.losesLinks { links = 0 }
        (attempt, owesResume) = (next, true)
    }

    /// Ends all links, and lets every attempt succeed.
    mutating func settle() {
        if others > 0 { _ = take(.otherLink) }
        var count = 0
        while take(.begin) || take(.succeed) || take(.linksEnd), count < 40 { count += 1 }
        if count == 40 { faults.append("it does not settle") }
    }
}
