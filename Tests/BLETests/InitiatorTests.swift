import BLECore
import HCI
import Testing

@testable import BLE

/// Tests of the initiator's commands and events, with a controller whose answers the test chooses.
@Suite struct InitiatorTests {
    private let stopped = "the controller did not report how the attempt to connect ended"
    private let silence = "no answer from the controller"

    @Test(arguments: [false, true]) func singleDeviceIsConnectedByAddress(isExtended: Bool) {
        var played = PlayedInitiator()
        played.conditions.hasExtendedFamily = isExtended
        #expect(played.initiator.isIdle && played.next() == nil)
        played.add(1, 1)
        #expect(played.settle() == ["connect 1"])
        #expect(played.settle() == [] && played.initiator.deadline == nil)
        #expect(!played.initiator.isQuiet && !played.initiator.isChanging)
        #expect(played.connected(to: 1) == 1)
        #expect(played.settle() == [] && played.initiator.isIdle)
    }

    @Test func resolvedPeerAddressMatchesRequestedDevice() {
        var played = PlayedInitiator()
        played.add(1)
        _ = played.settle()
        #expect(played.connected(to: 3) == 1)
        #expect(played.settle() == [] && played.initiator.isIdle)
    }

    @Test func secondDeviceNeedsCancelAndAcceptList() {
        var played = PlayedInitiator()
        played.add(1)
        _ = played.settle()
        played.add(2)
        #expect(played.settle() == ["cancel"], "nothing more until the controller reports the end")
        played.failed()
        #expect(played.settle() == ["add 1", "add 2", "connect listed"])
        #expect(played.connected(to: 2) == 2)
        #expect(played.settle() == ["connect 1"])
        #expect(played.events == [])
    }

    @Test("the accept list is taken once no scan filters by it, and released with the last request")
    func acceptListIsTakenFromScanAndReturned() {
        var played = PlayedInitiator()
        played.conditions.isListFree = false
        played.add(1, 2)
        #expect(played.settle() == [] && played.list.isForConnecting)
        played.conditions.isListFree = true
        #expect(played.settle() == ["add 1", "add 2", "connect listed"])
        played.forget(1)
        played.forget(2)
        #expect(played.settle() == ["cancel"] && played.list.isForConnecting)
        played.failed()
        #expect(played.settle() == [] && !played.list.isForConnecting)
    }

    @Test func acceptListIsRefilledOnlyForRemovals() {
        var played = PlayedInitiator()
        played.add(1, 2)
        _ = played.settle()
        played.conditions.isPaused = true
        #expect(played.settle() == ["cancel"])
        played.failed()
        played.conditions.isPaused = false
        #expect(played.settle() == ["connect listed"], "it holds what it should")
        played.add(3)
        #expect(played.settle() == ["cancel"])
        played.failed()
        #expect(played.settle() == ["add 3", "connect listed"])
        played.forget(1)
        _ = played.settle()
        played.failed()
        #expect(played.settle() == ["clear", "add 2", "add 3", "connect listed"])
    }

    @Test func pauseCancelsInitiatorAndResumeRestartsIt() {
        var played = PlayedInitiator()
        played.add(1)
        _ = played.settle()
        played.conditions.isPaused = true
        #expect(played.settle() == ["cancel"] && !played.initiator.isQuiet)
        played.failed()
        #expect(played.initiator.isQuiet && !played.initiator.isIdle)
        played.add(2)
        #expect(played.settle() == [])
        played.conditions.isPaused = false
        #expect(played.settle() == ["add 1", "add 2", "connect listed"])
    }

    @Test("a request during an update of the accept list is included before connecting")
    func requestDuringAcceptListUpdateRefillsList() {
        var played = PlayedInitiator()
        played.add(1, 2)
        #expect(played.next() == "add 1")
        played.add(3)
        played.answer(.done([]))
        #expect(played.settle() == ["clear", "add 1", "add 2", "add 3", "connect listed"])
    }

    @Test(
        "a link can be reported instead of the cancellation, before or after the cancel's answer",
        arguments: [false, true])
    func linkCanArriveInsteadOfCancellation(isBefore: Bool) {
        var played = PlayedInitiator()
        played.add(1)
        _ = played.settle()
        played.add(2)
        #expect(played.next() == "cancel")
        if !isBefore { played.answer(.refused(.commandDisallowed)) }
        #expect(played.connected(to: 1) == 1)
        if isBefore { played.answer(.refused(.commandDisallowed)) }
        #expect(played.settle() == ["connect 2"])
    }

