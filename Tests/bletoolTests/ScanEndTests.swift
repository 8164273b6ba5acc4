import Foundation
import ProgramTesting
import Testing

/// The end of `bletool scan`.
@Suite(.timeLimit(.minutes(10))) struct ScanEndTests {
    @Test("a scan that a signal ends prints the number of devices", arguments: [SIGINT, SIGTERM])
    func signaledScanPrintsCount(signal: CInt) async throws {
        let air = try await TemporaryAir()
        let beacon = try RunningProgram(
            ["bletool", "advertise", "--name", "Beacon", "--adapter", "virtual:beacon", "--json"],
            in: air.folder)
        #expect(await beacon.line()?.contains("ready") == true)
        for _ in 1...5 {
            let scan = try RunningProgram(
                ["bletool", "scan", "--adapter", "virtual:phone"], in: air.folder, mergingErrors: true)
            #expect(await scan.line()?.contains("Beacon") == true)
            scan.signal(signal)
            var last: String?
            while let line = await scan.line() { last = line }
            #expect(last == "bletool: scan: 1 device")
        }
        beacon.signal(SIGTERM)
        while await beacon.line() != nil {}
    }

    @Test(
        "of --duration and --timeout the earlier one ends a scan",
        arguments: [
            (["--count", "3", "--duration", "20s", "--timeout", "300ms"], 2, "0 of 3 found in 300ms"),
            (["--count", "3", "--duration", "300ms", "--timeout", "20s"], 0, "0 of 3 found"),
            (["--duration", "20s", "--timeout", "300ms"], 0, "0 devices"),
        ] as [([String], Int32, String)])
    func earlierLimitEndsScan(options: [String], status: Int32, text: String) async throws {
        let air = try await TemporaryAir()
        let scan = try RunningProgram(
            ["bletool", "scan", "--adapter", "virtual:phone"] + options, in: air.folder, mergingErrors: true)
        #expect(await scan.line() == "bletool: scan: \(text)")
        #expect(await scan.line() == nil)
        #expect(scan.status() == status)
    }
}
