import BLECore
import HCI
import Testing

@testable import BLE

/// The scanner with a scripted controller.
struct ScannerTests {
    private let set = "Scan Parameters 01 60 00 60 00 00 00"
    private let on = "Scan Enable 01 00"
    private let off = "Scan Enable 00 00"
    private let disallowed = CommandAnswer.refused(.commandDisallowed)

    private var all: [HCICommandPacket] {
        [
            LESetScanParameters(type: .active, interval: Slots(rawValue: 96), window: Slots(rawValue: 96))
                .packet,
            LESetScanEnable(enable: true).packet,
        ]
    }
    private var background: [HCICommandPacket] {
        [
            LESetScanParameters(
                type: .passive, interval: Slots(rawValue: 96), window: Slots(rawValue: 48),
                filterPolicy: .acceptListOnly
            ).packet,
            LESetScanEnable(enable: true, filterDuplicates: true).packet,
        ]
    }

    // MARK: One host

    @Test("a scan that is refused beside a connection attempt waits for its turn")
    func scanRefusedBesideConnectingWaits() {
        var played = PlayedScanner()
        let id = played.scan()
        played.conditions.isInitiating = true
        #expect(played.next() == set)
        played.answer(.done([]))
        #expect(played.next() == on)
        played.answer(disallowed)
        #expect(played.events == ["not beside connecting"] && played.ended.isEmpty)
        played.conditions.isPaused = true
        #expect(played.settle() == [])
        (played.conditions.isPaused, played.conditions.isInitiating) = (false, false)
        #expect(played.settle() == [set, on])
        played.end(id)
        #expect(played.settle() == [off])
    }

    @Test func radioFollowsScans() {
        var played = PlayedScanner()
        #expect(played.settle() == [])
        let first = played.scan()
        #expect(played.settle() == [set, on])
        #expect(played.settle() == [])
        let second = played.scan()
        #expect(played.settle() == [], "it receives what the first does")
        played.end(first)
        #expect(played.settle() == [])
        played.end(second)
        #expect(played.settle() == [off])
        #expect(played.scanner.isQuiet)
    }

    @Test func changedOptionsAreSentWhileRadioIsOff() {
        var played = PlayedScanner()
        var passive = ScanOptions()
        passive.isPassive = true
        _ = played.scan(passive)
        #expect(played.settle() == [set.replacing("01 60", with: "00 60"), on])
        let active = played.scan()
        #expect(played.settle() == [off, set, on])
        played.end(active)
        #expect(played.settle().count == 3)
    }

    @Test func scanEndedDuringStartIsStopped() {
        var played = PlayedScanner()
        let id = played.scan()
        #expect(played.next() == set)
        #expect(played.next() == nil, "one command at a time")
        played.end(id)
        played.answer(.done([]))
        #expect(played.settle() == [on, off])
        #expect(played.scanner.isQuiet)
    }

    @Test func pauseStopsRadio() {
        var played = PlayedScanner()
        _ = played.scan()
        _ = played.settle()
        played.conditions.isPaused = true
        #expect(played.settle() == [off])
        #expect(played.scanner.isQuiet && played.scanner.isWanted)
        played.conditions.isPaused = false
        #expect(played.settle() == [set, on])
    }

    @Test func refusedParametersEndRequestingScan() throws {
        var played = PlayedScanner()
        var modest = ScanOptions()
        modest.preset = .balanced
        let first = played.scan(modest)
        let begun = played.settle()
        var special = ScanOptions()
        special.timing = try ScanTiming(interval: .seconds(5), window: .seconds(5))
        let second = played.scan(special)
        let sent = played.settle(.done([]), .refused(.invalidCommandParameters))
        #expect(sent.count == 4 && sent.first == off && Array(sent.suffix(2)) == begun)
        let reason = "LE Set Scan Parameters: Invalid HCI Command Parameters (0x12)"
        #expect(played.events == ["ended \(second.number): \(reason)"])
        played.end(first)
        #expect(played.settle() == [off])
        // The only scan ends, too, when its parameters are refused.
        let third = played.scan()
        #expect(played.settle(.done([]), .refused(.hardwareFailure)) == [set, on])
        #expect(played.events.last?.hasPrefix("ended \(third.number)") == true)
        #expect(!played.scanner.isWanted)
    }