    @Test("an outcome can be reported before the answer to the command", arguments: [false, true])
    func outcomeCanPrecedeCommandAnswer(isLink: Bool) {
        var played = PlayedInitiator()
        played.add(1)
        #expect(played.next() == "connect 1")
        if isLink {
            #expect(played.connected(to: 1) == 1)
        } else {
            played.failed(.connectionFailedToBeEstablished)
            #expect(played.events.count == 1)
        }
        #expect(played.next() == nil, "one command at a time")
        played.answer(.done([]))
        #expect(played.settle() == [] && played.initiator.isIdle)
        played.add(2)
        #expect(played.settle() == ["connect 2"])
    }

    @Test func unreportedCancellationEndsAfterTwoSeconds() {
        var played = PlayedInitiator()
        played.add(1)
        _ = played.settle()
        played.forget(1)
        #expect(played.settle() == ["cancel"] && played.nextIn == .seconds(2))
        played.wait(.seconds(1))
        #expect(!played.initiator.isIdle)
        played.wait(.seconds(1))
        #expect(played.initiator.isIdle && played.events == [stopped])
    }

    @Test("a late outcome of an abandoned attempt does not end the next attempt", arguments: [false, true])
    func lateOutcomeDoesNotEndNextAttempt(isLink: Bool) {
        var played = PlayedInitiator()
        played.add(1)
        _ = played.settle()
        played.forget(1)
        _ = played.settle()
        played.wait(.seconds(2))
        played.add(2)
        #expect(played.settle() == ["connect 2"])
        if isLink { #expect(played.connected(to: 1) == nil) } else { played.failed() }
        #expect(played.settle() == [] && !played.initiator.isQuiet, "it listens for 2")
        #expect(played.events == [stopped])
        #expect(played.connected(to: 2) == 2)
    }

    @Test("a late outcome does not end an attempt whose command is not answered yet")
    func lateOutcomeBeforeAnswerDoesNotEndNextAttempt() {
        for status in [HCIStatus.unknownConnectionIdentifier, .connectionFailedToBeEstablished] {
            var played = PlayedInitiator()
            played.add(1)
            _ = played.settle()
            played.forget(1)
            _ = played.settle()
            played.wait(.seconds(2))
            played.add(2)
            #expect(played.next() == "connect 2")
            played.failed(status)
            played.answer(.done([]))
            #expect(played.settle() == [] && !played.initiator.isQuiet, "it listens for 2")
            #expect(played.events == [stopped])
            #expect(played.connected(to: 2) == 2)
        }
    }

    @Test("a late link without a running attempt serves a new request for its device")
    func lateLinkServesNewRequest() {
        var played = PlayedInitiator()
        played.add(1)
        _ = played.settle()
        played.forget(1)
        _ = played.settle()
        played.wait(.seconds(2))
        #expect(played.connected(to: 1) == nil && played.initiator.isIdle)
        played.conditions.isPaused = true
        played.add(1)
        #expect(played.connected(to: 1) == 1)
    }

    @Test func devicesBeyondAcceptListTakeTurns() {
        var played = PlayedInitiator(list: 2)
        played.add(1, 2, 3)
        #expect(played.settle() == ["add 1", "add 2", "connect listed"])
        #expect(played.nextIn == .seconds(5))
        played.wait(.seconds(5))
        #expect(played.settle() == ["cancel"])
        played.failed()
        #expect(played.settle() == ["clear", "add 3", "add 1", "connect listed"])
        #expect(played.nextIn == .seconds(5))
        // With one device fewer, all fit into the list.
        #expect(played.connected(to: 3) == 3)
        #expect(played.settle() == ["clear", "add 1", "add 2", "connect listed"])
        #expect(played.initiator.deadline == nil)
    }

    @Test(arguments: [0, 1]) func withoutAcceptListDevicesTakeTurns(_ capacity: Int) {
        var played = PlayedInitiator(list: capacity)
        played.add(1, 2)
        for device in [1, 2, 1, 2] {
            #expect(played.settle() == ["connect \(device)"])
            played.wait(.seconds(5))
            #expect(played.settle() == ["cancel"])
            played.failed()
        }
        #expect(played.events == [])
    }

    // MARK: Time

    /// Returns a request that is eager for `seconds`, or without a limit if that is nil.
    private func request(
        _ number: UInt64, eagerFor seconds: Int?, then preset: ScanOptions.Preset = .balanced
    ) -> ConnectState.Request {
        var options = ConnectionOptions()
        options.background = preset
        return ConnectState.Request(
            ticket: ConnectTicket(number: number), options: options,
            eagerUntil: seconds.map { Instant.zero + .seconds($0) })
    }

    @Test(
        "requests without a time limit switch to background timing after a while", arguments: [1, 2])
    func patientRequestsUseBackgroundTiming(devices: Int) {
        var played = PlayedInitiator()
        played.requests = [request(1, eagerFor: 30), request(2, eagerFor: 40, then: .lowPower)]
        played.add(1)
        if devices == 2 { played.add(2) }
        let connect = devices == 1 ? "connect 1" : "connect listed"
        #expect(played.settle().last == connect)
        #expect(played.timing == .lowLatency && played.nextIn == .seconds(40), "the most eager decides")
        played.wait(.seconds(39))
        #expect(played.settle() == [])
        played.wait(.seconds(1))
        #expect(played.settle() == ["cancel"])
        played.failed()
        #expect(played.settle() == [connect] && played.timing == .balanced)
        #expect(played.initiator.deadline == nil)
        // A request with a time limit uses the low-latency timing at once.
        played.requests.append(request(3, eagerFor: nil))
        #expect(played.settle() == ["cancel"])
        played.failed()
        #expect(played.settle() == [connect] && played.timing == .lowLatency)
        #expect(played.initiator.deadline == nil)
        played.requests = [request(2, eagerFor: 40, then: .lowPower)]
        #expect(played.settle() == ["cancel"])
        played.failed()
        #expect(played.settle() == [connect] && played.timing == .lowPower)
        #expect(played.connected(to: 1) == 1)
    }

    @Test("requests that come and go do not lengthen a device's turn")
    func changingRequestsDoNotLengthenTurn() {
        var played = PlayedInitiator(list: 0)
        played.add(1, 2)
        #expect(played.settle() == ["connect 1"] && played.nextIn == .seconds(5))
        for second in 1...4 {
            played.wait(.seconds(1))
            played.requests = second.isMultiple(of: 2) ? [] : [request(1, eagerFor: 0)]
            #expect(played.settle() == ["cancel"])
            played.failed()
            #expect(played.settle() == ["connect 1"] && played.nextIn == .seconds(5 - second))
        }
        played.wait(.seconds(1))
        #expect(played.settle() == ["cancel"])
        played.failed()
        #expect(played.settle() == ["connect 2"] && played.nextIn == .seconds(5))
    }

    @Test("beside a scan the initiator listens at most half of the time") func initiatorSharesTimeWithScan() {
        for (preset, window) in [
            (ScanOptions.Preset.lowPower, UInt16(18)), (.balanced, 48), (.lowLatency, 48),
        ] {
            var played = PlayedInitiator()
            played.conditions.share = 0.5
            played.requests = [request(1, eagerFor: 0, then: preset)]
            played.add(1)
            #expect(played.settle() == ["connect 1"])
            #expect(played.timing.window == Slots(rawValue: window).duration)
        }
    }

    @Test("background timing that becomes due during a command applies after its answer")
    func backgroundTimingDuringUnansweredCommand() {
        var played = PlayedInitiator()
        played.requests = [request(1, eagerFor: 1)]
        played.add(1)
        #expect(played.next() == "connect 1")
        played.wait(.seconds(1))
        #expect(played.next() == nil && played.initiator.deadline == nil)
        played.answer(.done([]))
        #expect(played.settle() == ["cancel"])
        played.failed()
        #expect(played.settle() == ["connect 1"] && played.timing == .balanced)
    }

    // MARK: Refusals and failures

    @Test("of an accept list that is smaller than reported, the accepted capacity is used")
    func smallerListThanReported() {
        var played = PlayedInitiator()
        played.add(1, 2, 3)
        #expect(
            played.settle("add 3", .refused(.memoryCapacityExceeded)) == [
                "add 1", "add 2", "add 3", "clear", "add 1", "add 2", "connect listed",
            ])
        #expect(played.nextIn == .seconds(5))
    }

