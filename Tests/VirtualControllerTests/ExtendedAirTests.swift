import BLECore
import HCI
import Testing
import VirtualController

/// Advertising and scanning with the extended commands, two controllers on one air.
@Suite struct ExtendedAirTests {
    @Test func extendedReportHasAllFields() {
        var bench = Bench()
        let (advertiser, scanner) = (bench.joinExtended(), bench.joinExtended())
        bench.scanExtended(on: scanner, phys: [.le1M, .leCoded])
        var parameters = Bench.parameters(3, .includesTxPower, primary: .leCoded, secondary: .le2M, sid: 9)
        parameters.txPower = -7
        bench.make(parameters, on: advertiser, data: [2, 1, 6])
        bench.enable(3, on: advertiser)
        bench.run(for: .milliseconds(50))
        #expect(
            bench.extendedReports(scanner) == [
                LEExtendedAdvertisingReports.Report(
                    type: [], address: HCIAddress(bench.address(advertiser)), primaryPHY: .leCoded,
                    secondaryPHY: .le2M, sid: 9, txPower: -7, rssi: -57, data: [2, 1, 6])
            ])
    }

    /// Legacy packets by the extended commands, and the reports of an active scanner.
    @Test func legacyPacketsAreReportedAsLegacy() {
        var bench = Bench()
        let (advertiser, scanner) = (bench.joinExtended(), bench.joinExtended())
        bench.scanExtended(on: scanner, .active)
        bench.make(
            Bench.parameters(0, [.legacy, .scannable]), on: advertiser, data: [1, 2], response: [3, 4])
        bench.enable(on: advertiser)
        bench.run(for: .milliseconds(50))
        let reports = bench.extendedReports(scanner)
        #expect(
            reports.map(\.type) == [[.legacy, .scannable], [.legacy, .scannable, .scanResponse]])
        #expect(reports.map(\.data) == [[1, 2], [3, 4]])
        #expect(reports.allSatisfy { $0.sid == 0xff && $0.secondaryPHY == .none && $0.txPower == 127 })
    }

    @Test func scannableSetSendsResponseToActiveScanner() {
        var bench = Bench()
        let (advertiser, active, passive) = (
            bench.joinExtended(), bench.joinExtended(), bench.joinExtended()
        )
        bench.scanExtended(on: active, .active)
        bench.scanExtended(on: passive)
        var parameters = Bench.parameters(2, .scannable, sid: 1)
        parameters.notifiesScanRequests = true
        let response = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        bench.make(parameters, on: advertiser, response: response)
        bench.enable(2, on: advertiser)
        bench.run(for: .milliseconds(50))
        #expect(bench.extendedReports(passive).map(\.type) == [.scannable])
        let reports = bench.extendedReports(active)
        #expect(reports.map(\.data.count) == [0, 229, 229, 142])
        #expect(reports.dropFirst().flatMap(\.data) == response)
        let type: AdvertisingEventType = [.scannable, .scanResponse]
        #expect(
            reports.map(\.type) == [
                .scannable, type.with(.moreToCome), type.with(.moreToCome), type.with(.complete),
            ])
        #expect(
            bench.events(advertiser) == [
                .leMeta(
                    .scanRequestReceived(
                        LEScanRequestReceived(
                            set: Bench.set(2), scanner: HCIAddress(bench.address(active)))))
            ])
    }

    @Test(arguments: [0, 229, 230, 1650]) func chainedDataIsReportedInFragments(_ count: Int) {
        var bench = Bench()
        let (advertiser, scanner) = (bench.joinExtended(), bench.joinExtended())
        let data = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) }
        bench.scanExtended(on: scanner)
        bench.make(Bench.parameters(0, []), on: advertiser, data: data)
        bench.enable(on: advertiser)
        bench.run(for: .milliseconds(50))
        let reports = bench.extendedReports(scanner)
        #expect(reports.flatMap(\.data) == data)
        #expect(reports.count == max((count + 228) / 229, 1))
        #expect(reports.dropLast().allSatisfy { $0.type.dataStatus == .moreToCome })
        #expect(reports.last?.type.dataStatus == .complete)
    }

    /// The loss of a packet ends a chain early, and the last report is marked as truncated.
    @Test func lossTruncatesChains() {
        var bench = Bench(conditions: .init(loss: 0.2))
        let (advertiser, scanner) = (bench.joinExtended(), bench.joinExtended())
        bench.scanExtended(on: scanner)
        bench.make(Bench.parameters(0, []), on: advertiser, data: [UInt8](repeating: 1, count: 1650))
        bench.enable(on: advertiser)
        var outcomes: [AdvertisingEventType.DataStatus: Int] = [:]
        for _ in 0..<100 {
            bench.run(for: .milliseconds(100))
            let reports = bench.extendedReports(scanner)
            guard let last = reports.last else { continue }
            outcomes[last.type.dataStatus, default: 0] += 1
            let count = reports.reduce(0) { $0 + $1.data.count }
            #expect((count == 1650) == (last.type.dataStatus == .complete) || reports.count > 8)
        }
        #expect(outcomes[.moreToCome] == nil)
        #expect((outcomes[.complete] ?? 0) > 3)
        #expect((outcomes[.truncated] ?? 0) > 20)
    }

    @Test func reportsBeyondLimitAreTruncated() {
        var bench = Bench()
        let (advertiser, scanner) = (
            bench.joinExtended(), bench.joinExtended(.init()) { $0.reportLimit = 3 }
        )
        bench.scanExtended(on: scanner)
        bench.make(
            Bench.parameters(0, [], interval: 16_000), on: advertiser,
            data: [UInt8](repeating: 1, count: 1650))
        bench.withoutReceiver = [scanner]
        bench.enable(on: advertiser)
        bench.run(for: .milliseconds(10))
        bench.withoutReceiver = []
        bench.drain()
        let status = bench.extendedReports(scanner).map(\.type.dataStatus)
        #expect(status == [.moreToCome, .moreToCome, .truncated])
        #expect(bench.air.controller(scanner)?.droppedReports == 5)
    }

    @Test func anonymousAdvertiserMatchesAcceptListEntry() {
        var bench = Bench()
        let (advertiser, scanner, picky) = (
            bench.joinExtended(), bench.joinExtended(), bench.joinExtended()
        )
        let anonymous = HCIAddress(0, type: .anonymous)
        bench.scanExtended(on: scanner, filter: .acceptListOnly)
        bench.perform(LEAddDeviceToFilterAcceptList(device: anonymous), on: picky)
        bench.scanExtended(on: picky, filter: .acceptListOnly)
        bench.make(Bench.parameters(0, .anonymous), on: advertiser, data: [2, 1, 6])
        bench.enable(on: advertiser)
        bench.run(for: .milliseconds(50))
        #expect(bench.extendedReports(scanner).isEmpty)
        #expect(bench.extendedReports(picky).map(\.address) == [anonymous])
        let legacy = bench.join()
        #expect(
            bench.status(LEAddDeviceToFilterAcceptList(device: anonymous), on: legacy)
                == .invalidCommandParameters)
    }

    @Test func directedSetReachesOnlyItsTarget() {
        var bench = Bench()
        let (advertiser, target, other) = (
            bench.joinExtended(), bench.joinExtended(), bench.joinExtended()
        )
        bench.scanExtended(on: target)
        bench.scanExtended(on: other)
        bench.make(
            Bench.parameters(0, .directed, target: bench.address(target)), on: advertiser, data: [9])
        bench.enable(on: advertiser)
        bench.run(for: .milliseconds(50))
        #expect(bench.extendedReports(other).isEmpty)
        let reports = bench.extendedReports(target)
        #expect(reports.map(\.type) == [.directed])
        #expect(reports.map(\.direct) == [HCIAddress(bench.address(target))])
        #expect(reports.map(\.data) == [[9]])
    }

    @Test func setsAdvertiseAtTheirOwnIntervals() {
        var bench = Bench()
        let (advertiser, scanner) = (bench.joinExtended(), bench.joinExtended())
        bench.scanExtended(on: scanner, phys: [.le1M, .leCoded])
        for number: UInt8 in 0..<4 {
            bench.make(
                Bench.parameters(
                    number, [], interval: 160 << UInt32(number), primary: number == 3 ? .leCoded : .le1M,
                    sid: number), on: advertiser, data: [number])
        }
        bench.perform(
            LESetExtendedAdvertisingEnable(
                enable: true, sets: (0..<4).map { .init(set: Bench.set($0)) }), on: advertiser)
        bench.run(for: .seconds(8))
        let counts = Dictionary(grouping: bench.extendedReports(scanner), by: \.sid).mapValues(\.count)
        #expect((70...81).contains(counts[0] ?? 0))
        #expect((36...41).contains(counts[1] ?? 0))
        #expect((18...21).contains(counts[2] ?? 0))
        #expect((9...11).contains(counts[3] ?? 0))
        bench.perform(
            LESetExtendedAdvertisingEnable(enable: false, sets: [.init(set: Bench.set(0))]), on: advertiser)
        bench.run(for: .seconds(1))
        #expect(bench.extendedReports(scanner).allSatisfy { $0.sid != 0 })
    }

    @Test func scannerReceivesOnlyItsPHYs() {
        var bench = Bench()
        let (advertiser, coded, plain, simple) = (
            bench.joinExtended(), bench.joinExtended(), bench.joinExtended(),
            bench.joinExtended(.init(phys: []))
        )
        bench.scanExtended(on: coded, phys: .leCoded)
        bench.scanExtended(on: plain)
        bench.scanExtended(on: simple)
        bench.make(Bench.parameters(0, [], secondary: .le2M, sid: 0), on: advertiser)
        bench.make(Bench.parameters(1, [], primary: .leCoded, secondary: .leCoded, sid: 1), on: advertiser)
        bench.make(Bench.parameters(2, [.legacy]), on: advertiser)
        for number: UInt8 in 0..<3 { bench.enable(number, on: advertiser) }
        bench.run(for: .milliseconds(50))
        #expect(bench.extendedReports(coded).map(\.sid) == [1])
        #expect(bench.extendedReports(plain).map(\.sid) == [0, 0xff])
        #expect(bench.extendedReports(simple).map(\.sid) == [0xff], "it has no LE 2M")
    }

    @Test func setEndsAfterDurationOrEventLimit() {
        var bench = Bench()
        let (advertiser, scanner) = (bench.joinExtended(), bench.joinExtended())
        bench.scanExtended(on: scanner)
        bench.make(Bench.parameters(5, []), on: advertiser, data: [1])
        bench.enable(5, on: advertiser, for: 100)
        bench.run(for: .milliseconds(999))
        #expect(bench.terminations(advertiser).isEmpty)
        bench.run(for: .milliseconds(1))
        let received = bench.extendedReports(scanner).count
        #expect(
            bench.terminations(advertiser) == [
                LEAdvertisingSetTerminated(
                    status: .advertisingTimeout, set: Bench.set(5), completedEvents: UInt8(received))
            ])
        bench.run(for: .seconds(1))
        #expect(bench.extendedReports(scanner).isEmpty)

        bench.enable(5, on: advertiser, events: 3)
        bench.run(for: .seconds(2))
        #expect(bench.extendedReports(scanner).count == 3)
        #expect(
            bench.terminations(advertiser) == [
                LEAdvertisingSetTerminated(status: .limitReached, set: Bench.set(5), completedEvents: 3)
            ])
        #expect(bench.air.deadline == nil)
    }

    @Test func highDutyCycleSetTimesOut() {
        var bench = Bench()
        let (advertiser, target) = (bench.joinExtended(), bench.joinExtended())
        bench.scanExtended(on: target)
        bench.make(
            Bench.parameters(
                0, [.legacy, .connectable, .directed, .highDutyCycle], target: bench.address(target)),
            on: advertiser)
        bench.enable(on: advertiser, for: 128)
        bench.run(for: .seconds(2))
        #expect(bench.extendedReports(target).count == 342)
        #expect(bench.terminations(advertiser).map(\.status) == [.advertisingTimeout])
    }
}