    @Test func unendedScanIsStoppedBeforeNext() {
        var played = PlayedScanner()
        let id = played.scan()
        _ = played.settle()
        played.end(id)
        #expect(played.settle(.refused(.hardwareFailure)) == [off])
        _ = played.scan()
        #expect(played.settle(disallowed) == [off, set, on], "it was off already")
    }

    // MARK: Silence of the controller

    @Test(arguments: 0..<3)
    func unansweredCommandStopsRadioUnlessReset(place: Int) {
        for wasReset in [true, false] {
            var played = PlayedScanner()
            let id = played.scan()
            var answers = [CommandAnswer](repeating: .done([]), count: place)
            if place == 2 {
                _ = played.settle()
                played.end(id)
                answers = []
            }
            for answer in answers {
                _ = played.next()
                played.answer(answer)
            }
            #expect(played.next() != nil)
            played.answer(.silent)
            #expect(played.next() == nil, "what brings the controller back comes first")
            #expect(!played.scanner.isQuiet)
            if wasReset { played.scanner.controllerWasReset() } else { played.scanner.controllerIsBack() }
            let begins = place == 2 ? [] : [set, on]
            #expect(played.settle() == (wasReset ? [] : [off]) + begins)
        }
    }

    @Test("an unanswered stop of a scan is retried, also when the controller does not recover")
    func unansweredStopIsRetried() {
        var played = PlayedScanner()
        let id = played.scan()
        _ = played.settle()
        played.end(id)
        for seconds in [1, 2, 4] {
            #expect(played.next() == off)
            played.answer(.silent)
            #expect(played.next() == nil)
            played.wait(.seconds(seconds) - .milliseconds(1))
            #expect(played.next() == nil && !played.scanner.isQuiet)
            played.wait(.milliseconds(1))
        }
        #expect(played.settle() == [off])
        #expect(played.scanner.isQuiet && played.scanner.deadline == nil)
    }

    @Test func silentScanRestarts() {
        var played = PlayedScanner()
        _ = played.scan()
        _ = played.settle()
        played.wait(.seconds(59))
        #expect(played.settle() == [])
        played.wait(.seconds(1))
        #expect(played.settle() == [off, set, on])
        #expect(played.events.count == 1)
    }

    @Test("a scan that its watchdog doubts is ended before anything that requires silence")
    func doubtedScanIsEnded() {
        var played = PlayedScanner()
        let id = played.scan()
        _ = played.settle()
        played.wait(ScanWatchdog.timeLimit)
        #expect(!played.scanner.isQuiet)
        played.end(id)
        #expect(played.settle() == [off])
        #expect(played.scanner.isQuiet)
    }

    @Test(
        "the remaining commands of a change are not sent to a recovered controller",
        arguments: [true, false])
    func recoveryDropsRemainingCommands(wasReset: Bool) {
        for isAsking in [true, false] {
            var played = PlayedScanner()
            played.list.wasReset(holding: 2)
            var options = ScanOptions()
            options.addresses = [
                AddressFilter(DeviceAddress(1, type: .public)),
                AddressFilter(DeviceAddress(2, type: .public)),
            ]
            _ = played.scan(options)
            #expect(played.next() != nil)
            if !isAsking { played.answer(.done([])) }
            if wasReset {
                played.list.wasReset(holding: 2)
                played.scanner.controllerWasReset()
            } else {
                played.scanner.controllerIsBack()
            }
            if isAsking { played.answer(.done([])) }
            let sent = played.settle()
            // Without a reset the scan is first switched off. Then the whole list is sent.
            let list = wasReset ? 2 : 3
            #expect(sent.count == (wasReset ? 0 : 1) + list + 2, "\(sent)")
            #expect(sent.filter { $0.hasPrefix("LE Add Device") }.count == 2)
            #expect(played.list.contents?.count == 2)
        }
    }

