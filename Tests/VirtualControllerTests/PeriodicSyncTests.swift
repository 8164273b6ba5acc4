import BLECore
import HCI
import TestSupport
import Testing
import VirtualController

/// Synchronization to periodic trains: the commands of 7.8.67 to 7.8.73 and 7.8.88.
@Suite struct PeriodicSyncTests {
    @Test func syncByAddressReportsTrain() throws {
        var bench = Bench()
        let (sender, receiver) = (bench.joinExtended(), bench.joinExtended())
        bench.scanExtended(on: receiver)
        bench.perform(bench.following(sender), on: receiver)
        bench.makeTrain(on: sender, data: [1, 2, 3], secondary: .le2M)
        bench.run(for: .milliseconds(50))
        let announced = try #require(bench.extendedReports(receiver).first)
        #expect(announced.periodicInterval == ConnectionInterval(rawValue: 80))
        #expect(announced.sid == 3)
        bench.run(for: .milliseconds(50))
        let sync = SyncHandle(rawValue: 0)
        let first = bench.trainEvents(receiver)
        #expect(
            first.established == [
                LEPeriodicAdvertisingSyncEstablished(
                    train: PeriodicTrain(
                        sync: sync, sid: 3, advertiser: HCIAddress(bench.address(sender)), phy: .le2M,
                        interval: ConnectionInterval(rawValue: 80)))
            ])
        #expect(
            first.reports == [LEPeriodicAdvertisingReport(sync: sync, rssi: -50, data: [1, 2, 3])])
        // The reports continue every 100 ms without the scan and without the announcements.
        bench.perform(LESetExtendedScanEnable(enable: false), on: receiver)
        bench.perform(LESetExtendedAdvertisingEnable(enable: false), on: sender)
        bench.run(for: .seconds(1))
        #expect(bench.trainEvents(receiver).reports.count == 10)
        bench.perform(LEPeriodicAdvertisingTerminateSync(sync: sync), on: receiver)
        bench.run(for: .seconds(5))
        #expect(bench.packets(receiver).isEmpty, "no event reports it")
        #expect(
            bench.status(LEPeriodicAdvertisingTerminateSync(sync: sync), on: receiver)
                == .unknownAdvertisingIdentifier)
    }

    @Test func syncByAdvertiserListFindsListedTrain() throws {
        var bench = Bench()
        let (one, other, receiver) = (bench.joinExtended(), bench.joinExtended(), bench.joinExtended())
        bench.makeTrain(on: one)
        bench.makeTrain(on: other, sid: 4)
        bench.scanExtended(on: receiver)
        bench.perform(bench.following(receiver, sid: 0xff, options: .advertiserList), on: receiver)
        bench.run(for: .seconds(1))
        #expect(bench.trainEvents(receiver).established.isEmpty, "the list is empty")
        bench.perform(LEPeriodicAdvertisingCreateSyncCancel(), on: receiver)
        for sid: UInt8 in [3, 4] {
            bench.perform(
                LEAddDeviceToPeriodicAdvertiserList(
                    advertiser: .init(address: HCIAddress(bench.address(other)), sid: sid)), on: receiver)
        }
        _ = bench.trainEvents(receiver)
        bench.perform(bench.following(receiver, sid: 0xff, options: .advertiserList), on: receiver)
        bench.run(for: .seconds(1))
        let established = bench.trainEvents(receiver).established
        #expect(established.map(\.train.advertiser) == [HCIAddress(bench.address(other))])
        #expect(established.map(\.train.sid) == [4])
    }

    @Test func advertiserListIsBoundedAndLockedDuringSync() throws {
        var abilities = VirtualController.ExtendedAbilities()
        abilities.periodicAdvertiserListSize = 2
        var bench = Bench()
        let id = bench.joinExtended(abilities)
        func entry(_ value: UInt64, _ sid: UInt8 = 0, _ type: HCIAddressType = .random) -> PeriodicAdvertiser
        {
            PeriodicAdvertiser(address: HCIAddress(value, type: type), sid: sid)
        }
        func add(_ entry: PeriodicAdvertiser) -> HCIStatus {
            bench.status(LEAddDeviceToPeriodicAdvertiserList(advertiser: entry), on: id)
        }
        func remove(_ entry: PeriodicAdvertiser) -> HCIStatus {
            bench.status(LERemoveDeviceFromPeriodicAdvertiserList(advertiser: entry), on: id)
        }
        #expect(try bench.ask(LEReadPeriodicAdvertiserListSize(), on: id).value == 2)
        #expect(add(entry(1)) == .success)
        #expect(add(entry(1)) == .invalidCommandParameters, "it is there")
        #expect(add(entry(2, 16)) == .invalidCommandParameters)
        #expect(add(entry(2, 0, .publicIdentity)) == .invalidCommandParameters)
        #expect(add(entry(1, 1)) == .success, "another set")
        #expect(add(entry(2)) == .memoryCapacityExceeded)
        #expect(remove(entry(2)) == .unknownAdvertisingIdentifier)
        #expect(remove(entry(1)) == .success)
        #expect(remove(entry(1)) == .unknownAdvertisingIdentifier)
        bench.perform(LEClearPeriodicAdvertiserList(), on: id)
        #expect(remove(entry(1, 1)) == .unknownAdvertisingIdentifier)
        bench.perform(bench.following(id), on: id)
        #expect(add(entry(1)) == .commandDisallowed)
        #expect(remove(entry(1)) == .commandDisallowed)
        #expect(bench.status(LEClearPeriodicAdvertiserList(), on: id) == .commandDisallowed)
        // A pending synchronization may have to resolve addresses, so the resolving list cannot change.
        bench.perform(LEPeriodicAdvertisingCreateSyncCancel(), on: id)
        bench.resolve(on: id)
        bench.perform(bench.following(id), on: id)
        #expect(bench.status(LEClearResolvingList(), on: id) == .commandDisallowed)
    }

    /// Options, SID, address type, skip, timeout and CTE types; and the status.
    @Test(
        arguments: [
            ("00 03 01 0000 0a00 00", .success), ("07 ff ff f301 0040 0f", .success),
            ("00 0f 00 0000 0a00 10", .success),
            ("08 03 01 0000 0a00 00", .invalidCommandParameters),
            ("00 10 01 0000 0a00 00", .invalidCommandParameters),
            ("00 03 02 0000 0a00 00", .invalidCommandParameters),
            ("00 03 01 f401 0a00 00", .invalidCommandParameters),
            ("00 03 01 0000 0900 00", .invalidCommandParameters),
            ("00 03 01 0000 0140 00", .invalidCommandParameters),
            ("00 03 01 0000 0a00 1f", .commandDisallowed),
            ("00 03 01 0000 0a00 20", .invalidCommandParameters),
        ] as [(String, HCIStatus)])
    func createSyncParametersAreValidated(_ hex: String, _ expected: HCIStatus) {
        var bench = Bench()
        let id = bench.joinExtended()
        let octets = octets(hex)
        let parameters = octets[..<3] + [1, 2, 3, 4, 5, 6] + octets[3...]
        let packet = HCICommandPacket(opcode: .lePeriodicAdvertisingCreateSync, parameters: Array(parameters))
        #expect(bench.answer(packet, on: id).status == expected)
        if expected == .success {
            #expect(bench.answer(packet, on: id).status == .commandDisallowed, "one at a time")
        }
    }

    @Test func cancelledSyncReportsCancellation() throws {
        var bench = Bench()
        let id = bench.joinExtended()
        let cancel = LEPeriodicAdvertisingCreateSyncCancel()
        #expect(bench.status(cancel, on: id) == .commandDisallowed)
        bench.perform(bench.following(id), on: id)
        bench.perform(cancel, on: id)
        #expect(bench.trainEvents(id).established.map(\.status) == [.operationCancelledByHost])
        #expect(bench.status(cancel, on: id) == .commandDisallowed)
    }

    @Test func syncLimitsAreEnforced() throws {
        var (bench, sender, receiver, _) = try Bench.train()
        #expect(bench.status(bench.following(sender), on: receiver) == .connectionAlreadyExists)
        #expect(bench.status(bench.following(sender, sid: 4), on: receiver) == .success)

        let (lonely, more) = (bench.joinExtended(.init(periodicSyncs: 1)), bench.joinExtended())
        bench.makeTrain(on: more)
        bench.scanExtended(on: lonely)
        bench.perform(bench.following(sender), on: lonely)
        bench.run(for: .milliseconds(400))
        #expect(bench.trainEvents(lonely).established.map(\.status) == [.success])
        #expect(bench.status(bench.following(more), on: lonely) == .memoryCapacityExceeded)
    }

    @Test func silentTrainIsReportedLost() throws {
        var (bench, sender, receiver, sync) = try Bench.train(timeout: 100)
        bench.perform(LESetPeriodicAdvertisingEnable(enable: [], set: Bench.set(0)), on: sender)
        bench.run(for: .milliseconds(800))
        #expect(bench.trainEvents(receiver).lost.isEmpty)
        bench.run(for: .milliseconds(200))
        #expect(bench.trainEvents(receiver).lost == [sync])
        #expect(
            bench.status(LEPeriodicAdvertisingTerminateSync(sync: sync), on: receiver)
                == .unknownAdvertisingIdentifier)
        // If the set sends a train again, it is another train.
        bench.perform(LESetPeriodicAdvertisingEnable(enable: .on, set: Bench.set(0)), on: sender)
        bench.run(for: .seconds(1))
        #expect(bench.packets(receiver).isEmpty)
    }

    /// The synchronization fails if none of the six packets after the announcement is received.
    @Test func unreceivedTrainFailsToBeEstablished() {
        var bench = Bench()
        let (sender, receiver) = (bench.joinExtended(), bench.joinExtended())
        bench.scanExtended(on: receiver)
        bench.perform(bench.following(sender), on: receiver)
        bench.makeTrain(on: sender)
        bench.run(for: .milliseconds(50))
        bench.setRSSI(nil, between: sender, and: receiver)
        bench.run(for: .milliseconds(549))
        #expect(bench.trainEvents(receiver).established.isEmpty)
        bench.run(for: .milliseconds(2))
        #expect(
            bench.trainEvents(receiver).established.map(\.status) == [.connectionFailedToBeEstablished])
        #expect(
            bench.status(LEPeriodicAdvertisingCreateSyncCancel(), on: receiver) == .commandDisallowed,
            "it is over")
    }

    /// 1,650 octets arrive in seven reports, of which the last one is complete. If packets are lost, it is truncated.
    @Test func longDataIsReportedInFragments() throws {
        let data = (0..<1650).map { UInt8(truncatingIfNeeded: $0) }
        var (bench, _, receiver, _) = try Bench.train(data: data)
        bench.run(for: .milliseconds(100))
        let reports = bench.trainEvents(receiver).reports
        #expect(reports.map(\.data.count) == [247, 247, 247, 247, 247, 247, 168])
        #expect(
            reports.map(\.dataStatus)
                == [LEPeriodicAdvertisingReport.DataStatus](repeating: .moreToCome, count: 6) + [.complete])
        #expect(reports.flatMap(\.data) == data)

        bench.air.conditions = .init(loss: 0.2)
        bench.run(for: .seconds(10))
        var ends: [LEPeriodicAdvertisingReport.DataStatus: Int] = [:]
        for report in bench.trainEvents(receiver).reports where report.dataStatus != .moreToCome {
            ends[report.dataStatus, default: 0] += 1
        }
        // 80 of 100 first packets arrive, and 26 % of those with all of the six packets after them.
        #expect((8...40).contains(ends[.complete] ?? 0))
        #expect((35...75).contains(ends[.truncated] ?? 0))
    }

    @Test func skipReducesReportsWithoutLosingSync() throws {
        var (bench, _, receiver, _) = try Bench.train(skip: 3)
        bench.run(for: .seconds(4))
        #expect(bench.trainEvents(receiver).reports.count == 10)
        // A skip that exceeds the timeout does not lose the train.
        var (other, _, eager, _) = try Bench.train(skip: 499, timeout: 100)
        other.run(for: .seconds(20))
        let events = other.trainEvents(eager)
        #expect(events.lost.isEmpty && events.reports.count > 10)
    }

    @Test func reportsCanBeEnabledAndDisabled() throws {
        var (bench, _, receiver, sync) = try Bench.train(options: .withoutReports)
        bench.run(for: .seconds(1))
        #expect(bench.packets(receiver).isEmpty)
        bench.perform(LESetPeriodicAdvertisingReceiveEnable(sync: sync, enable: .reports), on: receiver)
        bench.run(for: .seconds(1))
        #expect(bench.trainEvents(receiver).reports.count == 10)
        bench.perform(LESetPeriodicAdvertisingReceiveEnable(sync: sync, enable: []), on: receiver)
        bench.run(for: .seconds(1))
        #expect(bench.packets(receiver).isEmpty)
        for (octet, handle, expected): (UInt8, UInt16, HCIStatus) in [
            (1, sync.rawValue + 1, .unknownAdvertisingIdentifier),
            (4, sync.rawValue, .unsupportedFeatureOrParameterValue),
        ] {
            #expect(
                bench.status(
                    LESetPeriodicAdvertisingReceiveEnable(
                        sync: SyncHandle(rawValue: handle), enable: .init(rawValue: octet)), on: receiver)
                    == expected)
        }
    }

    /// Only the ADI of a train shows that its data are the same.
    @Test(arguments: [true, false]) func duplicatesAreFilteredOnlyWithADI(_ adi: Bool) throws {
        var (bench, sender, receiver, _) = try Bench.train(adi: adi, options: .filterDuplicates)
        bench.run(for: .seconds(1))
        #expect(bench.trainEvents(receiver).reports.count == (adi ? 0 : 10))
        for fragment in Bench.trainFragments([9]) {
            bench.perform(LESetPeriodicAdvertisingData(fragment: fragment), on: sender)
        }
        bench.run(for: .seconds(1))
        let reports = bench.trainEvents(receiver).reports
        #expect(reports.count == (adi ? 1 : 10))
        #expect(reports.allSatisfy { $0.data == [9] })
    }

    @Test func syncResolvesPrivateAdvertiser() throws {
        var bench = Bench()
        let (sender, receiver) = (bench.joinExtended(), bench.joinExtended())
        bench.introduce(receiver, to: sender)
        bench.introduce(sender, to: receiver)
        bench.resolve(on: receiver)
        bench.scanExtended(on: receiver)
        bench.perform(bench.following(sender, sid: 0), on: receiver)
        var parameters = Bench.parameters(0, [], target: bench.address(receiver))
        parameters.ownAddressType = .resolvableOrRandom
        bench.make(parameters, on: sender)
        bench.perform(Bench.trainParameters(), on: sender)
        bench.perform(LESetPeriodicAdvertisingEnable(enable: .on, set: Bench.set(0)), on: sender)
        bench.enable(on: sender)
        bench.run(for: .milliseconds(200))
        #expect(
            bench.trainEvents(receiver).established.map(\.train.advertiser) == [bench.resolved(sender)])
    }

    /// None of the packets has a constant tone extension.
    @Test func excludedPacketTypeFailsToSynchronize() {
        var bench = Bench()
        let (sender, receiver) = (bench.joinExtended(), bench.joinExtended())
        bench.makeTrain(on: sender)
        bench.scanExtended(on: receiver)
        bench.perform(bench.following(sender, excluded: .none), on: receiver)
        bench.run(for: .seconds(1))
        #expect(bench.trainEvents(receiver).established.map(\.status) == [.unsupportedRemoteFeature])
        bench.perform(
            LEAddDeviceToPeriodicAdvertiserList(
                advertiser: .init(address: HCIAddress(bench.address(sender)), sid: 3)), on: receiver)
        bench.perform(
            bench.following(sender, options: .advertiserList, excluded: .none), on: receiver)
        bench.run(for: .seconds(1))
        #expect(bench.trainEvents(receiver).established.isEmpty, "there may be another")
        bench.perform(LEPeriodicAdvertisingCreateSyncCancel(), on: receiver)
    }
}