    @Test(
        "a refused accept list is not used again until a reset",
        arguments: ["clear", "add 1", "connect listed"])
    func refusedAcceptListIsUnusedUntilReset(command: String) {
        var played = PlayedInitiator()
        // The contents of the accept list are unknown.
        _ = played.list.begin([])
        played.add(1, 2)
        #expect(played.settle(command, .refused(.hardwareFailure)).last == "connect 1")
        _ = played.connected(to: 1)
        #expect(played.settle() == ["connect 2"] && played.events == [])
        _ = played.connected(to: 2)
        played.initiator.controllerWasReset(capacity: 8)
        played.list.wasReset(holding: 8)
        played.add(1, 2)
        #expect(played.settle() == ["add 1", "add 2", "connect listed"])
    }

    @Test("a refused connect to one device fails its request") func refusedConnectFailsRequest() {
        var played = PlayedInitiator()
        played.add(1)
        let refusal = BLEError.hci(.commandDisallowed, command: .leCreateConnection)
        #expect(played.settle("connect 1", .refused(.commandDisallowed)) == ["connect 1"])
        #expect(played.events == ["failed 1: \(refusal)"] && played.initiator.isIdle)
        played.add(2)
        _ = played.settle("connect 2", .malformed(.missingStatus))
        #expect(played.events.count == 2 && played.events[1].contains("an answer without status"))
    }