    @Test func unansweredStopIsRetriedOnResume() {
        var played = PlayedScanner()
        _ = played.scan()
        _ = played.settle()
        played.conditions.isPaused = true
        #expect(played.settle(.silent) == [off])
        #expect(played.settle() == [])
        played.conditions.isPaused = false
        #expect(played.settle() == [off, set, on])
    }

    @Test func randomAddressIsSetFirstAndRefusalIsIgnored() {
        var played = PlayedScanner(isShared: true)
        played.conditions.randomAddress = DeviceAddress(0xc000_0000_0001, type: .random)
        let id = played.scan()
        let sent = played.settle(.refused(.commandDisallowed))
        #expect(sent.count == 3 && sent[0].hasPrefix("Random Address") && sent[1...] == [set, on])
        played.end(id)
        _ = played.settle()
        _ = played.scan()
        #expect(played.settle(.silent).count == 1, "silence is the controller's")
    }

    @Test(arguments: [Scanner.Search.train, .peers])
    func refusedSearchEndsWithError(_ search: Scanner.Search) {
        var played = PlayedScanner()
        played.scanner.search(search, ScanOptions(), at: .zero)
        #expect(played.settle(.refused(.hardwareFailure)) == [set])
        #expect(played.events.count == 1 && played.events[0].hasPrefix("ended \(search)"))
        #expect(!played.scanner.isWanted)
    }

    // MARK: The accept list

    @Test func acceptListFiltersFittingDevices() {
        var played = PlayedScanner()
        played.list.wasReset(holding: 2)
        var options = ScanOptions()
        options.addresses = [
            AddressFilter(DeviceAddress(1, type: .public)), AddressFilter(DeviceAddress(2, type: .public)),
        ]
        _ = played.scan(options)
        let sent = played.settle()
        #expect(sent.count == 4 && sent[0].hasPrefix("LE Add Device") && sent[1].hasPrefix("LE Add Device"))
        #expect(sent[2].hasSuffix("01") && sent[3] == on)
        #expect(played.settle() == [])
    }

    @Test func refusedAcceptListIsNotUsed() {
        var played = PlayedScanner()
        played.list.wasReset(holding: 2)
        var options = ScanOptions()
        options.addresses = [AddressFilter(DeviceAddress(1, type: .public))]
        _ = played.scan(options)
        let sent = played.settle(.refused(.memoryCapacityExceeded))
        #expect(sent.count == 3 && sent[1...] == [set, on])
        #expect(played.list.capacity == 0)
    }

    // MARK: A shared controller

    @Test("after Command Disallowed an unknown foreign scan is stopped and this one started")
    func disallowedScanReplacesUnknownScan() {
        var played = PlayedScanner(isShared: true)
        _ = played.scan()
        #expect(played.settle(disallowed) == [set, off, set, on])
        #expect(played.events.isEmpty)
    }

    @Test("after Command Disallowed the kernel's filtered background scan is stopped")
    func disallowedScanReplacesFilteredScan() {
        var played = PlayedScanner(isShared: true)
        played.others(background)
        _ = played.scan()
        #expect(played.settle(disallowed) == [set, off, set, on])
    }

    @Test("after Command Disallowed an unfiltered foreign scan is joined, not stopped")
    func disallowedScanJoinsUnfilteredScan() {
        var played = PlayedScanner(isShared: true)
        played.others(all)
        let id = played.scan()
        #expect(played.settle(disallowed) == [set])
        #expect(!played.scanner.isQuiet && !played.scanner.isChanging)
        #expect(played.settle() == [])
        played.end(id)
        #expect(played.settle() == [])
        #expect(played.scanner.isQuiet)
        #expect(played.events.isEmpty)
    }

    @Test("a second Command Disallowed ends the scan with an error")
    func secondDisallowedEndsScan() {
        var played = PlayedScanner(isShared: true)
        let id = played.scan()
        #expect(played.settle(disallowed, .done([]), disallowed) == [set, off, set])
        #expect(played.events == ["ended \(id.number): LE Set Scan Parameters: Command Disallowed (0x0c)"])
        // The next scan tries again.
        _ = played.scan()
        #expect(played.settle() == [set, on])
    }

