import BLECore
import HCI

@testable import BLE

/// A recovery before a controller, links and other programs that do what a test says.
struct PlayedRecovery {
    /// What happens.
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
        /// The last link ends.
        case linksEnd
        /// Another program makes a link, or ends it.
        case otherLink
        /// The attempt succeeds, as far as nothing has happened meanwhile.
        case succeed
        case fail
        /// There is no fault for a minute.
        case minute
    }

    private(set) var recovery: Recovery
    private(set) var faults: [String] = []
    private(set) var isGivenUp = false
    /// The fault that is told of as left until links end.
    private(set) var postponed: AdapterFault?
    /// Links of this process, and of others.
    private(set) var (links, others) = (0, 0)
    /// The attempt that is made.
    private(set) var attempt: Recovery.Attempt?
    private let isKernel: Bool
    private let costsLinks: Bool
    private var now = Instant.zero
    /// The attempts without a calm minute between them and before them.
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

    /// Takes a step; false when there is nothing to do.
    mutating func take(_ step: Step) -> Bool {
        now = now + .milliseconds(100)
        switch step {
        case .silence: meet(.silence(command: Self.opcode))
        case .hardwareError: meet(.hardwareError(1))
        case .lineLost:
            guard !isKernel else { return false }
            meet(.lineLost)
        case .answer:
            guard attempt == nil, !isGivenUp else { return false }
            recovery.answered(Self.opcode)
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
        case .succeed, .fail:
            guard let attempt = attempt.take() else { return false }
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
            // It is one of before.
            recovery.ended(attempt, .failed, links: links, at: now)
        case .minute: now = now + RecoveryLadder.calm
        }
        takeEvents()
        return true
    }

    private mutating func meet(_ fault: AdapterFault) {
        recovery.meet(fault, links: links, at: now)
    }

    private mutating func takeEvents() {
        while let event = recovery.nextEvent() {
            if isGivenUp { faults.append("\(event) after the end") }
            switch event {
            case .begin(let attempt): begin(attempt)
            case .giveUp: isGivenUp = true
            case .resume(let wasReset):
                if attempt != nil { faults.append("resumed within an attempt") }
                if wasReset, links > 0 { faults.append("reset with links") }
            case .note(.postponed(let fault, _)): postponed = fault
            case .note(.answersAgain), .note(.recovered), .note(.recovering), .note(.gaveUp): postponed = nil
            case .note(let event): faults.append("\(event)")
            }
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
        if links > 0, next.losesLinks, !costsLinks, !isFree { faults.append("\(next) with links") }
        if latest + RecoveryLadder.calm <= now { attempts = [] }
        latest = now
        attempts.append(next.step)
        let allowed: [RecoveryStep] =
            isKernel ? [.reset, .reset, .powerCycle] : [.reset, .reset, .reset, .reset, .reset]
        if !allowed.starts(with: attempts) { faults.append("\(attempts)") }
        if next.losesLinks { links = 0 }
        attempt = next
    }

    /// All links end, and every attempt succeeds.
    mutating func settle() {
        if others > 0 { _ = take(.otherLink) }
        var count = 0
        while take(.succeed) || take(.linksEnd), count < 20 { count += 1 }
        if count == 20 { faults.append("it does not settle") }
    }
}
