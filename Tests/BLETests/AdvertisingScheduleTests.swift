import BLECore
import HCI
import Testing

@testable import BLE

/// What is on air when, without a radio.
struct AdvertisingScheduleTests {
    private static let beacon = request(.nonconnectable)
    private static let service = request(.connectable)

    private static func request(_ kind: AdvertisingKind, name: String = "x") -> AdvertisingRequest {
        var content = AdvertisingContent()
        content.name = name
        // Fits, so it cannot be refused.
        let plan = (try? AdvertisingPlan(content, kind: kind)) ?? .empty
        return AdvertisingRequest(plan, kind: kind)
    }

    private static func id(_ number: UInt64) -> AdvertisingID { AdvertisingID(number: number) }
    private static func set(_ offset: UInt8) -> AdvertisingHandle {
        AdvertisingHandle(rawValue: 0xef - offset)
    }
    private static func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    /// A schedule for that many sets, with those requests wanted under the numbers from 1.
    fileprivate func schedule(
        sets: UInt8, limitsTime: Bool = true, links: Int = 1, _ requests: AdvertisingRequest...
    ) -> ScheduleBench {
        var schedule = AdvertisingSchedule()
        schedule.use((0..<sets).map(Self.set), limitsTime: limitsTime)
        for (index, request) in requests.enumerated() {
            schedule.add(Self.id(UInt64(index + 1)), request, maximumLinks: links)
        }
        return ScheduleBench(schedule)
    }

    @Test func asManyAsThereAreSetsAreOnAirAtOnce() {
        let schedule = self.schedule(sets: 4, Self.service, Self.beacon)
        #expect(schedule.run(at: .zero) == ["begin 1 on ef", "begin 2 on ee"])
        #expect(schedule.run(at: .zero) == [])
        #expect(schedule.machine.deadline == nil)
    }

    @Test func moreThanThereAreSetsTakeTurns() {
        let schedule = self.schedule(sets: 1, Self.service, Self.beacon, Self.beacon)
        #expect(schedule.run(at: .zero) == ["begin 1 on ef"])
        #expect(schedule.machine.deadline == Self.at(2000))
        #expect(schedule.pass(to: 2000) == ["end ef", "begin 2 on ef"])
        #expect(schedule.machine.deadline == Self.at(4000))
        #expect(schedule.pass(to: 4000) == ["end ef", "begin 3 on ef"])
        #expect(schedule.pass(to: 6000) == ["end ef", "begin 1 on ef"])
        schedule.tell { $0.remove(Self.id(2)) }
        #expect(schedule.run(at: Self.at(6500)) == [])
        schedule.tell { $0.remove(Self.id(3)) }
        #expect(schedule.run(at: Self.at(7000)) == [])
        #expect(schedule.machine.deadline == nil)
    }

    @Test func onlyAsManyLeaveAsWait() {
        let schedule = self.schedule(sets: 3, Self.beacon, Self.beacon, Self.beacon, Self.beacon)
        #expect(schedule.run(at: .zero) == ["begin 1 on ef", "begin 2 on ee", "begin 3 on ed"])
        #expect(schedule.pass(to: 2000) == ["end ef", "begin 4 on ef"])
        #expect(schedule.pass(to: 4000) == ["end ee", "begin 1 on ee"])
        #expect(schedule.pass(to: 6000) == ["end ed", "begin 2 on ed"])
    }

    @Test func aConnectionMakesRoomAndTheNextFreeLinkTakesItBack() {
        let schedule = self.schedule(sets: 1, Self.service, Self.beacon)
        #expect(schedule.run(at: .zero) == ["begin 1 on ef"])
        schedule.tell { $0.links = 1 }
        #expect(schedule.tell { $0.terminated(Self.set(0), .success) } == nil)
        #expect(schedule.run(at: Self.at(100)) == ["end ef", "begin 2 on ef"])
        #expect(schedule.machine.deadline == nil)
        schedule.tell { $0.links = 0 }
        #expect(schedule.run(at: Self.at(200)) == ["end ef", "begin 1 on ef"])
        #expect(schedule.pass(to: 2200) == ["end ef", "begin 2 on ef"])
    }

