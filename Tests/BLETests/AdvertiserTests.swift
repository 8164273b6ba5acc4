import BLEAdvertising
import BLECore
import HCI
import Testing

@testable import BLE

/// Tests of the commands and events of an advertiser, with a controller whose answers the test chooses.
@Suite struct AdvertiserTests {
    private static let beacon = request(.nonconnectable)
    private static let service = request(.connectable)

    fileprivate static func request(_ kind: AdvertisingKind, name: String = "x") -> AdvertisingRequest {
        var content = AdvertisingContent()
        content.name = name
        // The content fits, so the plan cannot be refused.
        let plan = (try? AdvertisingPlan(content, kind: kind)) ?? .empty
        return AdvertisingRequest(plan, kind: kind)
    }

    fileprivate static func train(_ data: [UInt8] = [1]) throws -> AdvertisingRequest {
        var content = AdvertisingContent()
        content.name = "train"
        var request = AdvertisingRequest(
            try AdvertisingPlan(content, kind: .nonconnectable, extended: true), kind: .nonconnectable)
        request.periodic = PeriodicAdvertisingTrain(data, every: .milliseconds(100))
        return request
    }

    // MARK: Sets

    @Test func eachAdvertisementHasItsOwnSet() throws {
        var played = PlayedAdvertiser()
        _ = try played.advertise(Self.service)
        _ = try played.advertise(Self.beacon)
        #expect(
            played.settle() == [
                "parameters ef", "data ef", "scan response ef", "on ef", "parameters ee", "data ee", "on ee",
            ])
        #expect(played.events == ["started 1", "started 2"])
        #expect(played.next() == nil && played.advertiser.deadline == nil)
    }

    @Test("more advertisements than sets are refused with the limit", arguments: [nil, 2])
    func refusesMoreAdvertisementsThanSets(sets: Int?) throws {
        var played = PlayedAdvertiser(sets: sets)
        let first = try played.advertise(Self.beacon)
        if sets != nil { _ = try played.advertise(Self.beacon) }
        let limit = sets ?? 1
        let refusal = BLEError.limit(.advertisements, maximum: limit, value: limit + 1)
        #expect(throws: refusal) { try played.advertise(Self.beacon) }
        _ = played.settle()
        // The place is free at once, even before the set is removed.
        played.stop(first)
        _ = try played.advertise(Self.service)
        #expect(
            played.run() == (sets == nil ? ["off", "off", "on"] : ["off ef", "on ef"]))
    }

    @Test("legacy advertising sends its commands in order and reports the power")
    func legacyCommandSequence() throws {
        var played = PlayedAdvertiser(sets: nil)
        played.conditions.controller.commands = SupportedCommands([.leReadAdvertisingPhysicalChannelTxPower])
        let id = try played.advertise(Self.service)
        #expect(
            played.settle("power", .done([0xf9])) == [
                "off", "parameters", "power", "data", "scan response", "on",
            ])
        #expect(played.events == ["power 1: -7", "started 1"])
        played.stop(id)
        #expect(played.settle() == ["off"] && played.events.last == "off air 1")
    }

    @Test("legacy advertising of another program is not switched off")
    func keepsForeignLegacyAdvertisingOn() throws {
        var played = PlayedAdvertiser(sets: nil, isShared: true)
        _ = try played.advertise(Self.beacon)
        #expect(played.settle("parameters", .refused(.commandDisallowed)) == ["parameters"])
        #expect(played.events.count == 2 && played.events[0].contains("sends only one advertisement"))
        let own = try played.advertise(Self.beacon)
        #expect(played.settle() == ["parameters", "data", "on"])
        played.stop(own)
        #expect(played.settle() == ["off"])
    }

    @Test("a set that another process holds is left alone until it is free")
    func foreignSetIsLeftUntilFree() throws {
        var played = PlayedAdvertiser(sets: 2, isShared: true)
        played.taken = [AdvertisingHandle(rawValue: 0xef)]
        _ = try played.advertise(Self.beacon)
        #expect(played.settle().prefix(2) == ["off ee", "remove ee"], "what another process may have left")
        played.taken = []
        _ = try played.advertise(Self.beacon)
        #expect(played.run() == ["off ef", "on ef"])

        var full = PlayedAdvertiser(sets: 2, isShared: true)
        full.taken = Set((0...255).map { AdvertisingHandle(rawValue: $0) })
        _ = try full.advertise(Self.beacon)
        #expect(full.settle() == [])
        #expect(full.events.count == 1 && full.events[0].hasPrefix("failed 1:"))
    }

    @Test("removing a set of another process also ends its periodic train")
    func removesForeignTrainWithSet() throws {
        var played = PlayedAdvertiser(isShared: true)
        _ = try played.advertise(Self.beacon)
        #expect(
            played.settle("remove ef", .refused(.commandDisallowed)) == [
                "off ef", "remove ef", "train off ef", "remove ef", "parameters ef", "data ef", "on ef",
            ])
    }

    @Test("legacy commands are used when an extended command is disallowed")
    func fallsBackToLegacyCommands() throws {
        var played = PlayedAdvertiser()
        _ = try played.advertise(Self.beacon)
        _ = try played.advertise(Self.beacon)
        #expect(
            played.settle("parameters ef", .refused(.commandDisallowed)) == [
                "parameters ef", "off", "parameters", "data", "on",
            ])
        #expect(played.events.count == 2 && played.events[0].hasPrefix("failed 2:"))
        #expect(played.events[1] == "started 1")
        #expect(throws: BLEError.hci(.commandDisallowed, command: .leSetExtendedAdvertisingParameters)) {
            try played.advertise(Self.train())
        }
    }

    @Test("the fallback to legacy commands ends when no advertisement is left")
    func retriesExtendedCommandsAfterFallback() throws {
        var played = PlayedAdvertiser()
        let id = try played.advertise(Self.beacon)
        _ = played.settle("parameters ef", .refused(.commandDisallowed))
        played.stop(id)
        #expect(played.settle().last == "off")
        _ = try played.advertise(Self.train())
        #expect(played.settle().first == "parameters ef")
        #expect(played.events.last == "started 2")
    }

    @Test("a controller with fewer sets than it reported fails the excess advertisement with the limit")
    func fewerSetsThanReported() throws {
        var played = PlayedAdvertiser()
        _ = try played.advertise(Self.beacon)
        _ = try played.advertise(Self.beacon)
        _ = played.settle("parameters ee", .refused(.memoryCapacityExceeded))
        let refusal = BLEError.limit(.freeAdvertisingSets, maximum: 1, value: 2)
        #expect(played.events == ["started 1", "failed 2: \(refusal)", "off air 2"])
    }

    // MARK: Links

    @Test func advertisingResumesWhenLinkIsFree() throws {
        var played = PlayedAdvertiser()
        _ = try played.advertise(Self.service)
        _ = try played.advertise(Self.beacon)
        _ = played.settle()
        played.conditions.centrals = 1
        played.terminated(0xef)
        #expect(played.settle() == ["off ef", "remove ef"])
        #expect(played.settle() == [] && played.advertiser.deadline == nil)
        played.conditions.centrals = 0
        #expect(played.run() == ["on ef"])
    }

    @Test func advertisingResumesAtOnceWhileLinksAreFree() throws {
        var played = PlayedAdvertiser()
        _ = try played.advertise(Self.service, links: 2)
        _ = played.settle()
        played.conditions.centrals = 1
        played.terminated(0xef)
        #expect(
            played.settle() == [
                "off ef", "remove ef", "parameters ef", "data ef", "scan response ef", "on ef",
            ])
        played.conditions.centrals = 2
        played.terminated(0xef)
        #expect(played.settle() == ["off ef", "remove ef"])
    }

    @Test(
        "advertising restarts after a connection that is reported before the enable command's answer",
        arguments: [false, true])
    func connectionBeforeEnableAnswer(isExtended: Bool) throws {
        var played = PlayedAdvertiser(sets: isExtended ? 4 : nil)
        _ = try played.advertise(Self.service, links: 2)
        played.run(upTo: isExtended ? "on ef" : "on")
        played.conditions.centrals = 1
        if isExtended { played.terminated(0xef) } else { played.advertiser.legacyTerminated(.success) }
        played.answer(.done([]))
        #expect(played.events == ["started 1"])
        #expect(played.run().last == (isExtended ? "on ef" : "on"), "it is begun again")
        // In the other order, the connection is reported after the answer.
        played.conditions.centrals = 2
        if isExtended { played.terminated(0xef) } else { played.advertiser.legacyTerminated(.success) }
        #expect(played.settle() == (isExtended ? ["off ef", "remove ef"] : []))
    }

    @Test("an unfinished start is undone when no link is free any more")
    func unfinishedStartIsUndoneWithoutFreeLink() throws {
        var played = PlayedAdvertiser()
        _ = try played.advertise(Self.service)
        played.run(upTo: "data ef")
        played.conditions.centrals = 1
        played.answer(.done([]))
        #expect(played.settle() == ["off ef", "remove ef"])
        #expect(played.events == ["started 1"], "it goes on air again when a link ends")
    }

    // MARK: Stops

    @Test("off air is reported when the set is removed; the next advertisement starts after that")
    func nextAdvertisementStartsAfterSetIsRemoved() throws {
        var played = PlayedAdvertiser(sets: 1)
        let first = try played.advertise(Self.service)
        _ = played.settle()
        played.stop(first)
        _ = try played.advertise(Self.beacon)
        #expect(played.next() == "off ef" && played.events == ["started 1", "ended 1: stopped"])
        played.answer(.done([]))
        #expect(played.next() == "remove ef")
        played.answer(.done([]))
        #expect(played.next() == "parameters ef")
        #expect(played.events.last == "off air 1")
        played.answer(.done([]))
        #expect(played.run() == ["on ef"])
        played.stop(first)
        #expect(played.events.last == "off air 1", "again, at once")
    }

    @Test("an advertisement that is stopped before it is on air does not start")
    func stopBeforeOnAirPreventsStart() throws {
        var played = PlayedAdvertiser()
        let id = try played.advertise(Self.service)
        played.run(upTo: "data ef")
        played.stop(id)
        #expect(played.events == ["ended 1: stopped"])
        played.answer(.done([]))
        #expect(played.settle() == ["off ef", "remove ef"])
        #expect(played.events.last == "off air 1")
        let next = try played.advertise(Self.service)
        played.stop(next)
        #expect(played.settle() == [] && played.events.last == "off air 2")
    }

    // MARK: Changes

    @Test func newDataKeepsSetNewParametersRecreateIt() throws {
        var played = PlayedAdvertiser()
        let id = try played.advertise(Self.beacon)
        _ = played.settle()
        var request = Self.request(.nonconnectable, name: "y")
        try played.update(id, to: request)
        #expect(played.settle() == ["data ef"])
        request.interval = .seconds(1)
        try played.update(id, to: request)
        #expect(played.settle() == ["off ef", "remove ef", "parameters ef", "data ef", "on ef"])
        #expect(played.events == ["started 1", "updated 1", "updated 2"])
        #expect(throws: BLEError.invalidRequest(.advertisementEnded)) {
            try played.update(AdvertisingID(number: 2), to: request)
        }
    }

    @Test(
        "an update is reported at once without a free link, else when the set is on air again"
    )
    func updateWithoutFreeLinkOrAfterForeignDisable() throws {
        var played = PlayedAdvertiser(isShared: true)
        let id = try played.advertise(Self.service)
        _ = played.settle()
        played.others(LESetExtendedAdvertisingEnable(enable: false, sets: []).packet)
        try played.update(id, to: Self.request(.connectable, name: "y"))
        #expect(played.settle() == [] && played.events == ["started 1"])
        played.wait(.milliseconds(250))
        #expect(played.run() == ["off ef", "on ef"] && played.events.last == "updated 1")
        played.conditions.centrals = 1
        played.terminated(0xef)
        try played.update(id, to: Self.request(.connectable, name: "z"))
        #expect(played.run() == ["off ef"] && played.events.last == "updated 2")
    }

    @Test("a refused update restores the previous advertisement")
    func refusedUpdateRestoresAdvertisement() throws {
        var played = PlayedAdvertiser()
        let id = try played.advertise(Self.beacon)
        _ = played.settle()
        let other = Self.request(.nonconnectable, name: "y")
        try played.update(id, to: other)
        let refusal = CommandAnswer.refused(.invalidCommandParameters)
        #expect(
            played.run("data ef", refusal) == ["off ef", "on ef"], "a part of the other data may be there")
        var slow = other
        slow.interval = .seconds(5)
        try played.update(id, to: slow)
        #expect(played.run("parameters ef", refusal) == ["off ef", "off ef", "on ef"])
        let refused = { (command: HCIOpcode) in BLEError.hci(.invalidCommandParameters, command: command) }
        #expect(
            played.events == [
                "started 1", "not updated 1: \(refused(.leSetExtendedAdvertisingData))",
                "not updated 2: \(refused(.leSetExtendedAdvertisingParameters))",
            ])
        // The first advertisement is on air again.
        try played.update(id, to: Self.beacon)
        #expect(played.settle() == [] && played.events.last == "updated 3")
    }

    @Test("when restoring the previous advertisement is refused as well, it is retried after a delay")
    func refusedRestorationIsRetriedLater() throws {
        var played = PlayedAdvertiser()
        let id = try played.advertise(Self.beacon)
        _ = played.settle()
        var slow = Self.beacon
        slow.interval = .seconds(5)
        try played.update(id, to: slow)
        for _ in 0..<2 {
            played.run(upTo: "parameters ef")
            played.answer(.refused(.hardwareFailure))
        }
        #expect(played.settle() == ["off ef", "remove ef"] && played.nextIn == .seconds(1))
        played.wait(.seconds(1))
        #expect(played.run() == ["on ef"])
    }

    @Test("an update that arrives while another is refused is carried out")
    func updateDuringRefusedUpdateIsMade() throws {
        var played = PlayedAdvertiser()
        let id = try played.advertise(Self.beacon)
        _ = played.settle()
        try played.update(id, to: Self.request(.nonconnectable, name: "y"))
        #expect(played.next() == "data ef")
        try played.update(id, to: Self.request(.nonconnectable, name: "z"))
        played.answer(.refused(.invalidCommandParameters))
        #expect(played.run() == ["off ef", "on ef"])
        #expect(played.events.count == 3 && played.events[1].hasPrefix("not updated 1"))
        #expect(played.events[2] == "updated 2")
    }

    @Test(
        "a refused update restores the remaining limits of the previous advertisement",
        arguments: [false, true])
    func refusedUpdateRestoresLimits(isReset: Bool) throws {
        var request = Self.beacon
        (request.duration, request.maximumEvents) = (.seconds(60), 200)
        var played = PlayedAdvertiser()
        let id = try played.advertise(request)
        #expect(played.run() == ["on ef for 60000 ms, 200 events"])
        played.wait(.seconds(10))
        (request.duration, request.maximumEvents, request.interval) = (.seconds(5), 3, .seconds(1))
        try played.update(id, to: request)
        if isReset {
            // The controller is recovered by a reset during the update.
            played.run(upTo: "parameters ef")
            played.conditions.isRecovering = true
            played.answer(.silent)
            played.conditions.isRecovering = false
            played.advertiser.controllerWasReset()
        }
        _ = played.run("parameters ef", .refused(.unsupportedFeatureOrParameterValue))
        #expect(PlayedAdvertiser.name(played.packet) == "on ef for 50000 ms, 200 events")
        #expect(played.events.count == 2 && played.events[1].hasPrefix("not updated 1:"))
        #expect(played.nextIn == .seconds(51))
    }

    @Test("an update made without a free link is undone when it is refused later")
    func updateRefusedLaterIsUndone() throws {
        var played = PlayedAdvertiser()
        let id = try played.advertise(Self.service)
        _ = played.settle()
        played.conditions.centrals = 1
        played.terminated(0xef)
        var slow = Self.service
        slow.interval = .seconds(5)
        try played.update(id, to: slow)
        _ = played.settle()
        #expect(played.events == ["started 1", "updated 1"])
        played.conditions.centrals = 0
        #expect(
            played.run("parameters ef", .refused(.unsupportedFeatureOrParameterValue)) == ["off ef", "on ef"])
        try played.update(id, to: Self.service)
        #expect(played.settle() == [], "it is on air as it was at first")
    }

    // MARK: Limits

    @Test("reaching earlier limits does not end an advertisement with new limits")
    func earlierLimitsDoNotEndUpdatedAdvertisement() throws {
        for status in [HCIStatus.advertisingTimeout, .limitReached] {
            var request = Self.beacon
            (request.duration, request.maximumEvents) = (.seconds(3), 10)
            var played = PlayedAdvertiser()
            let id = try played.advertise(request)
            _ = played.settle()
            (request.duration, request.maximumEvents) = (.seconds(60), 100)
            try played.update(id, to: request)
            played.terminated(0xef, status)
            #expect(played.run() == ["off ef", "on ef for 60000 ms, 100 events"])
            #expect(played.events == ["started 1", "updated 1"])
        }
    }

    @Test("an advertisement can end before the answer to its enable command")
    func endBeforeEnableAnswer() throws {
        var request = Self.beacon
        request.maximumEvents = 1
        var played = PlayedAdvertiser()
        _ = try played.advertise(request)
        played.run(upTo: "on ef, 1 events")
        played.terminated(0xef, .limitReached)
        played.answer(.done([]))
        #expect(played.settle() == ["off ef", "remove ef"])
        #expect(played.events == ["ended 1: all its events are sent", "off air 1"])
    }

    @Test("a time limit is enforced by the controller with one second of grace, else by the host")
    func timeLimitIsEnforced() throws {
        var request = Self.beacon
        request.duration = .seconds(3)
        var own = PlayedAdvertiser(sets: nil)
        _ = try own.advertise(request)
        #expect(own.run() == ["off", "on"] && own.nextIn == .seconds(3))
        own.wait(.milliseconds(2999))
        #expect(own.events == ["started 1"])
        own.wait(.milliseconds(1))
        #expect(own.settle() == ["off"])
        #expect(own.events == ["started 1", "ended 1: its time is over", "off air 1"])

        var theirs = PlayedAdvertiser()
        _ = try theirs.advertise(request)
        #expect(theirs.run() == ["on ef for 3000 ms"] && theirs.nextIn == .seconds(4))
        theirs.terminated(0xef, .advertisingTimeout)
        #expect(theirs.events.last == "ended 1: its time is over" && theirs.advertiser.deadline == nil)
        #expect(theirs.settle() == ["off ef", "remove ef"])

        request.duration = .seconds(656)
        var long = PlayedAdvertiser()
        _ = try long.advertise(request)
        #expect(long.run() == ["on ef"] && long.nextIn == .seconds(656))
    }

    @Test func remainingLimitsApplyAfterConnection() throws {
        var request = Self.service
        (request.duration, request.maximumEvents) = (.seconds(10), 100)
        var played = PlayedAdvertiser()
        _ = try played.advertise(request, links: 2)
        #expect(played.run() == ["on ef for 10000 ms, 100 events"])
        played.conditions.centrals = 1
        played.wait(.seconds(4))
        played.terminated(0xef, events: 30)
        #expect(played.run() == ["off ef", "on ef for 6000 ms, 70 events"])
        played.terminated(0xef, .limitReached)
        #expect(played.events.last == "ended 1: all its events are sent")
    }

    @Test func highDutyCycleLasts1280Milliseconds() throws {
        let peer = DeviceAddress(0x0102_0304_0506, type: .public)
        let request = AdvertisingRequest(to: .init(peer, dutyCycle: .high))
        var extended = PlayedAdvertiser()
        _ = try extended.advertise(request)
        #expect(extended.run() == ["on ef for 1280 ms"])
        extended.terminated(0xef, .advertisingTimeout)
        #expect(extended.events.last == "ended 1: its time is over")
        var legacy = PlayedAdvertiser(sets: nil)
        _ = try legacy.advertise(request)
        #expect(legacy.run() == ["off", "on"] && legacy.nextIn == .milliseconds(2280))
        legacy.advertiser.legacyTerminated(.advertisingTimeout)
        legacy.take()
        #expect(legacy.events.last == "ended 1: its time is over")
    }

    // MARK: Refusals

    @Test func refusedRestartIsRetriedWithBackoff() throws {
        var played = PlayedAdvertiser()
        _ = try played.advertise(Self.service, links: 2)
        #expect(played.run() == ["on ef"])
        (played.conditions.centrals, played.conditions.links) = (1, 1)
        played.terminated(0xef)
        let refusal = CommandAnswer.refused(.commandDisallowed)
        for wait: Int64 in [1, 2, 4, 8, 16, 32, 32, 32] {
            #expect(played.run("on ef", refusal).suffix(2) == ["on ef", "off ef"])
            #expect(played.nextIn == .seconds(wait))
            played.wait(.seconds(wait) - .milliseconds(1))
            #expect(played.settle() == [])
            played.wait(.milliseconds(1))
        }
        #expect(played.run() == ["on ef"])
        // The restart has succeeded, so the delay begins at one second again. The end of a link ends the delay.
        played.terminated(0xef)
        _ = played.run("on ef", refusal)
        #expect(played.nextIn == .seconds(1))
        played.advertiser.linkEnded()
        #expect(played.run() == ["on ef"])
        #expect(played.events == ["started 1"])
    }

    @Test func refusedStartOrSeventhRefusalFails() throws {
        let refusal = CommandAnswer.refused(.commandDisallowed)
        let failure = BLEError.hci(.commandDisallowed, command: .leSetExtendedAdvertisingEnable)
        var played = PlayedAdvertiser()
        played.conditions.links = 1
        _ = try played.advertise(Self.service)
        _ = played.settle("on ef", refusal)
        #expect(played.events == ["failed 1: \(failure)", "off air 1"])
        played.conditions.links = 0
        played.events = []
        _ = try played.advertise(Self.service)
        #expect(played.run() == ["on ef"])
        played.terminated(0xef)
        for _ in 0..<6 {
            _ = played.settle("on ef", refusal)
            played.wait(.seconds(32))
        }
        #expect(played.events == ["started 2"])
        _ = played.settle("on ef", refusal)
        #expect(played.events == ["started 2", "failed 2: \(failure)", "off air 2"])
    }

    @Test func restartsAfterForeignDisableAtMost30TimesPerMinute() throws {
        var played = PlayedAdvertiser(isShared: true)
        _ = try played.advertise(Self.beacon)
        _ = try played.advertise(Self.beacon)
        _ = played.settle()
        let disable = { (set: UInt8) in
            LESetExtendedAdvertisingEnable(enable: false, sets: [.init(set: .init(rawValue: set))]).packet
        }
        played.others(disable(0xe0))
        #expect(played.advertiser.deadline == nil)
        played.others(disable(0xee))
        played.wait(.milliseconds(249))
        #expect(played.settle() == [] && played.nextIn == .milliseconds(1))
        played.wait(.milliseconds(1))
        #expect(played.run() == ["off ee", "on ee"])
        played.wait(.milliseconds(750))
        for _ in 1...29 {
            played.others(LEClearAdvertisingSets().packet)
            played.wait(.milliseconds(250))
            #expect(played.run().count == 4)
            played.wait(.milliseconds(750))
        }
        // The 31st restart within a minute waits until the first is a minute old.
        played.others(LEClearAdvertisingSets().packet)
        #expect(played.nextIn == .seconds(30))
    }

    @Test("advertising restarts after another program resets the controller", arguments: [nil, 4])
    func restartsAfterForeignReset(sets: Int?) throws {
        var played = PlayedAdvertiser(sets: sets, isShared: true)
        let id = try played.advertise(Self.beacon)
        if sets != nil { _ = try played.advertise(Self.service) }
        _ = played.settle()
        // A reset during a recovery is the kernel's own, and all sets are started again afterwards.
        played.conditions.isRecovering = true
        played.others(Reset().packet)
        #expect(played.advertiser.deadline == nil)
        played.conditions.isRecovering = false
        played.others(Reset().packet)
        #expect(played.settle() == [] && played.nextIn == Advertiser.settlingTime)
        played.wait(Advertiser.settlingTime)
        #expect(played.run() == (sets == nil ? ["on"] : ["off ef", "on ef", "off ee", "on ee"]))
        #expect(played.events == (sets == nil ? ["started 1"] : ["started 1", "started 2"]))
        played.stop(id)
        #expect(played.run() == (sets == nil ? ["off"] : ["off ef"]))
        #expect(played.events.last == "off air 1")
    }

    @Test("what other programs do to one set delays no other set")
    func foreignCommandsOnOneSetDelayNoOtherSet() throws {
        var played = PlayedAdvertiser(isShared: true)
        _ = try played.advertise(Self.beacon)
        let second = try played.advertise(Self.beacon)
        _ = played.settle()
        for _ in 0...30 {
            played.others(LERemoveAdvertisingSet(set: AdvertisingHandle(rawValue: 0xef)).packet)
            played.wait(.milliseconds(250))
            _ = played.settle()
        }
        #expect(played.nextIn ?? .zero > .seconds(30))
        try played.update(second, to: Self.request(.nonconnectable, name: "y"))
        _ = try played.advertise(Self.beacon)
        #expect(played.settle() == ["data ee", "off ed", "remove ed", "parameters ed", "data ed", "on ed"])
    }

    @Test("refused extended commands of other programs leave legacy advertising on air")
    func refusedForeignCommandsKeepLegacyAdvertising() throws {
        var played = PlayedAdvertiser(sets: nil, isShared: true)
        let id = try played.advertise(Self.beacon)
        _ = played.settle()
        played.others(LEClearAdvertisingSets().packet)
        played.others(LESetExtendedAdvertisingEnable(enable: false, sets: []).packet)
        played.others(LERemoveAdvertisingSet(set: AdvertisingHandle(rawValue: 0xef)).packet)
        played.wait(.seconds(1))
        #expect(played.settle() == [])
        played.stop(id)
        #expect(played.settle() == ["off"])
    }

    @Test("legacy advertising of another program is not ended, even when it has displaced ours")
    func keepsForeignLegacyAdvertising() throws {
        var played = PlayedAdvertiser(sets: nil, isShared: true)
        let id = try played.advertise(Self.beacon)
        _ = played.settle()
        played.others(LESetAdvertisingEnable(enable: true).packet)
        played.wait(.milliseconds(250))
        #expect(played.settle("parameters", .refused(.commandDisallowed)) == ["parameters"])
        #expect(played.nextIn == .seconds(1) && played.events == ["started 1"])
        played.wait(.seconds(1))
        #expect(played.settle("parameters", .refused(.commandDisallowed)) == ["parameters"])
        played.stop(id)
        #expect(played.settle() == [] && played.events.last == "off air 1")
    }

    @Test("legacy advertising is switched off after a malformed answer to its enable command")
    func malformedEnableAnswerStopsAdvertising() throws {
        var played = PlayedAdvertiser(sets: nil)
        _ = try played.advertise(Self.beacon)
        #expect(
            played.settle("on", .malformed(.missingStatus)) == ["off", "parameters", "data", "on", "off"])
        #expect(played.events.count == 2 && played.events[0].hasPrefix("failed 1:"))
    }

    @Test("extended commands are tried again after a reset") func retriesExtendedCommandsAfterReset() throws {
        var played = PlayedAdvertiser(isShared: true)
        _ = try played.advertise(Self.beacon)
        #expect(played.run("parameters ef", .refused(.commandDisallowed)) == ["off ef", "on"])
        played.advertiser.controllerWasReset()
        #expect(played.run() == ["off ef", "on ef"])
    }

    @Test func repeatedlyLostSetFails() throws {
        var played = PlayedAdvertiser()
        _ = try played.advertise(Self.beacon)
        let failure = BLEError.hci(.unknownAdvertisingIdentifier, command: .leSetExtendedAdvertisingData)
        for loss in 1...6 {
            #expect(played.events == [], "lost \(loss - 1) times")
            played.run(upTo: "data ef")
            played.answer(.refused(.unknownAdvertisingIdentifier))
        }
        #expect(played.events == ["failed 1: \(failure)"] && played.settle() == [])
    }

    // MARK: Trains

    @Test("a periodic train survives a foreign disable and ends with its advertisement")
    func trainSurvivesForeignDisable() throws {
        var played = PlayedAdvertiser(isShared: true)
        let id = try played.advertise(Self.train())
        #expect(
            played.settle() == [
                "off ef", "remove ef", "parameters ef", "train parameters ef", "data ef", "train data ef",
                "train on ef", "on ef",
            ])
        played.others(LESetExtendedAdvertisingEnable(enable: false, sets: []).packet)
        played.wait(.milliseconds(250))
        #expect(played.settle() == ["on ef"])
        try played.update(id, to: Self.train([2]))
        #expect(played.settle() == ["train data ef"])
        played.stop(id)
        #expect(played.settle() == ["off ef", "train off ef", "remove ef"])
    }

    @Test("a train whose set was being recreated during a pause is recreated")
    func interruptedTrainIsRecreated() throws {
        var played = PlayedAdvertiser()
        let id = try played.advertise(Self.train())
        _ = played.settle()
        var slower = try Self.train([2])
        slower.interval = .seconds(1)
        try played.update(id, to: slower)
        #expect(played.next() == "off ef")
        played.conditions.isPaused = true
        played.answer(.done([]))
        #expect(played.settle() == [])
        played.conditions.isPaused = false
        #expect(played.settle().prefix(4) == ["off ef", "train off ef", "remove ef", "parameters ef"])
        #expect(played.events == ["started 1", "updated 1"])
    }

    // MARK: Pauses, resets and silence

    @Test func pauseStopsAdvertisingAndResumeRestoresIt() throws {
        var played = PlayedAdvertiser()
        _ = try played.advertise(Self.service)
        let beacon = try played.advertise(Self.beacon)
        _ = played.settle()
        played.conditions.isPaused = true
        _ = try played.advertise(Self.beacon)
        #expect(!played.advertiser.isQuiet)
        #expect(played.settle() == ["off ef", "off ee"])
        #expect(played.advertiser.isQuiet)
        played.stop(beacon)
        #expect(played.settle() == ["off ee", "remove ee"])
        played.conditions.isPaused = false
        (played.conditions.ownAddressType, played.conditions.addressOnAir) = (
            .random, DeviceAddress.randomStatic(1)
        )
        #expect(
            played.settle() == [
                "off ef", "remove ef", "parameters ef", "address ef", "data ef", "scan response ef", "on ef",
                "parameters ee", "address ee", "data ee", "on ee",
            ])
    }

    @Test func resetForgetsSetsAndKeepsRequests() throws {
        var played = PlayedAdvertiser()
        _ = try played.advertise(Self.service)
        let beacon = try played.advertise(Self.beacon)
        _ = played.settle()
        played.stop(beacon)
        #expect(played.next() == "off ee")
        played.advertiser.controllerWasReset()
        played.answer(.silent)
        #expect(played.events.last == "off air 2")
        #expect(played.run() == ["on ef"])
    }

    @Test("a refused disable is retried once") func refusedDisableIsRetriedOnce() throws {
        for answers in [[HCIStatus.commandDisallowed], [.commandDisallowed, .commandDisallowed]] {
            var played = PlayedAdvertiser()
            let id = try played.advertise(Self.beacon)
            _ = played.settle()
            played.stop(id)
            #expect(played.next() == "off ef")
            played.answer(.refused(answers[0]))
            #expect(played.next() == nil)
            #expect(played.events == ["started 1", "ended 1: stopped"])
            played.wait(.seconds(1))
            if answers.count > 1 {
                #expect(played.next() == "off ef")
                played.answer(.refused(answers[1]))
                #expect(played.settle() == ["remove ef"])
            } else {
                #expect(played.settle() == ["off ef", "remove ef"])
            }
            #expect(played.events == ["started 1", "ended 1: stopped", "off air 1"])
        }
    }

    @Test("a stop does not hasten the retry of a refused command")
    func stopDoesNotHastenRefusedCommand() throws {
        var played = PlayedAdvertiser()
        let id = try played.advertise(Self.service)
        _ = played.settle()
        var slow = Self.service
        slow.interval = .seconds(5)
        try played.update(id, to: slow)
        #expect(played.next() == "off ef")
        played.answer(.refused(.commandDisallowed))
        played.stop(id)
        #expect(played.next() == nil)
        played.wait(.seconds(1))
        #expect(played.settle() == ["off ef", "remove ef"])
    }

    @Test("a stop hastens the retry of an unanswered command, even after a refusal")
    func stopHastensUnansweredCommand() throws {
        var played = PlayedAdvertiser()
        let id = try played.advertise(Self.service)
        _ = played.settle()
        var slow = Self.service
        slow.interval = .seconds(5)
        try played.update(id, to: slow)
        #expect(played.next() == "off ef")
        played.answer(.refused(.commandDisallowed))
        played.wait(.seconds(1))
        #expect(played.next() == "off ef")
        played.answer(.silent)
        #expect(played.next() == nil)
        played.stop(id)
        #expect(played.settle() == ["off ef", "remove ef"])
    }

    @Test("advertising is stopped on a controller that recovers without a reset")
    func stopsAdvertisingAfterRecoveryWithoutReset() throws {
        var played = PlayedAdvertiser()
        let id = try played.advertise(Self.beacon)
        _ = played.settle()
        played.stop(id)
        #expect(played.next() == "off ef")
        played.conditions.isRecovering = true
        played.answer(.silent)
        #expect(played.events.last == "ended 1: stopped", "it may be on air")
        played.conditions.isRecovering = false
        played.advertiser.controllerIsBack()
        #expect(played.settle() == ["off ef", "remove ef"] && played.events.last == "off air 1")
    }

    @Test("after an unanswered enable the set is disabled before a restart or when stopped")
    func unansweredEnableIsUndoneBeforeRetry() throws {
        var played = PlayedAdvertiser()
        _ = try played.advertise(Self.beacon)
        played.run(upTo: "on ef")
        played.answer(.silent)
        let failure = BLEError.controllerSilent(command: .leSetExtendedAdvertisingEnable)
        #expect(played.events == ["failed 1: \(failure)"])
        #expect(played.settle() == [] && played.nextIn == .seconds(1))
        played.wait(.seconds(1))
        #expect(played.settle() == ["off ef", "remove ef"])

        let id = try played.advertise(Self.service, links: 2)
        _ = played.settle()
        played.terminated(0xef)
        played.run(upTo: "on ef")
        played.answer(.silent)
        played.wait(.seconds(1))
        #expect(played.run() == ["off ef", "on ef"], "what was on air before is begun again")
        played.stop(id)
        #expect(played.next() == "off ef")
        played.answer(.silent)
        #expect(
            played.events.last == "off air 2", "a stop does not wait for a controller that does not answer")
        #expect(played.nextIn == .seconds(1))
        played.wait(.seconds(1))
        #expect(played.next() == "off ef")
        played.answer(.silent)
        #expect(played.nextIn == .seconds(2))
        played.wait(.seconds(2))
        #expect(played.settle() == ["off ef", "remove ef"])
    }

    @Test("an unanswered command of one set delays no other set")
    func silenceOfOneSetDelaysNoOtherSet() throws {
        var played = PlayedAdvertiser()
        let first = try played.advertise(Self.beacon)
        _ = played.settle()
        _ = try played.advertise(Self.beacon)
        #expect(played.settle("on ee", .silent) == ["parameters ee", "data ee", "on ee"])
        played.stop(first)
        _ = try played.advertise(Self.beacon)
        #expect(played.run() == ["off ef", "on ef"], "also on the set that was made free")
        #expect(played.events.suffix(3) == ["ended 1: stopped", "off air 1", "started 3"])
        // The end of a set is retried at growing intervals, of 32 s at most.
        for wait: Int64 in [1, 2, 4, 8, 16, 32, 32] {
            #expect(played.nextIn == .seconds(wait))
            played.wait(.seconds(wait))
            #expect(played.next() == "off ee")
            played.answer(.done([]))
            #expect(played.next() == "remove ee")
            played.answer(.silent)
        }
    }

    @Test(
        "a stop is sent at once after a silence; if unanswered, the next advertisement fails"
    )
    func stopIsSentAtOnceAfterSilence() throws {
        var played = PlayedAdvertiser(sets: nil)
        let id = try played.advertise(Self.service, links: 2)
        _ = played.settle()
        played.advertiser.legacyTerminated(.success)
        _ = played.settle("on", .silent)
        #expect(played.settle() == [] && played.nextIn == .seconds(1))
        played.stop(id)
        #expect(played.next() == "off")
        played.answer(.silent)
        _ = try played.advertise(Self.beacon)
        #expect(played.settle() == [])
        played.wait(played.nextIn ?? .zero)
        #expect(played.settle("off", .silent) == ["off"])
        let failure = BLEError.controllerSilent(command: .leSetAdvertisingEnable)
        #expect(played.events.contains("failed 2: \(failure)"))
    }
}

