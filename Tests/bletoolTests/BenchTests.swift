import Foundation
import ProgramTesting
import Testing

@testable import BLE
@testable import bletool

/// `bench` with `bench --serve` at the other end.
@Suite(.timeLimit(.minutes(10))) struct BenchTests {
    /// The measured operations in order, with the figures that do not depend on the speed.
    private static let measured = [
        // The count of the server's sink has eight octets.
        "read", "20", "160", "null", "null",
        "write", "20", "2000", "null", "null",
        "writeWithoutResponse", "20", "2000", "2000", "null",
        "notification", "20", "2000", "null", "0",
    ]

    /// Returns the same figures from a line of output. Checks that the histogram counts all operations.
    private func facts(_ line: String) throws -> [String] {
        let pattern =
            /"operation":"(\w+)".*"operations":(\d+),"octets":(\d+),"arrived":(\w+),"missing":(\w+),/
        let found = try #require(line.firstMatch(of: pattern)?.output, "\(line)")
        let counts = line.matches(of: /"count":(\d+)/).compactMap { Int($0.output.1) }
        #expect(counts.reduce(0, +) == 20)
        // The line has two latencies: that of the link and that of the operations.
        #expect(
            line.components(separatedBy: #""latency":"#).count == 3 && line.contains(#""link":{"interval":"#))
        #expect(line.contains(#""phy":"1m","mtu":517,"dataLength":{"transmit":251,"receive":251}"#))
        return [found.1, found.2, found.3, found.4, found.5].map(String.init)
    }

    @Test func benchMeasuresBothEndsInOneProcess() async throws {
        let air = try await TemporaryAir()
        let bench = try RunningProgram(
            ["bletool", "bench", "--adapter", "virtual", "--count", "20", "--size", "100", "--json"],
            in: air.folder)
        var seen: [String] = []
        while let line = await bench.line() { seen += try facts(line) }
        #expect(seen == Self.measured)
        #expect(bench.status() == 0)
    }

    @Test func benchMeasuresServerInAnotherProcess() async throws {
        let air = try await TemporaryAir()
        let server = try RunningProgram(
            ["bletool", "bench", "--serve", "--size", "100", "--adapter", "virtual:b", "--json"],
            in: air.folder)
        #expect(await server.line()?.contains(#""event":"ready""#) == true)
        // The second client counts from zero again, although the server keeps running.
        for number in ["one", "two"] {
            let bench = try RunningProgram(
                [
                    "bletool", "bench", "name:Bench", "--adapter", "virtual:\(number)", "--count", "20",
                    "--size",
                    "100", "--json",
                ], in: air.folder)
            var seen: [String] = []
            while let line = await bench.line() { seen += try facts(line) }
            #expect(seen == Self.measured)
            #expect(await server.line { $0.contains(#""event":"connected""#) } != nil)
            #expect(await server.line { $0.contains(#""event":"disconnected""#) } != nil)
        }
        let end = server.end(by: SIGINT)
        #expect(end.reason == .uncaughtSignal && end.status == SIGINT)
    }

    @Test func contradictoryArgumentsAreRefused() async {
        let lines: [[String]] = [
            [], ["--adapter", "hci0"], ["--serve", "name:X"], ["--serve", "--count", "1"],
            ["--serve", "--read", "2a19"], ["--serve", "--size", "3"],
            ["--adapter", "virtual", "--read", "2a19"],
            ["name:X", "--read", "2a19", "--notify", "2a19"], ["name:X", "--read", "2a19", "--size", "9"],
            ["name:X", "--without-response"], ["name:X", "--size", "513"],
        ]
        for line in lines { #expect(await BLETool.run(["bench"] + line) == .badInput, "\(line)") }
    }

    @Test func skippedNumbersAreCountedAsMissing() {
        let meter = Meter()
        for number in [UInt8(3), 4, 6, 9] { meter.arrived([number, 0, 0, 0, 0x55], isNumbered: true) }
        // The first value begins the measurement, and is not counted.
        #expect(meter.operations == 3)
        let event = meter.event(.notification, RemoteAttribute(handle: 1), .init(mtu: 23))
        #expect(event.missing == 3 && event.octets == 15)
    }
}
