import BLECore
import HCI
import TestSupport
import Testing
import VirtualController

@Suite struct ScanningTests {
    @Test func scanReportsOnlyListedDevices() {
        var bench = Bench()
        let (wanted, unwanted, scanner) = (bench.join(), bench.join(), bench.join())
        bench.perform(LEAddDeviceToFilterAcceptList(device: HCIAddress(bench.address(wanted))), on: scanner)
        bench.advertise(on: wanted)
        bench.advertise(on: unwanted)
        bench.scan(on: scanner, .active, filter: .acceptListOnly)
        bench.run(for: .seconds(1))
        let reports = bench.reports(scanner)
        #expect(reports.count > 10)
        #expect(reports.allSatisfy { $0.address == HCIAddress(bench.address(wanted)) })
    }

    @Test func duplicateFilterReportsOncePerScan() {
        var bench = Bench()
        let (advertiser, scanner) = (bench.join(), bench.join())
        bench.advertise(on: advertiser)
        bench.scan(on: scanner, .active, filterDuplicates: true)
        bench.run(for: .seconds(5))
        #expect(bench.reports(scanner).map(\.type) == [.connectable, .scanResponse])
        // A new scan clears the duplicate filter.
        bench.perform(LESetScanEnable(enable: true, filterDuplicates: true), on: scanner)
        bench.run(for: .seconds(1))
        #expect(bench.reports(scanner).count == 2)
    }

    @Test func duplicateFilterMemoryIsBounded() {
        var configuration = VirtualController.Configuration()
        configuration.duplicateMemory = 2
        var bench = Bench()
        let scanner = bench.join(configuration)
        let advertisers = (0..<3).map { _ in bench.join() }
        for advertiser in advertisers { bench.advertise(on: advertiser) }
        bench.scan(on: scanner, filterDuplicates: true)
        bench.run(for: .seconds(1))
        #expect(bench.reports(scanner).count > 6, "the third makes the first forgotten")
        bench.remove(advertisers[2])
        bench.run(for: .seconds(1))
        _ = bench.reports(scanner)
        bench.run(for: .seconds(1))
        #expect(bench.reports(scanner).isEmpty, "two are remembered")
    }

    @Test func reportsArriveOnlyDuringScanWindow() {
        var bench = Bench()
        let (advertiser, scanner) = (bench.join(), bench.join())
        // The window is 160 ms of an interval of 640 ms.
        bench.scan(on: scanner, interval: 1024, window: 256)
        let start = bench.now
        bench.advertise(on: advertiser, interval: 32)
        for _ in 0..<400 {
            bench.run(for: .milliseconds(10))
            for _ in bench.reports(scanner) {
                let phase = start.duration(until: bench.now).nanoseconds / 1_000_000 % 640
                #expect(phase <= 170, "received \(phase) ms after the start of a window")
            }
        }
        bench.perform(LESetScanEnable(enable: false), on: scanner)
        bench.scan(on: scanner, interval: 1024, window: 1024)
        bench.run(for: .seconds(4))
        #expect(bench.reports(scanner).count > 120, "always listening")
    }

    @Test func unreadReportsAreDroppedAtLimit() {
        var configuration = VirtualController.Configuration()
        configuration.reportLimit = 10
        var bench = Bench()
        let (advertiser, scanner) = (bench.join(), bench.join(configuration))
        bench.advertise(on: advertiser)
        bench.scan(on: scanner)
        bench.withoutReceiver = [scanner]
        bench.run(for: .seconds(2))
        #expect((bench.air.controller(scanner)?.droppedReports ?? 0) > 5)
        bench.withoutReceiver = []
        bench.drain()
        #expect(bench.reports(scanner).count == 10)
        bench.run(for: .milliseconds(500))
        #expect(bench.reports(scanner).count > 3, "there is room again")
    }

    @Test func rssiIsSetPerPair() {
        var bench = Bench()
        let (near, far, scanner) = (bench.join(), bench.join(), bench.join())
        bench.setRSSI(-20, between: scanner, and: near)
        bench.setRSSI(-90, between: far, and: scanner)
        bench.scan(on: scanner)
        bench.advertise(on: near)
        bench.advertise(on: far)
        bench.run(for: .milliseconds(50))
        #expect(bench.reports(scanner).map(\.rssi).sorted() == [-90, -20])
        bench.setRSSI(nil, between: scanner, and: near)
        bench.run(for: .milliseconds(500))
        #expect(Set(bench.reports(scanner).map(\.rssi)) == [-90])
    }

    @Test func controllerDoesNotReceiveItself() {
        var bench = Bench()
        let id = bench.join()
        bench.advertise(on: id)
        bench.scan(on: id)
        bench.run(for: .seconds(1))
        #expect(bench.reports(id).isEmpty)
    }

    /// Whether the controller is scanning (1), the parameters, and the status.
    @Test(
        arguments: [
            (0, "00 1000 1000 01 00", .success), (0, "01 0400 0400 01 01", .success),
            (0, "00 0040 0040 00 00", .success),
            (0, "02 1000 1000 01 00", .invalidCommandParameters),
            (0, "00 0300 0300 01 00", .invalidCommandParameters),
            (0, "00 0140 1000 01 00", .invalidCommandParameters),
            (0, "00 1000 0300 01 00", .invalidCommandParameters),
            (0, "00 1000 1100 01 00", .invalidCommandParameters),
            (0, "00 1000 1000 04 00", .invalidCommandParameters),
            (0, "00 1000 1000 02 00", .unsupportedFeatureOrParameterValue),
            (0, "00 1000 1000 01 02", .unsupportedFeatureOrParameterValue),
            (0, "00 1000 1000 01 04", .invalidCommandParameters),
            (1, "00 1000 1000 01 00", .commandDisallowed),
        ] as [(Int, String, HCIStatus)])
    func scanParametersAreValidated(_ isScanning: Int, _ hex: String, _ expected: HCIStatus) {
        var bench = Bench()
        let id = bench.join()
        if isScanning == 1 { bench.scan(on: id) }
        let parameters = octets(hex)
        let packet = HCICommandPacket(opcode: .leSetScanParameters, parameters: parameters)
        #expect(bench.answer(packet, on: id).status == expected)
    }

    @Test func scanEnableIsValidated() {
        var bench = Bench()
        let id = bench.air.add()
        #expect(
            bench.status(LESetScanEnable(enable: true), on: id) == .invalidCommandParameters,
            "no public address")
        bench.setUp(id)
        for flags: (UInt8, UInt8) in [(2, 0), (1, 2)] {
            let command = LESetScanEnable(
                enable: HCIFlag(rawValue: flags.0), filterDuplicates: HCIFlag(rawValue: flags.1))
            #expect(bench.status(command, on: id) == .invalidCommandParameters)
        }
        bench.perform(LESetScanEnable(enable: false), on: id)
        bench.scan(on: id)
        #expect(
            bench.status(LESetRandomAddress(address: bench.address(id)), on: id) == .commandDisallowed)
    }
}