    @Test func whileLinksAreFreeItIsOnAirAgainAtOnce() {
        let schedule = self.schedule(sets: 2, links: 2, Self.service, Self.beacon)
        _ = schedule.run(at: .zero)
        schedule.tell { $0.links = 1 }
        _ = schedule.tell { $0.terminated(Self.set(0), .success) }
        #expect(schedule.run(at: .zero) == ["begin 1 on ef after off"])
        schedule.tell { $0.links = 2 }
        _ = schedule.tell { $0.terminated(Self.set(0), .success) }
        #expect(schedule.run(at: .zero) == ["end ef"])
    }

    @Test("a connection that is told before the controller says that the set is on")
    func anEarlyConnection() throws {
        let schedule = self.schedule(sets: 1, Self.service)
        let beginning = try #require(schedule.beginning(at: .zero))
        // Of the set's last time on air.
        #expect(schedule.tell { $0.terminated(Self.set(0), .success) } == nil)
        schedule.tell { $0.starting(beginning.set) }
        schedule.tell { $0.links = 1 }
        _ = schedule.tell { $0.terminated(Self.set(0), .success) }
        schedule.tell { $0.began(beginning.set, at: .zero) }
        #expect(schedule.run(at: .zero) == ["end ef"])
        schedule.tell { $0.links = 0 }
        #expect(schedule.run(at: .zero) == ["begin 1 on ef"])
    }

    @Test func otherDataGoIntoTheSetOtherParametersBeginItAnew() {
        let schedule = self.schedule(sets: 1, Self.beacon)
        _ = schedule.run(at: .zero)
        var request = Self.request(.nonconnectable, name: "y")
        #expect(schedule.tell { $0.update(Self.id(1), to: request, at: .zero) })
        #expect(schedule.run(at: .zero) == ["change 1 on ef"])
        request.interval = .seconds(1)
        #expect(schedule.tell { $0.update(Self.id(1), to: request, at: .zero) })
        #expect(schedule.run(at: .zero) == ["begin 1 on ef after on"])
        #expect(!schedule.tell { $0.update(Self.id(2), to: request, at: .zero) })
    }

    @Test func whatWasRefusedIsNotWantedAnyMore() throws {
        let schedule = self.schedule(sets: 1, Self.beacon)
        _ = schedule.run(at: .zero)
        let other = Self.request(.nonconnectable, name: "y")
        _ = schedule.tell { $0.update(Self.id(1), to: other, at: .zero) }
        #expect(schedule.tell { $0.next(at: .zero) } == .change(Self.id(1), Self.set(0), other))
        let isTakenBack = schedule.tell { $0.takeBack(Self.set(0), from: other) }
        #expect(isTakenBack && schedule.machine.entries[0].request == Self.beacon)
        #expect(schedule.run(at: .zero) == ["begin 1 on ef after off"])

        var slow = other
        slow.interval = .seconds(5)
        _ = schedule.tell { $0.update(Self.id(1), to: slow, at: .zero) }
        _ = try #require(schedule.beginning(at: .zero))
        let isTakenBackAgain = schedule.tell { $0.takeBack(Self.set(0)) }
        #expect(isTakenBackAgain && schedule.machine.entries[0].request == Self.beacon)
        // The first of all has nothing to go back to.
        _ = try #require(schedule.beginning(at: .zero))
        let isTakenBackTwice = schedule.tell { $0.takeBack(Self.set(0)) }
        #expect(!isTakenBackTwice)
    }

    @Test("time limits: the controller's where it has them, with a second's grace, else ours")
    func timeLimits() {
        var request = Self.beacon
        request.duration = .seconds(3)
        let own = self.schedule(sets: 1, limitsTime: false, request)
        #expect(own.run(at: .zero) == ["begin 1 on ef"])
        #expect(own.machine.deadline == Self.at(3000))
        #expect(own.tell { $0.expire(at: Self.at(2999)) }.isEmpty)
        #expect(own.tell { $0.expire(at: Self.at(3000)) }.map(\.end) == [.timeLimit])
        #expect(own.run(at: Self.at(3000)) == ["end ef"])

        let theirs = self.schedule(sets: 1, request)
        #expect(theirs.run(at: .zero) == ["begin 1 on ef for 3000 ms"])
        #expect(theirs.machine.deadline == Self.at(4000))
        let ending = theirs.tell { $0.terminated(Self.set(0), .advertisingTimeout) }
        #expect(ending?.id == Self.id(1) && ending?.end == .timeLimit)
        #expect(theirs.machine.deadline == nil && theirs.machine.entries.isEmpty)

        request.duration = .seconds(656)
        let long = self.schedule(sets: 1, request)
        #expect(long.run(at: .zero) == ["begin 1 on ef"])
        #expect(long.machine.deadline == Self.at(656_000))
    }