    @Test func failureFailsAllDevicesOfAttempt() {
        var played = PlayedInitiator()
        played.add(1, 2)
        _ = played.settle()
        played.add(3)
        #expect(played.next() == "cancel")
        played.failed(.connectionFailedToBeEstablished)
        played.answer(.done([]))
        #expect(played.events.map { $0.prefix(8) } == ["failed 1", "failed 2"])
        #expect(played.settle() == ["connect 3"])
        // An end of the attempt that the host has not requested is a failure, too.
        played.failed()
        #expect(played.events.count == 3 && played.initiator.isIdle)
        played.failed()
        #expect(played.events.count == 3)
    }

    @Test(
        "after an unanswered connect command the attempt is cancelled before the next",
        arguments: [false, true])
    func unansweredConnectIsCancelledBeforeNext(hasBegun: Bool) {
        var played = PlayedInitiator()
        played.add(1, 2)
        _ = played.settle()
        _ = played.connected(to: 2)
        #expect(played.settle("connect 1", .silent) == ["connect 1"])
        #expect(played.events == ["failed 1: LE Create Connection: \(silence)"])
        played.add(3)
        #expect(played.settle() == [] && played.nextIn == .seconds(1))
        played.wait(.seconds(1))
        #expect(played.next() == "cancel")
        if hasBegun {
            played.answer(.done([]))
            #expect(played.settle() == [])
            played.failed()
        } else {
            played.answer(.refused(.commandDisallowed))
        }
        #expect(played.settle() == ["connect 3"] && played.events.count == 1)
    }

    @Test("an unanswered cancel is retried once and then taken as completed")
    func silentCancelIsRetriedOnce() {
        var played = PlayedInitiator()
        played.add(1)
        _ = played.settle()
        played.forget(1)
        #expect(played.settle("cancel", .silent) == ["cancel"])
        #expect(!played.initiator.isQuiet && played.nextIn == .seconds(1))
        played.wait(.seconds(1))
        #expect(played.settle("cancel", .silent) == ["cancel"])
        #expect(played.initiator.isIdle && played.events == [stopped])
        // The controller still connects to the first device. That attempt is cancelled before the next one starts,
        // whose request does not fail.
        played.wait(.seconds(2))
        played.add(2)
        #expect(played.settle("connect 2", .refused(.commandDisallowed)) == ["connect 2", "cancel"])
        played.failed()
        #expect(played.settle() == ["connect 2"] && played.events == [stopped])
        #expect(played.connected(to: 2) == 2)
    }

    @Test("a controller that refuses to connect and to cancel is sent each command once")
    func refusedCancelIsNotRepeated() {
        var played = PlayedInitiator()
        played.add(1)
        _ = played.settle()
        played.forget(1)
        _ = played.settle()
        played.wait(.seconds(2))
        played.add(2)
        for command in ["connect 2", "cancel", "connect 2"] {
            #expect(played.next() == command)
            played.answer(.refused(.commandDisallowed))
        }
        #expect(played.next() == nil)
        let refusal = BLEError.hci(.commandDisallowed, command: .leCreateConnection)
        #expect(played.events == [stopped, "failed 2: \(refusal)"])
        // Beside a scan, the initiator takes turns with it.
        played.conditions.isScanning = true
        played.add(3)
        #expect(played.next() == "connect 3")
        played.answer(.refused(.commandDisallowed))
        #expect(played.initiator.takesTurnsWithScans && played.events.count == 2)
    }

    @Test("a cancellation that is not reported does not delay later cancellations")
    func unreportedCancellationDelaysNoLaterOne() {
        var played = PlayedInitiator()
        played.add(1)
        _ = played.settle()
        played.forget(1)
        _ = played.settle()
        played.wait(.seconds(2))
        for device in 2...4 {
            played.add(device)
            #expect(played.settle() == ["connect \(device)"])
            played.forget(device)
            #expect(played.settle() == ["cancel"])
            played.failed()
            #expect(played.initiator.isIdle)
        }
        #expect(played.events == [stopped])
    }

