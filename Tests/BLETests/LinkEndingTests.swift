import BLECore
import Testing

@testable import BLE

/// The end of a link whose unsent packets, and whose controller's answers, a test chooses.
private struct PlayedEnding {
    var ending = LinkEnding()
    var conditions = LinkEnding.Conditions()

    /// Advances the time by `seconds`, and returns the events that are due then.
    mutating func after(_ seconds: Double) -> [LinkEnding.Event] {
        conditions.now = conditions.now + .milliseconds(Int(seconds * 1_000))
        return events()
    }

    /// Returns the events that are due now.
    mutating func events() -> [LinkEnding.Event] {
        ending.advance(under: conditions)
        var events: [LinkEnding.Event] = []
        while let event = ending.nextEvent() { events.append(event) }
        return events
    }

    /// The seconds until the next deadline.
    var limit: Double? {
        ending.deadline.map { Double(conditions.now.duration(until: $0).nanoseconds) / 1e9 }
    }

    mutating func begin(_ cause: DisconnectCause = .userTerminated) -> Bool { ending.begin(cause) }
    mutating func proceed() { ending.proceed(at: conditions.now) }
    mutating func answered(isTaken: Bool = true) { ending.answered(isTaken: isTaken, at: conditions.now) }
    /// Sets the number of packets that are queued for the channel; the others have been sent.
    mutating func queue(_ packets: Int) {
        conditions.departed += conditions.queued - packets
        (conditions.unsent, conditions.queued) = (packets, packets)
    }
    mutating func wait(_ number: UInt64) { ending.wait(number, under: conditions) }
}

@Suite struct LinkEndingTests {
    private let disconnects = [LinkEnding.Event.disconnect(.userTerminated, unsent: 0)]

    @Test("without unsent packets Disconnect is sent in the next turn, once")
    func disconnectsOnceWithoutPackets() {
        var played = PlayedEnding()
        #expect(!played.ending.isActive)
        let isFirst = played.begin(.lowResources)
        #expect(isFirst && played.ending.isBegun && !played.ending.isGivenUp)
        #expect(played.events() == [], "what was left in this turn has not ended")
        let isSecond = played.begin()
        #expect(!isSecond)
        played.proceed()
        #expect(played.events() == [.disconnect(.lowResources, unsent: 0)])
        played.proceed()
        #expect(played.after(100) == [] && played.limit == nil, "the answer has a limit of its own")
    }

    @Test("pending procedures delay Disconnect for one second at most")
    func proceduresDelayDisconnectOneSecond() {
        for isAnswered in [false, true] {
            var played = PlayedEnding()
            played.conditions.isAsking = true
            _ = played.begin()
            played.proceed()
            #expect(played.events() == [] && played.limit == 1)
            #expect(played.after(0.999) == [])
            if isAnswered {
                played.conditions.isAsking = false
                #expect(played.events() == disconnects)
            } else {
                #expect(played.after(0.001) == disconnects)
            }
        }
    }

    @Test("each unsent packet delays Disconnect for 2 s, all packets for 10 s at most")
    func packetsDelayDisconnectAtMostTenSeconds() {
        var played = PlayedEnding()
        played.conditions.unsent = 10
        _ = played.begin()
        played.proceed()
        #expect(played.events() == [] && played.ending.awaitsPackets)
        for left in (5...9).reversed() {
            #expect(played.after(1.9) == [])
            played.conditions.unsent = left
            #expect(played.events() == [])
        }
        #expect(played.limit == 0.5, "10 s in all")
        #expect(played.after(0.5) == [.disconnect(.userTerminated, unsent: 5)])
        #expect(!played.ending.awaitsPackets)
    }

    @Test("an unsent response delays Disconnect and is not counted as an unsent packet")
    func responsesDelayDisconnect() {
        for leaves in [true, false] {
            var played = PlayedEnding()
            played.conditions.others = 1
            _ = played.begin()
            played.proceed()
            #expect(played.events() == [])
            #expect(played.after(1) == [])
            if leaves { played.conditions.others = 0 }
            #expect(played.after(leaves ? 0 : 1) == [.disconnect(.userTerminated, unsent: 0)])
        }
    }