    @Test func whatIsLeftOfATimeIsWantedAfterAConnection() {
        var request = Self.service
        (request.duration, request.maximumEvents) = (.seconds(10), 100)
        let schedule = self.schedule(sets: 1, links: 2, request)
        #expect(schedule.run(at: .zero) == ["begin 1 on ef for 10000 ms, 100 events"])
        schedule.tell { $0.links = 1 }
        _ = schedule.tell { $0.terminated(Self.set(0), .success, events: 30) }
        #expect(schedule.run(at: Self.at(4000)) == ["begin 1 on ef after off for 6000 ms, 70 events"])
        #expect(schedule.tell { $0.terminated(Self.set(0), .limitReached) }?.end == .eventLimit)
    }

    @Test func theHighDutyCycleLasts1280Milliseconds() {
        let peer = DeviceAddress(0x0102_0304_0506, type: .public)
        let request = AdvertisingRequest(to: .init(peer, dutyCycle: .high))
        let extended = self.schedule(sets: 1, request)
        #expect(extended.run(at: .zero) == ["begin 1 on ef for 1280 ms"])
        #expect(extended.tell { $0.terminated(Self.set(0), .advertisingTimeout) }?.end == .timeLimit)
        let legacy = self.schedule(sets: 1, limitsTime: false, request)
        #expect(legacy.run(at: .zero) == ["begin 1 on ef"])
        #expect(legacy.machine.deadline == Self.at(2280))
        #expect(legacy.machine.connectable == Self.set(0))
        #expect(legacy.tell { $0.terminated(Self.set(0), .advertisingTimeout) }?.end == .timeLimit)
    }

    @Test func aControllerWithFewerSetsThanItSaysMakesThemTakeTurns() throws {
        let schedule = self.schedule(sets: 4, Self.beacon, Self.beacon)
        #expect(schedule.run(at: .zero, refusing: 2) == ["begin 1 on ef", "refused 2"])
        #expect(schedule.machine.deadline == Self.at(2000))
        #expect(schedule.pass(to: 2000) == ["end ef", "begin 2 on ef"])
        // None at all: there is nothing to take turns with.
        let none = self.schedule(sets: 4, Self.beacon)
        let beginning = try #require(none.beginning(at: .zero))
        none.tell { $0.ended(beginning.set) }
        let isSmaller = none.tell { $0.shrink() }
        #expect(!isSmaller)
    }

    /// The set ended, and the controller does not begin it again.
    private func refuse(_ schedule: ScheduleBench, at now: Instant, besideLinks: Bool) -> Bool {
        _ = schedule.tell { $0.terminated(Self.set(0), .success) }
        _ = schedule.tell { $0.next(at: now) }
        schedule.tell { $0.ended(Self.set(0)) }
        return schedule.tell { $0.refused(Self.id(1), besideLinks: besideLinks, at: now) }
    }

    @Test func whatTheControllerRefusesIsAskedForAgain() {
        let schedule = self.schedule(sets: 2, links: 2, Self.service)
        #expect(schedule.run(at: .zero) == ["begin 1 on ef"])
        schedule.tell { $0.links = 1 }
        var now: Int64 = 0
        for wait: Int64 in [1000, 2000, 4000, 8000, 16_000, 32_000, 32_000, 32_000] {
            #expect(refuse(schedule, at: Self.at(now), besideLinks: true))
            #expect(schedule.run(at: Self.at(now)) == [])
            now += wait
            #expect(schedule.machine.deadline == Self.at(now))
            #expect(schedule.run(at: Self.at(now - 1)) == [])
        }
        #expect(schedule.run(at: Self.at(now)) == ["begin 1 on ef"])
        // It went, so the next refusal is the first one again; and the end of a link is waited for no longer.
        #expect(refuse(schedule, at: Self.at(now), besideLinks: true))
        #expect(schedule.machine.deadline == Self.at(now + 1000))
        schedule.tell { $0.retry() }
        #expect(schedule.run(at: Self.at(now)) == ["begin 1 on ef"])
    }