    @Test("a link of an unanswered command serves the request for its device")
    func linkOfUnansweredCommandServesDevice() {
        var played = PlayedInitiator()
        played.add(1)
        #expect(played.next() == "connect 1")
        played.conditions.isRecovering = true
        played.answer(.silent)
        #expect(played.events == [], "what brings the controller back begins it anew")
        #expect(played.connected(to: 1) == 1 && played.initiator.isIdle)
    }

    @Test(
        "connecting restarts after a reset between any two steps, with or without a pending command",
        arguments: 0..<7,
        [false, true])
    func resetBetweenAnySteps(after count: Int, isAsking: Bool) {
        var played = PlayedInitiator()
        _ = played.list.begin([])
        played.add(1, 2)
        for _ in 0..<count {
            // The steps are clear, add two devices, connect and cancel.
            if played.initiator.isQuiet == false, !played.initiator.isChanging { played.forget(2) }
            if played.next() != nil { played.answer(.done([])) }
        }
        if isAsking {
            if !played.initiator.isQuiet, !played.initiator.isChanging { played.forget(2) }
            _ = played.next()
        }
        played.initiator.controllerWasReset(capacity: 8)
        played.list.wasReset(holding: 8)
        played.answer(.silent)
        played.add(2)
        #expect(played.settle() == ["add 1", "add 2", "connect listed"])
        #expect(played.events == [])
    }

    // MARK: Controllers that do not scan and connect at the same time

    @Test("attempts alternate with scans every five seconds while the controller refuses both at once")
    func alternatesWithScans() {
        var played = PlayedInitiator()
        played.conditions.isScanning = true
        played.add(1)
        #expect(!played.initiator.silencesScans)
        #expect(played.settle("connect 1", .refused(.commandDisallowed)) == ["connect 1"])
        #expect(played.initiator.silencesScans && played.events == [])
        played.initiator.share(withScan: true, at: played.conditions.now)
        #expect(played.settle() == [], "the scan has not ended yet")
        played.conditions.isScanning = false
        #expect(played.settle() == ["connect 1"])
        for _ in 0..<3 {
            #expect(played.nextIn == .seconds(5))
            played.wait(.seconds(5))
            #expect(
                played.settle() == ["cancel"] && played.initiator.silencesScans, "not before it has ended")
            played.failed()
            #expect(played.settle() == [] && !played.initiator.silencesScans)
            played.conditions.isScanning = true
            #expect(played.nextIn == .seconds(5))
            played.wait(.seconds(5))
            #expect(played.initiator.silencesScans)
            played.conditions.isScanning = false
            played.initiator.share(withScan: true, at: played.conditions.now)
            #expect(played.settle() == ["connect 1"])
        }
        // Without a scan, connecting has no time limit. Without a device, no scan is suspended.
        played.initiator.share(withScan: false, at: played.conditions.now)
        #expect(played.initiator.deadline == nil)
        #expect(played.connected(to: 1) == 1)
        #expect(!played.initiator.silencesScans && played.events == [])
    }

    @Test("devices beyond the accept list's capacity take turns while alternating with a scan")
    func devicesBeyondListTakeTurnsBesideScan() {
        var played = PlayedInitiator(list: 1)
        played.conditions.isScanning = true
        played.add(1, 2)
        _ = played.settle("connect 1", .refused(.commandDisallowed))
        for device in [1, 2, 1, 2] {
            played.initiator.share(withScan: true, at: played.conditions.now)
            // The scan takes a moment to end.
            played.wait(.milliseconds(20))
            played.conditions.isScanning = false
            #expect(played.settle() == ["connect \(device)"])
            played.wait(played.nextIn ?? .zero)
            #expect(played.settle() == ["cancel"])
            played.failed()
            played.conditions.isScanning = true
            #expect(!played.initiator.silencesScans)
            played.wait(played.nextIn ?? .zero)
        }
    }

    @Test("a scan that is refused beside an attempt gets a turn after five seconds")
    func refusedScanAlternatesWithAttempt() {
        var played = PlayedInitiator()
        played.add(1)
        _ = played.settle()
        played.initiator.takeTurnsWithScans()
        played.initiator.share(withScan: true, at: played.conditions.now)
        #expect(played.initiator.silencesScans && played.settle() == [] && played.nextIn == .seconds(5))
        played.wait(.seconds(2))
        played.initiator.share(withScan: true, at: played.conditions.now)
        #expect(played.nextIn == .seconds(3), "asking does not make it longer")
        // After a reset the controller may scan and connect at the same time.
        played.initiator.controllerWasReset(capacity: 8)
        #expect(!played.initiator.silencesScans && played.settle() == ["connect 1"])
    }
}
