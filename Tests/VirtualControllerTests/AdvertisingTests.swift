import BLECore
import HCI
import TestSupport
import Testing
import VirtualController

@Suite struct AdvertisingTests {
    /// The advertising type, the type of the report, and whether a scan response follows.
    @Test(
        arguments: [
            (.connectable, .connectable, true), (.scannable, .scannable, true),
            (.nonconnectable, .nonconnectable, false),
        ] as [(AdvertisingType, LEAdvertisingReports.Report.Kind, Bool)])
    func undirectedAdvertisingIsReportedByType(
        _ type: AdvertisingType, _ kind: LEAdvertisingReports.Report.Kind, _ isScannable: Bool
    ) throws {
        var bench = Bench()
        let (advertiser, active, passive) = (bench.join(), bench.join(), bench.join())
        bench.scan(on: active, .active)
        bench.scan(on: passive)
        bench.advertise(on: advertiser, type, data: [2, 1, 6], scanResponse: [2, 0x0a, 4])
        bench.run(for: .milliseconds(50))
        let address = HCIAddress(bench.address(advertiser))
        let report = LEAdvertisingReports.Report(type: kind, address: address, data: [2, 1, 6], rssi: -50)
        let response = LEAdvertisingReports.Report(
            type: .scanResponse, address: address, data: [2, 0x0a, 4], rssi: -50)
        #expect(bench.reports(active) == (isScannable ? [report, response] : [report]))
        #expect(bench.reports(passive) == [report])
    }

