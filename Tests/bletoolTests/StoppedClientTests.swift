import Foundation
import ProgramTesting
import Testing

/// A client whose process is stopped, and a server that always has values to send.
@Suite(.timeLimit(.minutes(10))) struct StoppedClientTests {
    /// Whether `make memory` runs the test. Memory use and the duration of a stop differ between machines, so
    /// other runs skip it.
    private static let isMeasured = ProcessInfo.processInfo.environment["BLETOOL_MEASURE_MEMORY"] != nil

    @Test(
        "a stopped client costs its server no memory and loses no value",
        .enabled(if: isMeasured))
    func stoppedClientLosesNoValue() async throws {
        let air = try await TemporaryAir()
        let server = try RunningProgram(
            ["bletool", "bench", "--serve", "--adapter", "virtual:server", "--json"], in: air.folder)
        #expect(await server.line()?.contains(#""event":"ready""#) == true)
        let client = try RunningProgram(
            [
                "bletool", "bench", "name:Bench", "--notify", "0x0014", "--adapter", "virtual:client",
                "--duration", "12s", "--json",
            ], in: air.folder)
        #expect(await server.line()?.contains(#""event":"connected""#) == true)
        try await Task.sleep(for: .seconds(3))
        client.signal(SIGSTOP)
        // The values in flight have arrived in the sockets' buffers.
        try await Task.sleep(for: .seconds(1))
        let before = try server.residentOctets()
        try await Task.sleep(for: .seconds(4))
        let after = try server.residentOctets()
        client.signal(SIGCONT)
        // Without flow control, 6,000 values a second would take 12 MB.
        #expect(after - before < 1 << 20)
        let reported = await client.line()
        #expect(reported?.contains(#""operation":"notification""#) == true)
        #expect(reported?.contains(#""missing":0,"#) == true)
        #expect(client.status() == 0)
    }
}

extension RunningProgram {
    /// Returns the resident memory of the program, in octets.
    fileprivate func residentOctets() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
        let kilobytes = try #require(status.firstMatch(of: /VmRSS:\s*([0-9]+) kB/)?.output.1)
        return try #require(Int(kilobytes)) * 1024
    }
}