    /// The kernel ends this host's scan before it connects, and some controllers do not scan until it has connected.
    @Test("a running scan that is refused temporarily is retried until the controller accepts it")
    func temporarilyRefusedScanIsRetried() {
        var played = PlayedScanner(isShared: true)
        let id = played.scan()
        #expect(played.settle() == [set, on])
        played.others([LESetScanEnable(enable: false).packet])
        played.wait(Scanner.settlingTime)
        #expect(played.settle(.done([]), disallowed, .done([]), disallowed) == [off, set, off, set])
        for seconds in [1, 2, 4] {
            #expect(
                played.events.last == "the controller does not scan now (Command Disallowed (0x0c)): "
                    + "it is asked again in \(seconds) s")
            played.wait(.milliseconds(1000 * seconds - 1))
            #expect(played.settle() == [])
            played.wait(.milliseconds(1))
            #expect(played.settle(disallowed, .done([]), disallowed) == [set, off, set])
        }
        // A scan that starts now is refused, too, and ends; the first one continues to wait.
        let second = played.scan()
        #expect(
            played.settle(disallowed, .done([]), disallowed, disallowed, .done([]), disallowed).count == 6)
        #expect(played.ended == [second])
        played.wait(.seconds(16))
        #expect(played.settle() == [set, on])
        #expect(!played.ended.contains(id) && !played.scanner.isQuiet)
    }

    @Test("a refused restart of a scan is also retried on an adapter with exclusive use")
    func refusedRestartIsRetried() {
        var played = PlayedScanner()
        _ = played.scan()
        #expect(played.settle() == [set, on])
        played.wait(ScanWatchdog.timeLimit)
        #expect(played.settle(.done([]), .refused(.controllerBusy)) == [off, set])
        #expect(played.ended.isEmpty)
        played.wait(.seconds(1))
        #expect(played.settle() == [set, on])
    }

    @Test("the refusal of a scan that has ended does not delay the next one")
    func refusalOfEndedScanDoesNotDelayNext() {
        var played = PlayedScanner()
        let first = played.scan()
        #expect(played.next() == set)
        played.end(first)
        _ = played.scan()
        played.answer(.done([]))
        #expect(played.settle(.refused(.controllerBusy)) == [on, set, on])
        #expect(played.events.isEmpty && played.ended.isEmpty)
    }

    @Test("foreign commands during a pause do not stop the scan after it")
    func foreignCommandsDuringPauseDoNotStopScan() {
        var played = PlayedScanner(isShared: true)
        _ = played.scan()
        played.others([LESetScanEnable(enable: false).packet] + all)
        #expect(played.settle(disallowed) == [set])
        played.conditions.isPaused = true
        played.wait(Scanner.settlingTime)
        #expect(played.settle() == [])
        played.conditions.isPaused = false
        #expect(!played.settle().isEmpty)
    }

    @Test("a joined scan is not judged again until foreign commands have settled")
    func foreignSwitchWhileJoinedWaits() {
        var played = PlayedScanner(isShared: true)
        played.others(all)
        let id = played.scan()
        _ = played.settle(disallowed)
        played.others([LESetScanEnable(enable: false).packet])
        _ = played.scan()
        #expect(played.settle() == [])
        played.others(all)
        played.wait(Scanner.settlingTime)
        #expect(played.settle() == [] && played.events.isEmpty)
        played.end(id)
    }

    @Test("Command Disallowed while a scan is taken over again does not count as a second refusal")
    func disallowedDuringTakeoverIsNotSecondRefusal() {
        var played = PlayedScanner(isShared: true)
        _ = played.scan()
        _ = played.settle()
        played.others([LESetScanEnable(enable: false).packet])
        played.wait(Scanner.settlingTime)
        #expect(played.next() == off)
        // Before the next command the kernel starts its own scan.
        played.others(background)
        played.answer(.done([]))
        #expect(played.settle(disallowed) == [set])
        #expect(played.settle() == [])
        played.wait(Scanner.settlingTime)
        #expect(played.settle() == [off, set, on])
        #expect(played.events.allSatisfy { !$0.hasPrefix("ended") })
    }

    @Test("a foreign scan that this host has stopped is not joined")
    func endedForeignScanIsNotJoined() {
        var played = PlayedScanner(isShared: true)
        played.others(all)
        var coded = ScanOptions()
        coded.phys = [.le1M, .leCoded]
        played.conditions.limits.hasExtendedFamily = true
        let id = played.scan(coded)
        #expect(played.settle(disallowed).count == 4)
        played.end(id)
        _ = played.settle()
        let next = played.scan()
        _ = played.settle(disallowed, .done([]), disallowed)
        #expect(played.ended == [next], "no other program scans, so something else is wrong")
    }

    @Test("a pending takeover for one scan does not apply to the next")
    func pendingTakeoverEndsWithItsScan() {
        var played = PlayedScanner(isShared: true)
        let id = played.scan()
        #expect(played.next() == set)
        played.end(id)
        played.answer(disallowed)
        #expect(played.settle() == [])
        played.others(all)
        _ = played.scan()
        #expect(played.settle(disallowed) == [set], "it is joined")
    }

    @Test("a joined scan that filters duplicates is reported once")
    func joinedDuplicateFilterIsReportedOnce() {
        var played = PlayedScanner(isShared: true)
        played.others([all[0], LESetScanEnable(enable: true, filterDuplicates: true).packet])
        _ = played.scan()
        #expect(played.settle(disallowed) == [set])
        #expect(played.events == ["\(AdapterHealthEvent.scanJoinedWithoutRepeats)"])
        played.others([LESetScanEnable(enable: true, filterDuplicates: true).packet])
        played.wait(Scanner.settlingTime)
        #expect(played.events.count == 1)
    }

    @Test("a joined scan is judged again when the options change")
    func joinedScanIsJudgedAgain() {
        var played = PlayedScanner(isShared: true)
        played.others([
            LESetScanParameters(type: .passive, interval: Slots(rawValue: 96), window: Slots(rawValue: 96))
                .packet,
            LESetScanEnable(enable: true).packet,
        ])
        var passive = ScanOptions()
        passive.isPassive = true
        _ = played.scan(passive)
        _ = played.settle(disallowed)
        _ = played.scan()
        #expect(played.settle() == [off, set, on])
    }

    @Test("a foreign stop of the scan is reversed once foreign commands have settled")
    func foreignStopIsReversedAfterSettling() {
        var played = PlayedScanner(isShared: true)
        _ = played.scan()
        _ = played.settle()
        played.others([LESetScanEnable(enable: false).packet])
        #expect(played.settle() == [])
        played.wait(.milliseconds(200))
        played.others(background)
        played.wait(.milliseconds(200))
        #expect(played.settle() == [], "they have not done")
        played.wait(.milliseconds(50))
        #expect(played.settle() == [off, set, on])
        #expect(played.events == ["\(AdapterHealthEvent.scanTakenBack)"])
    }

    @Test("a foreign stop during a pending command is handled after its answer")
    func foreignStopDuringCommandIsHandledAfterwards() throws {
        var played = PlayedScanner(isShared: true)
        _ = played.scan()
        #expect(played.next() == set)
        played.others([LESetScanEnable(enable: false).packet])
        played.wait(.seconds(1))
        let deadline = try #require(played.scanner.deadline)
        #expect(deadline > played.conditions.now, "nothing turns in circles")
        played.answer(.done([]))
        #expect(played.settle() == [on])
        played.wait(Scanner.settlingTime)
        #expect(played.settle() == [off, set, on])
    }

    @Test("the kernel's commands during recovery do not count as another program's")
    func kernelCommandsDuringRecoveryAreIgnored() {
        var played = PlayedScanner(isShared: true)
        _ = played.scan()
        _ = played.settle()
        played.others([LESetScanEnable(enable: false).packet], isRecovering: true)
        played.wait(.seconds(1))
        #expect(played.settle() == [] && played.events.isEmpty)
    }

    @Test("the time without a packet is described in whole seconds")
    func silenceIsDescribedInWholeSeconds() {
        let event = AdapterHealthEvent.scanRestarted(silence: .seconds(90) + .microseconds(4754))
        #expect("\(event)" == "nothing received for 90 s: the scan is restarted")
    }

    @Test("after 30 restarts within a minute the scan pauses until the minute is over")
    func restartLimitPausesScan() {
        var played = PlayedScanner(isShared: true)
        _ = played.scan()
        _ = played.settle()
        for _ in 0..<Scanner.restartLimit {
            played.others([LESetScanEnable(enable: false).packet])
            played.wait(.seconds(1))
            #expect(played.settle() == [off, set, on])
        }
        played.others([LESetScanEnable(enable: false).packet])
        played.wait(.seconds(1))
        #expect(played.settle() == [])
        #expect(played.events.last?.hasPrefix("others have switched the scan 30 times") == true)
        // Further switches are not reported again.
        let reported = played.events.count
        for _ in 0..<3 {
            played.others([LESetScanEnable(enable: false).packet])
            played.wait(.seconds(1))
            #expect(played.settle() == [])
        }
        #expect(played.events.count == reported)
        played.wait(.seconds(27))
        #expect(played.settle() == [off, set, on])
    }
}