    @Test("stuck packets are counted, and added packets do not extend the delay")
    func stuckPacketsAreCounted() {
        var played = PlayedEnding()
        played.conditions.unsent = 1
        _ = played.begin()
        played.proceed()
        #expect(played.events() == [] && played.limit == 2)
        #expect(played.after(1) == [])
        played.conditions.unsent = 3
        #expect(played.after(0.5) == [] && played.limit == 0.5)
        #expect(played.after(0.5) == [.disconnect(.userTerminated, unsent: 3)])
    }

    @Test("Disconnect is sent at once when the bearer closes") func closedBearerDisconnectsAtOnce() {
        for isAsking in [false, true] {
            var played = PlayedEnding()
            (played.conditions.unsent, played.conditions.isAsking) = (2, isAsking)
            _ = played.begin()
            played.proceed()
            played.conditions.isClosed = true
            #expect(played.events() == [.disconnect(.userTerminated, unsent: 2)])
        }
    }

    @Test("a disconnection that is not reported is abandoned, then the link expires")
    func unreportedEndIsAbandoned() {
        var played = PlayedEnding()
        played.conditions.supervisionTimeout = .seconds(4)
        _ = played.begin()
        played.proceed()
        #expect(played.events() == disconnects)
        #expect(played.after(3) == [])
        played.answered()
        #expect(played.events() == [] && played.limit == 5)
        #expect(played.after(5) == [.givenUp])
        #expect(played.ending.isGivenUp && played.limit == 4)
        played.answered()
        #expect(played.after(3.9) == [])
        #expect(played.after(0.1) == [.gone])
        #expect(played.after(100) == [] && played.limit == nil)
    }

    @Test("a refused Disconnect is retried every second and abandoned after five seconds")
    func refusedDisconnectIsRetried() {
        var played = PlayedEnding()
        _ = played.begin()
        played.proceed()
        #expect(played.events() == disconnects)
        played.answered(isTaken: false)
        #expect(played.events() == [] && played.limit == 1)
        #expect(played.after(1) == disconnects && played.limit == nil)
        played.answered()
        #expect(played.events() == [] && played.limit == 4)
        #expect(played.after(4) == [.givenUp])
        // A controller that never accepts the command has the same five seconds.
        played = PlayedEnding()
        _ = played.begin()
        played.proceed()
        #expect(played.events() == disconnects)
        for _ in 1...4 {
            played.answered(isTaken: false)
            #expect(played.after(1) == disconnects)
        }
        played.answered(isTaken: false)
        #expect(played.after(1) == [.givenUp])
    }

    @Test("a wait for packets ends when they are sent, when they stall and when the bearer closes")
    func waitForPacketsEnds() {
        var played = PlayedEnding()
        played.wait(1)
        #expect(played.events() == [.waited(1, hasLeft: true)])
        played.queue(3)
        played.wait(2)
        #expect(played.events() == [] && played.limit == 2 && played.ending.awaitsPackets)
        #expect(played.after(1) == [])
        played.wait(3)
        played.wait(4)
        played.ending.cancel(4)
        #expect(played.after(1) == [.waited(2, hasLeft: false)])
        played.queue(0)
        #expect(played.events() == [.waited(3, hasLeft: true)])
        played.queue(1)
        played.wait(5)
        #expect(played.events() == [])
        played.conditions.isClosed = true
        #expect(played.events() == [.waited(5, hasLeft: false)])
        #expect(!played.ending.isActive && played.limit == nil)
    }

    @Test("packets that are accepted later neither extend a wait nor count as a lack of progress")
    func laterPacketsDoNotExtendWait() {
        var played = PlayedEnding()
        // One more waits for room.
        (played.conditions.unsent, played.conditions.queued, played.conditions.departed) = (4, 3, 7)
        played.wait(1)
        for departed in [8, 9] {
            #expect(played.events() == [])
            #expect(played.after(1.9) == [])
            played.conditions.departed = departed
        }
        played.conditions.unsent = 64
        #expect(played.events() == [] && played.limit == 2)
        played.conditions.departed = 10
        #expect(played.events() == [.waited(1, hasLeft: true)])
    }

    @Test("a wait for packets continues while the link is ending and does not delay Disconnect")
    func waitContinuesDuringDisconnect() {
        var played = PlayedEnding()
        played.queue(2)
        played.wait(1)
        _ = played.begin()
        played.proceed()
        #expect(played.events() == [])
        played.queue(0)
        #expect(played.events() == [.waited(1, hasLeft: true)] + disconnects)
    }
}