    @Test func whatIsRefusedTooOftenOrFromTheBeginningIsGivenUp() {
        let schedule = self.schedule(sets: 2, links: 2, Self.service)
        #expect(!refuse(schedule, at: .zero, besideLinks: true))
        #expect(schedule.run(at: .zero) == ["begin 1 on ef"])
        var now = Instant.zero
        for _ in 0..<6 {
            #expect(refuse(schedule, at: now, besideLinks: false))
            now = now + .seconds(32)
        }
        #expect(!refuse(schedule, at: now, besideLinks: false))
    }

    @Test func whatOthersTakeOffTheAirIsPutOnAgainWithinBounds() {
        let schedule = self.schedule(sets: 2, Self.beacon, Self.beacon)
        _ = schedule.run(at: .zero)
        let (others, one) = (
            schedule.tell { $0.interrupted([Self.set(9)], at: .zero) },
            schedule.tell { $0.interrupted([Self.set(1)], at: .zero) }
        )
        #expect(!others && one)
        #expect(schedule.run(at: Self.at(249)) == [])
        #expect(schedule.machine.deadline == Self.at(250))
        #expect(schedule.run(at: Self.at(250)) == ["begin 2 on ee after off"])
        for round in 1...29 {
            _ = schedule.tell { $0.interrupted(nil, at: Self.at(Int64(round) * 1000)) }
            #expect(schedule.run(at: Self.at(Int64(round) * 1000 + 250)).count == 2)
        }
        // The 31st of a minute waits until the first is a minute old.
        _ = schedule.tell { $0.interrupted(nil, at: Self.at(30_000)) }
        #expect(schedule.machine.deadline == Self.at(60_000))
    }

    @Test("a periodic train keeps its set, and goes on when others end what announces it")
    func trains() {
        var train = Self.beacon
        train.periodic = PeriodicAdvertisingTrain([1], every: .milliseconds(100))
        let schedule = self.schedule(sets: 2, Self.beacon, Self.beacon, train)
        #expect(schedule.run(at: .zero) == ["begin 3 on ef", "begin 1 on ee"])
        #expect(schedule.pass(to: 2000) == ["end ee", "begin 2 on ee"])
        #expect(schedule.pass(to: 4000) == ["end ee", "begin 1 on ee"])
        _ = schedule.tell { $0.interrupted(nil, at: Self.at(4000)) }
        #expect(schedule.run(at: Self.at(4250)) == ["begin 3 on ef after train", "begin 1 on ee after off"])
        let (second, beacon) = (
            schedule.machine.hasRoom(for: train), schedule.machine.hasRoom(for: Self.beacon)
        )
        #expect(!second && beacon)
        let isSharedOut = !schedule.machine.hasRoom(for: train, inPlaceOf: Self.id(1))
        #expect(isSharedOut)
        // Where the controller has fewer sets than it said, all take turns.
        let full = self.schedule(sets: 2, train, Self.beacon)
        #expect(full.run(at: .zero, refusing: 2) == ["begin 1 on ef", "refused 2"])
        #expect(full.pass(to: 2000) == ["end ef", "begin 2 on ef"])
    }

    @Test("a set that somebody else has is left to him, until there is another advertisement")
    func setsOfOthers() {
        var schedule = AdvertisingSchedule()
        schedule.use((0..<3).map(Self.set), count: 2, limitsTime: true)
        schedule.add(Self.id(1), Self.beacon, maximumLinks: 1)
        let bench = ScheduleBench(schedule)
        #expect(bench.beginning(at: .zero)?.set == Self.set(0))
        let others = (0..<3).map { offset in
            let isNext = bench.tell { $0.taken(Self.set(UInt8(offset))) }
            return (isNext, bench.beginning(at: .zero)?.set)
        }
        #expect(others.map(\.0) == [true, true, false])
        #expect(others.map(\.1) == [Self.set(1), Self.set(2), nil])
        bench.tell { $0.add(Self.id(2), Self.beacon, maximumLinks: 1) }
        #expect(bench.run(at: .zero) == ["begin 1 on ef", "begin 2 on ee"])
    }