    @Test(arguments: [AdvertisingType.directedLowDutyCycle, .directedHighDutyCycle])
    func directedAdvertisingReachesOnlyItsTarget(_ type: AdvertisingType) {
        var bench = Bench()
        let (advertiser, target, other) = (bench.join(), bench.join(), bench.join())
        bench.scan(on: target, .active)
        bench.scan(on: other)
        bench.advertise(on: advertiser, type, at: bench.address(target))
        bench.run(for: .milliseconds(3))
        #expect(
            bench.reports(target) == [
                LEAdvertisingReports.Report(
                    type: .directed, address: HCIAddress(bench.address(advertiser)), data: [], rssi: -50)
            ])
        #expect(bench.reports(other).isEmpty)
    }

    @Test func highDutyCycleAdvertisingTimesOut() {
        var bench = Bench()
        let (advertiser, target) = (bench.join(), bench.join())
        bench.scan(on: target)
        bench.advertise(on: advertiser, .directedHighDutyCycle, at: bench.address(target))
        bench.run(for: .milliseconds(1279))
        #expect(bench.events(advertiser).isEmpty)
        #expect(bench.reports(target).count == 342, "every 3.75 ms")
        bench.run(for: .milliseconds(1))
        let ended = bench.connections(advertiser)
        #expect(ended.map(\.status) == [.advertisingTimeout])
        #expect(ended.map(\.role) == [.peripheral])
        bench.run(for: .seconds(5))
        #expect(bench.reports(target).isEmpty)
    }

    @Test func advertisingIntervalsHaveRandomDelay() {
        var bench = Bench()
        let (advertiser, scanner) = (bench.join(), bench.join())
        bench.scan(on: scanner)
        bench.advertise(on: advertiser, interval: 160)
        var times: [UInt64] = []
        for _ in 0..<10_000 {
            bench.run(for: .microseconds(500))
            if !bench.reports(scanner).isEmpty { times.append(bench.now.nanoseconds / 1000) }
        }
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(gaps.count > 40)
        #expect(gaps.allSatisfy { (99_500...110_500).contains($0) })
        #expect(Set(gaps).count > 5, "the delay is random")
    }

    @Test func repeatedEnableAndDisableHaveNoEffect() {
        var bench = Bench()
        let (advertiser, scanner) = (bench.join(), bench.join())
        bench.scan(on: scanner)
        bench.advertise(on: advertiser)
        bench.perform(LESetAdvertisingEnable(enable: true), on: advertiser)
        bench.run(for: .seconds(1))
        #expect((8...11).contains(bench.reports(scanner).count), "enabling twice changes nothing")
        bench.perform(LESetAdvertisingEnable(enable: false), on: advertiser)
        bench.perform(LESetAdvertisingEnable(enable: false), on: advertiser)
        bench.run(for: .seconds(1))
        #expect(bench.reports(scanner).isEmpty)
        #expect(bench.air.deadline == nil)
    }

    @Test func dataCanChangeWhileAdvertising() throws {
        var bench = Bench()
        let (advertiser, scanner) = (bench.join(), bench.join())
        bench.scan(on: scanner)
        bench.advertise(on: advertiser)
        bench.run(for: .milliseconds(50))
        bench.perform(LESetAdvertisingData(data: try LegacyAdvertisingData([2, 1, 4])), on: advertiser)
        bench.run(for: .milliseconds(100))
        #expect(bench.reports(scanner).map(\.data) == [[2, 1, 6], [2, 1, 4]])
    }

    @Test func scanRequestFilterIgnoresUnlistedScanners() {
        var bench = Bench()
        let (advertiser, known, stranger) = (bench.join(), bench.join(), bench.join())
        bench.perform(
            LEAddDeviceToFilterAcceptList(device: HCIAddress(bench.address(known))), on: advertiser)
        bench.scan(on: known, .active)
        bench.scan(on: stranger, .active)
        bench.advertise(on: advertiser, filter: .filterScanRequests)
        bench.run(for: .milliseconds(50))
        #expect(bench.reports(known).map(\.type) == [.connectable, .scanResponse])
        #expect(bench.reports(stranger).map(\.type) == [.connectable])
    }

    /// Whether the controller is advertising (1), the parameters, and the status.
    @Test(
        arguments: [
            // Intervals: too short, too long, minimum above maximum. A high duty cycle ignores them.
            (0, "1f00 2000 00 01 00 000000000000 07 00", .invalidCommandParameters),
            (0, "2000 0140 00 01 00 000000000000 07 00", .invalidCommandParameters),
            (0, "3000 2000 00 01 00 000000000000 07 00", .invalidCommandParameters),
            (0, "0000 0000 01 01 00 000000000000 07 00", .success),
            // Type and own address type.
            (0, "2000 2000 05 01 00 000000000000 07 00", .invalidCommandParameters),
            (0, "2000 2000 00 04 00 000000000000 07 00", .invalidCommandParameters),
            (0, "2000 2000 00 02 00 000000000000 07 00", .unsupportedFeatureOrParameterValue),
            (0, "2000 2000 00 03 00 000000000000 07 00", .unsupportedFeatureOrParameterValue),
            // The peer is validated for directed advertising only.
            (0, "2000 2000 04 01 02 000000000000 07 00", .invalidCommandParameters),
            (0, "2000 0040 00 01 07 000000000000 01 03", .success),
            // Channels and filter policy.
            (0, "2000 2000 00 01 00 000000000000 00 00", .invalidCommandParameters),
            (0, "2000 2000 00 01 00 000000000000 08 00", .invalidCommandParameters),
            (0, "2000 2000 00 01 00 000000000000 07 04", .invalidCommandParameters),
            // While the controller is advertising, all parameters are refused.
            (1, "2000 2000 00 01 00 000000000000 07 00", .commandDisallowed),
        ] as [(Int, String, HCIStatus)])
    func advertisingParametersAreValidated(_ isAdvertising: Int, _ hex: String, _ expected: HCIStatus) {
        var bench = Bench()
        let id = bench.join()
        if isAdvertising == 1 { bench.advertise(on: id) }
        let parameters = octets(hex)
        let packet = HCICommandPacket(opcode: .leSetAdvertisingParameters, parameters: parameters)
        #expect(bench.answer(packet, on: id).status == expected)
    }

    @Test(arguments: [HCIOpcode.leSetAdvertisingData, .leSetScanResponseData])
    func dataLongerThan31OctetsIsRefused(_ opcode: HCIOpcode) {
        var bench = Bench()
        let id = bench.join()
        for (length, expected) in [(31, HCIStatus.success), (32, .invalidCommandParameters)] {
            let parameters = [UInt8(length)] + [UInt8](repeating: 0, count: 31)
            #expect(
                bench.answer(HCICommandPacket(opcode: opcode, parameters: parameters), on: id).status
                    == expected)
        }
    }

    @Test func enableFailsWithoutAddressOfRequestedType() {
        var bench = Bench()
        let id = bench.air.add()
        let enable = LESetAdvertisingEnable(enable: true)
        #expect(bench.status(enable, on: id) == .invalidCommandParameters, "no public address")
        bench.perform(
            LESetAdvertisingParameters(
                intervalMin: Slots(rawValue: 160), intervalMax: Slots(rawValue: 160), ownAddressType: .random),
            on: id)
        #expect(bench.status(enable, on: id) == .invalidCommandParameters, "no random address yet")
        bench.perform(LESetRandomAddress(address: DeviceAddress(0xc000_0000_0001, type: .random)), on: id)
        bench.perform(enable, on: id)
        #expect(
            bench.status(
                LESetRandomAddress(address: DeviceAddress(0xc000_0000_0002, type: .random)), on: id)
                == .commandDisallowed, "in use")
        #expect(
            bench.status(LESetAdvertisingEnable(enable: HCIFlag(rawValue: 2)), on: id)
                == .invalidCommandParameters)
    }

    @Test func advertisingUsesPublicAddress() {
        var bench = Bench()
        let address = DeviceAddress(0x0011_2233_4455, type: .public)
        let (id, scanner) = (bench.join(.init(publicAddress: address)), bench.join())
        bench.scan(on: scanner)
        bench.perform(LESetAdvertisingEnable(enable: true), on: id)
        bench.run(for: .milliseconds(1))
        #expect(bench.reports(scanner).map(\.address) == [HCIAddress(address)])
    }
}
