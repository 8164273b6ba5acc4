import BLECore
import HCI
import TestSupport
import Testing
import VirtualController

/// The commands of 7.8.64 and 7.8.65.
@Suite struct ExtendedScanTests {
    /// Whether the controller is scanning (1), the parameters, and the status. The parameters are own address
    /// type, filter policy and PHYs, then type, interval and window for each PHY.
    @Test(
        arguments: [
            (0, "01 00 01 00 1000 1000", .success), (0, "01 01 05 01 0400 0400 00 ffff ffff", .success),
            (0, "01 00 00", .invalidCommandParameters),
            (0, "01 00 02 00 1000 1000", .unsupportedFeatureOrParameterValue),
            (0, "01 00 08 00 1000 1000", .unsupportedFeatureOrParameterValue),
            (0, "01 00 01 02 1000 1000", .invalidCommandParameters),
            (0, "01 00 01 00 0300 0300", .invalidCommandParameters),
            (0, "01 00 01 00 1000 1100", .invalidCommandParameters),
            (0, "01 00 05 00 1000 1000 00 1000 0300", .invalidCommandParameters),
            (0, "01 00 05 00 1000 1000", .invalidCommandParameters),
            (0, "04 00 01 00 1000 1000", .invalidCommandParameters),
            (0, "02 00 01 00 1000 1000", .unsupportedFeatureOrParameterValue),
            (0, "01 02 01 00 1000 1000", .unsupportedFeatureOrParameterValue),
            (0, "01 04 01 00 1000 1000", .invalidCommandParameters),
            (1, "01 00 01 00 1000 1000", .commandDisallowed),
        ] as [(Int, String, HCIStatus)])
    func scanParametersAreValidated(_ isScanning: Int, _ hex: String, _ expected: HCIStatus) {
        var bench = Bench()
        let id = bench.joinExtended { $0.resolvingListSize = 0 }
        if isScanning == 1 { bench.scanExtended(on: id) }
        let octets = octets(hex)
        let packet = HCICommandPacket(opcode: .leSetExtendedScanParameters, parameters: octets)
        #expect(bench.answer(packet, on: id).status == expected)
    }

    /// Enable, duplicate filter, duration and period; and the status.
    @Test(
        arguments: [
            ("01 00 0000 0000", .success), ("01 01 6400 0000", .success), ("01 02 6400 0100", .success),
            ("00 07 6400 0000", .success), ("02 00 0000 0000", .invalidCommandParameters),
            ("01 03 0000 0000", .invalidCommandParameters), ("01 02 0000 0100", .invalidCommandParameters),
            ("01 02 6400 0000", .invalidCommandParameters), ("01 00 8000 0100", .invalidCommandParameters),
            ("01 00 8100 0100", .invalidCommandParameters), ("01 00 0000 0100", .success),
        ] as [(String, HCIStatus)])
    func scanEnableIsValidated(_ hex: String, _ expected: HCIStatus) {
        var bench = Bench()
        let id = bench.joinExtended()
        bench.scanExtended(on: id)
        let octets = octets(hex)
        let packet = HCICommandPacket(opcode: .leSetExtendedScanEnable, parameters: octets)
        #expect(bench.answer(packet, on: id).status == expected)
        #expect(
            bench.status(LESetRandomAddress(address: bench.address(id)), on: id)
                == (hex.hasPrefix("00") ? .success : .commandDisallowed))
    }

    @Test func scanEnableFailsWithoutAddress() {
        var bench = Bench()
        let id = bench.air.add(.init(extended: .init()))
        #expect(
            bench.status(LESetExtendedScanEnable(enable: true), on: id) == .invalidCommandParameters)
    }

    @Test func scanEndsWithTimeoutAfterDuration() {
        var bench = Bench()
        let (advertiser, scanner) = (bench.joinExtended(), bench.joinExtended())
        bench.make(Bench.parameters(0, []), on: advertiser, data: [1])
        bench.enable(on: advertiser)
        bench.scanExtended(on: scanner, for: 50)
        bench.run(for: .milliseconds(499))
        #expect(bench.extendedReports(scanner).count >= 4)
        bench.run(for: .milliseconds(1))
        #expect(bench.events(scanner).last == .leMeta(.scanTimeout(LEScanTimeout())))
        bench.run(for: .seconds(2))
        #expect(bench.events(scanner).isEmpty)
    }

    /// The scan lasts 500 ms in each period of 1.28 s.
    @Test func periodicScanReceivesOnlyDuringDuration() {
        var bench = Bench()
        let (advertiser, scanner) = (bench.joinExtended(), bench.joinExtended())
        bench.make(Bench.parameters(0, [], interval: 32), on: advertiser, data: [1])
        bench.enable(on: advertiser)
        bench.scanExtended(on: scanner, for: 50, every: 1)
        let start = bench.now
        var received: Set<UInt64> = []
        for _ in 0..<500 {
            bench.run(for: .milliseconds(10))
            let phase = start.duration(until: bench.now).nanoseconds.magnitude / 1_000_000 % 1280
            if !bench.extendedReports(scanner).isEmpty { received.insert(phase) }
        }
        #expect(received.count > 30)
        #expect(received.allSatisfy { $0 <= 510 })
    }

    @Test func duplicatesAreFilteredByMode() throws {
        var bench = Bench()
        let (advertiser, all, once, each) = (
            bench.joinExtended(), bench.joinExtended(), bench.joinExtended(), bench.joinExtended()
        )
        bench.scanExtended(on: all)
        bench.scanExtended(on: once, duplicates: .on)
        bench.scanExtended(on: each, duplicates: .eachPeriod, for: 100, every: 1)
        bench.make(Bench.parameters(0, []), on: advertiser, data: [1])
        bench.make(Bench.parameters(1, [], sid: 1), on: advertiser, data: [1])
        bench.enable(0, on: advertiser)
        bench.enable(1, on: advertiser)
        bench.run(for: .milliseconds(3 * 1280))
        #expect(bench.extendedReports(all).count > 50)
        #expect(bench.extendedReports(once).count == 2)
        #expect(bench.extendedReports(each).count == 6)
        // Other data are reported, and so are the same data with another data ID.
        for operation: AdvertisingDataFragment.Operation in [.complete, .unchanged] {
            let fragment = try AdvertisingDataFragment(
                set: Bench.set(1), operation: operation, operation == .complete ? [2] : [])
            bench.perform(LESetExtendedAdvertisingData(fragment: fragment), on: advertiser)
            bench.run(for: .seconds(1))
            #expect(bench.extendedReports(once).map(\.data) == [[2]])
        }
    }
}