    @Test func aSetThatIsLostAgainAndAgainIsGivenUp() {
        let schedule = self.schedule(sets: 1, Self.beacon)
        for loss in 1...6 {
            _ = schedule.tell { $0.next(at: .zero) }
            let isTriedAgain = schedule.tell { $0.lost(Self.set(0)) }
            #expect(isTriedAgain == (loss <= 5))
        }
    }

    @Test func aPauseTakesAllOffTheAirAndNothingOfItIsForgotten() {
        let schedule = self.schedule(sets: 3, Self.service, Self.beacon)
        _ = schedule.run(at: .zero)
        schedule.tell { $0.isHeld = true }
        #expect(schedule.tell { $0.isOnAir })
        schedule.tell { $0.add(Self.id(3), Self.beacon, maximumLinks: 1) }
        #expect(schedule.run(at: .zero) == ["pause ef", "pause ee"])
        #expect(schedule.tell { !$0.isOnAir })
        schedule.tell { $0.remove(Self.id(2)) }
        #expect(schedule.run(at: .zero) == ["end ee"])
        schedule.tell { $0.isHeld = false }
        #expect(schedule.run(at: .zero) == ["begin 1 on ef after off", "begin 3 on ee"])
    }

    @Test func aResetForgetsTheSetsAndNotWhatIsWanted() {
        let schedule = self.schedule(sets: 2, Self.service, Self.beacon)
        _ = schedule.run(at: .zero)
        schedule.tell { $0.reset() }
        #expect(schedule.run(at: .zero) == ["begin 1 on ef", "begin 2 on ee"])
    }
}

/// A schedule and what its driver does.
private final class ScheduleBench {
    private(set) var machine: AdvertisingSchedule

    init(_ machine: AdvertisingSchedule) { self.machine = machine }

    @discardableResult
    func tell<Result>(_ body: (inout AdvertisingSchedule) -> Result) -> Result { body(&machine) }

    /// The next step, which is a beginning.
    func beginning(at now: Instant) -> AdvertisingStep.Beginning? {
        guard case .begin(let beginning) = machine.next(at: now) else { return nil }
        return beginning
    }

    /// Takes all steps that are due at `now`, as a controller does that has them all but the beginning of
    /// advertisement `refused`; what they were.
    func run(at now: Instant, refusing refused: UInt64? = nil) -> [String] {
        var steps: [String] = []
        while steps.count < 20, let step = machine.next(at: now) {
            switch step {
            case .begin(let beginning) where beginning.id.number == refused:
                steps.append("refused \(beginning.id.number)")
                machine.ended(beginning.set)
                _ = machine.shrink()
            case .begin(let beginning):
                steps.append(beginning.text)
                machine.starting(beginning.set)
                machine.began(beginning.set, at: now)
            case .change(let id, let set, let request):
                steps.append("change \(id.number) on \(set.rawValue.hex)")
                machine.changed(set, to: request)
            case .pause(let set):
                steps.append("pause \(set.rawValue.hex)")
                machine.paused(set)
            case .end(let set):
                steps.append("end \(set.rawValue.hex)")
                machine.ended(set)
            }
        }
        return steps
    }

    /// Lets time pass to a deadline, and takes the steps that are due then.
    func pass(to milliseconds: Int64) -> [String] {
        let now = Instant.zero + .milliseconds(milliseconds)
        return machine.deadline == now && machine.expire(at: now).isEmpty ? run(at: now) : ["no deadline"]
    }
}

extension AdvertisingStep.Beginning {
    fileprivate var text: String {
        var text = "begin \(id.number) on \(set.rawValue.hex)"
        if before != .nothing { text += " after \(before)" }
        if let duration { text += " for \(duration.nanoseconds / 1_000_000) ms" }
        if let events = request.maximumEvents { text += ", \(events) events" }
        return text
    }
}