/// Random requests to an advertiser, and random events from a controller, centrals and other programs.
private struct AdvertisingWishes {
    let isExtended: Bool
    var random: SplitMix64
    var played: PlayedAdvertiser
    var radio = AdvertisingRadio()
    /// The maximum number of links of each advertisement, and the requests of which one may be on air: the last completed one
    /// and all later ones.
    var wanted: [AdvertisingID: (links: Int, requests: [AdvertisingRequest])] = [:]
    var starts: Set<String> = []
    var updates: [String: (id: AdvertisingID, request: AdvertisingRequest)] = [:]
    var stops: Set<String> = []
    private var counter: UInt8 = 0

    init(seed: UInt64, isExtended: Bool) {
        self.isExtended = isExtended
        random = SplitMix64(seed: seed)
        played = PlayedAdvertiser(sets: isExtended ? 4 : nil, isShared: isExtended && seed % 2 == 0)
    }

    private mutating func chance(of one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    private mutating func request() throws -> AdvertisingRequest {
        counter += 1
        if isExtended, chance(of: 4) { return try AdvertiserTests.train([counter]) }
        let kind: AdvertisingKind = chance(of: 2) ? .connectable : .nonconnectable
        var request = AdvertiserTests.request(kind, name: "\(counter)")
        if chance(of: 3) { request.interval = .seconds(1) }
        return request
    }

    /// Performs a random step: a request of the host, a connection or its end, a command of another program, a pause
    /// or a wait.
    mutating func act() throws {
        switch Int.random(in: 0...8, using: &random) {
        case 0, 1:
            let (links, request) = (Int.random(in: 1...2, using: &random), try request())
            guard wanted.count < (isExtended ? 4 : 1) else { break }
            let id = try played.advertise(request, links: links)
            wanted[id] = (links, [request])
            starts.insert("\(id.number)")
        case 2:
            guard let id = any() else { break }
            let request = try request()
            let update = try played.update(id, to: request)
            wanted[id]?.requests.append(request)
            updates["\(update.number)"] = (id, request)
        case 3:
            guard let id = any() else { break }
            stops.insert("\(id.number)")
            played.stop(id)
        case 4: played.conditions.isPaused.toggle()
        case 5 where played.conditions.centrals > 0:
            played.conditions.centrals -= 1
            played.conditions.links -= 1
            played.advertiser.linkEnded()
        case 6: connect()
        case 7 where played.conditions.isShared: others()
        default: played.wait(.milliseconds(Int64.random(in: 0...2000, using: &random)))
        }
        judge()
    }

    private mutating func any() -> AdvertisingID? {
        wanted.keys.sorted { $0.number < $1.number }.randomElement(using: &random)
    }

    /// Connects a central to a connectable set that is on air, if there is one.
    private mutating func connect() {
        let set = radio.sets.filter { $1.isOn && $1.isConnectable }.keys.min()
        guard let set else { return }
        radio.sets[set]?.isOn = false
        played.conditions.centrals += 1
        played.conditions.links += 1
        if isExtended { played.terminated(set) } else { played.advertiser.legacyTerminated(.success) }
    }

    private mutating func others() {
        if chance(of: 2) {
            for set in radio.sets.keys { radio.sets[set]?.isOn = false }
            played.others(LESetExtendedAdvertisingEnable(enable: false, sets: []).packet)
        } else if let set = radio.sets.keys.sorted().randomElement(using: &random) {
            radio.sets[set] = nil
            played.others(LERemoveAdvertisingSet(set: AdvertisingHandle(rawValue: set)).packet)
        }
    }

    /// Answers the next command, always with the result of `radio` if `isCalm` is true, and else at random. Returns
    /// false if there is no command.
    mutating func command(isCalm: Bool = false) throws -> Bool {
        guard let name = played.next() else {
            judge()
            return false
        }
        let packet = played.packet
        if !isCalm, chance(of: 4) { try act() }
        let isEnd = name.hasPrefix("off") || name.hasPrefix("remove") || name.hasPrefix("train off")
        switch isCalm ? 9 : Int.random(in: 0...9, using: &random) {
        // Commands that end something are not refused at random, because the host could only send them again.
        case 0 where !isEnd:
            // Command Disallowed is not among these, because it would select the other family of commands.
            let all: [HCIStatus] = [
                .unsupportedFeatureOrParameterValue, .hardwareFailure, .memoryCapacityExceeded,
            ]
            played.answer(.refused(all.randomElement(using: &random) ?? .hardwareFailure))
        case 1 where !isEnd: played.answer(.malformed(.missingStatus))
        case 2: silence(packet)
        default:
            let answer = radio.take(packet)
            // Events may arrive in the same batch, before the answer.
            if !isCalm, chance(of: 5) { connect() }
            if !isCalm, chance(of: 20) { recover() }
            played.answer(answer)
        }
        judge()
        return true
    }

    private mutating func silence(_ packet: HCICommandPacket) {
        if chance(of: 2) { _ = radio.take(packet) }
        played.conditions.isRecovering = chance(of: 2)
        played.answer(.silent)
        guard played.conditions.isRecovering else { return }
        played.conditions.isRecovering = false
        recover()
    }

    /// Reports that the controller has recovered, by a Reset or without one.
    private mutating func recover() {
        if chance(of: 2) {
            radio.sets = [:]
            played.conditions.centrals = 0
            played.conditions.links = 0
            played.advertiser.controllerWasReset()
        } else {
            played.advertiser.controllerIsBack()
        }
        played.take()
    }

    /// Checks that each request is reported at most once, and removes the requests that are reported.
    private mutating func judge() {
        for event in played.events {
            let words = event.split(separator: ":")[0].split(separator: " ").map(String.init)
            let number = words.last ?? ""
            switch words[0] {
            case "started":
                let wasAwaited = starts.remove(number) != nil
                #expect(wasAwaited, "\(event)")
            case "failed", "ended":
                starts.remove(number)
                let wasWanted = wanted.removeValue(forKey: AdvertisingID(number: UInt64(number) ?? 0)) != nil
                #expect(wasWanted, "\(event)")
            case "updated":
                guard let (id, request) = updates.removeValue(forKey: number) else {
                    Issue.record("\(event)")
                    break
                }
                // Earlier requests are no longer on air, unless no link was free for this one.
                let isShown = radio.sets.values.contains { $0.isOn && $0.data == request.payloads.data }
                if isShown, let index = wanted[id]?.requests.firstIndex(of: request) {
                    wanted[id]?.requests.removeFirst(index)
                }
            case "not":
                guard let (id, request) = updates.removeValue(forKey: number) else {
                    // The update was not requested, or was reported before.
                    Issue.record("\(event)")
                    break
                }
                wanted[id]?.requests.removeAll { $0 == request }
            case "off": stops.remove(number)
            default: break
            }
        }
        played.events = []
    }
}

@Suite struct AdvertiserPropertyTests {
    @Test(
        "the requested advertisements, and no others, are on air in the end", arguments: 0..<200,
        [false, true])
    func advertiserConvergesToRequests(seed: UInt64, isExtended: Bool) throws {
        var wishes = AdvertisingWishes(seed: seed, isExtended: isExtended)
        for _ in 0..<80 {
            try wishes.act()
            for _ in 0..<Int.random(in: 0...12, using: &wishes.random) where try !wishes.command() { break }
        }
        wishes.played.conditions.isPaused = false
        var rounds = 0
        while rounds < 500 {
            rounds += 1
            if try wishes.command(isCalm: true) { continue }
            guard let wait = wishes.played.nextIn else { break }
            #expect(wait > .zero, "nothing turns in circles")
            wishes.played.wait(wait)
        }
        #expect(rounds < 500)
        let centrals = wishes.played.conditions.centrals
        var due: [[UInt8]: Int] = [:]
        for (links, requests) in wishes.wanted.values {
            guard let request = requests.last, !request.isConnectable || centrals < links else { continue }
            let payloads = requests.map { $0.payloads.data ?? [] }
            let isAdvertised = wishes.radio.sets.values.contains { $0.isOn && payloads.contains($0.data) }
            #expect(isAdvertised, "\(request.plan)")
            due[payloads[0], default: 0] += 1
        }
        // An advertisement that has not started waits for a free link.
        for (id, wish) in wishes.wanted where wishes.starts.contains("\(id.number)") {
            #expect(wish.requests.last?.isConnectable == true && centrals >= wish.links)
        }
        let onAir = wishes.radio.sets.values.filter(\.isOn)
        #expect(onAir.count == due.values.reduce(0, +))
        #expect(wishes.radio.sets.values.filter(\.hasTrain).count <= onAir.count)
        #expect(wishes.updates.isEmpty && wishes.stops.isEmpty)
    }
}