/// A controller that executes the commands that the test passes to it.
private struct FickleController {
    var isOn = false
    var isActive = false

    /// Executes a command and returns its answer.
    mutating func take(_ command: String) -> CommandAnswer {
        let words = command.split(separator: " ")
        if command.hasPrefix("Scan Parameters") {
            guard !isOn else { return .refused(.commandDisallowed) }
            isActive = words[2] == "01"
        } else if command.hasPrefix("Scan Enable") {
            isOn = words[2] == "01"
        }
        return .done([])
    }
}

/// Commands fail in all ways while scans start and end. Once the controller executes all commands, it scans if
/// there are scans, as these require, and every scan that was not refused still exists.
@Test(arguments: 0..<200) func scannerConvergesToRequestedScans(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var played = PlayedScanner()
    var controller = FickleController()
    var scans: [ScanID: Bool] = [:]
    for _ in 0..<60 {
        switch Int.random(in: 0...5, using: &random) {
        case 0, 1:
            var options = ScanOptions()
            options.isPassive = Bool.random(using: &random)
            options.preset = ScanOptions.Preset.allCases.randomElement(using: &random) ?? .balanced
            scans[played.scan(options)] = !options.isPassive
        case 2:
            if let id = scans.keys.min(by: { $0.number < $1.number }) {
                scans[id] = nil
                played.end(id)
            }
        case 3: played.conditions.isPaused.toggle()
        default: break
        }
        guard let command = played.next() else { continue }
        // A scan may start before the answer.
        if Int.random(in: 0..<4, using: &random) == 0 { scans[played.scan()] = true }
        // The command that ends a scan is executed whatever its answer: otherwise the scanner could only retry it.
        if command.hasPrefix("Scan Enable 00") { _ = controller.take(command) }
        switch Int.random(in: 0...6, using: &random) {
        case 0: played.answer(.refused(Bool.random(using: &random) ? .hardwareFailure : .commandDisallowed))
        case 1: played.answer(.malformed(.missingStatus))
        case 2:
            if Bool.random(using: &random) { _ = controller.take(command) }
            played.answer(.silent)
            if Bool.random(using: &random) {
                controller = FickleController()
                played.scanner.controllerWasReset()
            } else {
                played.scanner.controllerIsBack()
            }
        default: played.answer(controller.take(command))
        }
        scans = scans.filter { !played.ended.contains($0.key) }
    }
    played.conditions.isPaused = false
    var rounds = 0
    while let command = played.next(), rounds < 100 {
        rounds += 1
        played.answer(controller.take(command))
    }
    scans = scans.filter { !played.ended.contains($0.key) }
    #expect(played.scanner.isWanted == !scans.isEmpty && rounds < 100)
    #expect(controller.isOn == !scans.isEmpty)
    if controller.isOn { #expect(controller.isActive == scans.values.contains(true)) }
}
