import BLECore
import Testing

@testable import BLE

/// The recovery of a controller that fails at any time.
struct RecoveryMachineTests {
    /// Plays every sequence of up to `depth` steps, and calls `look` at the end of each.
    private func everySequence(
        of depth: Int, _ played: PlayedRecovery, _ steps: [PlayedRecovery.Step] = [],
        _ look: (PlayedRecovery, [PlayedRecovery.Step]) -> Void
    ) {
        look(played, steps)
        guard depth > 0 else { return }
        for step in PlayedRecovery.Step.allCases {
            var next = played
            guard next.take(step) else { continue }
            everySequence(of: depth - 1, next, steps + [step], look)
        }
    }

    @Test(
        "in every order of events the controller is recovered or given up, and no link is lost needlessly",
        arguments: [false, true], [false, true])
    func everyOrder(_ isKernel: Bool, _ costsLinks: Bool) {
        var count = 0
        var failures: [[PlayedRecovery.Step]] = []
        everySequence(of: 6, PlayedRecovery(isKernel: isKernel, costsLinks: costsLinks)) { played, steps in
            count += 1
            var played = played
            // Without links of this host, a fault stays postponed only on a kernel adapter.
            var isRight = played.postponed == nil || played.links > 0 || isKernel
            played.settle()
            isRight = isRight && played.faults.isEmpty && played.attempt == nil
            isRight = isRight && played.isGivenUp == played.recovery.isUnderWay
            // The controller is given up only after more faults than the permitted attempts.
            let faults = steps.filter { [.silence, .hardwareError, .lineLost, .fail].contains($0) }.count
            isRight = isRight && (!played.isGivenUp || faults > (isKernel ? 3 : 5))
            if !isRight { failures.append(steps) }
        }
        #expect(count > 10_000)
        let shortest = failures.min { $0.count < $1.count }
        #expect(shortest == nil, "and \(failures.count) more")
    }

    @Test("the initial set-up restarts after a fault, a limited number of times")
    func setUpRestartsAfterFaultWithinLimit() throws {
        var recovery = Recovery(isKernel: false, costsLinks: false)
        for second in 0..<5 {
            recovery.beginSetUp()
            recovery.handle(.lineLost, links: 0, at: .zero + .seconds(second))
            #expect(recovery.isDisturbed)
            #expect(try !recovery.setUpEnded(at: .zero + .seconds(second)))
        }
        recovery.beginSetUp()
        #expect(!recovery.isDisturbed)
        // The sender of the command gets the error.
        recovery.handle(.silence(command: PlayedRecovery.opcode), links: 0, at: .zero + .seconds(5))
        #expect(!recovery.isDisturbed)
        recovery.handle(.hardwareError(1), links: 0, at: .zero + .seconds(5))
        #expect(throws: BLEError.adapter(.failed(.hardwareError(1)))) {
            try recovery.setUpEnded(at: .zero + .seconds(5))
        }
    }

    @Test("two simultaneous errors cause one recovery attempt")
    func simultaneousErrorsCauseOneAttempt() throws {
        for isKernel in [false, true] {
            var recovery = Recovery(isKernel: isKernel, costsLinks: false)
            #expect(try recovery.setUpEnded(at: .zero))
            recovery.handle(.hardwareError(1), links: 0, at: .zero)
            recovery.handle(.hardwareError(1), links: 0, at: .zero)
            var attempts: [Recovery.Attempt] = []
            func take() {
                while let event = recovery.nextEvent() {
                    if case .begin(let attempt) = event { attempts.append(attempt) }
                }
            }
            take()
            let attempt = try #require(attempts.first)
            recovery.begun(attempt)
            recovery.ended(attempt, .done(wasReset: true), links: 0, at: .zero)
            take()
            #expect(attempts == [attempt] && !recovery.isUnderWay)
        }
    }

    @Test("a kernel adapter that is given up still switches its power")
    func givenUpKernelControllerStillSwitchesPower() throws {
        var recovery = Recovery(isKernel: true, costsLinks: false)
        #expect(try recovery.setUpEnded(at: .zero))
        recovery.handle(.hardwareError(1), links: 0, at: .zero)
        var isGivenUp = false
        while let event = recovery.nextEvent() {
            if case .begin(let attempt) = event {
                recovery.begun(attempt)
                #expect(recovery.switchesPower)
                recovery.ended(attempt, .failed, links: 0, at: .zero)
            }
            if case .giveUp = event { isGivenUp = true }
        }
        #expect(isGivenUp && recovery.switchesPower)
    }
}
