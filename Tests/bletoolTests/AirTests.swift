import Foundation
import ProgramTesting
import Testing

/// `bletool air` as a program.
@Suite(.timeLimit(.minutes(10))) struct AirTests {
    @Test("the first SIGTERM ends air and its clients, which report an error")
    func sigtermEndsAirAndClients() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "air-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let air = try RunningProgram(["bletool", "air", "--listen", "unix:air", "--json"], in: folder)
        #expect(await air.line()?.contains("ready") == true)
        let client = try RunningProgram(
            ["bletool", "advertise", "--name", "x", "--adapter", "unix:air", "--json"], in: folder)
        #expect(await client.line()?.contains("ready") == true)
        let (reason, signal) = try await offThePool { air.end(by: SIGTERM) }
        #expect(reason == .uncaughtSignal && signal == SIGTERM)
        #expect(await client.line()?.contains(#""event":"error""#) == true)
        #expect(client.status() == 3)
    }

    @Test func backgroundAirNeedsSocket() async throws {
        let air = try RunningProgram(
            ["bletool", "air", "--background"], in: FileManager.default.temporaryDirectory,
            mergingErrors: true)
        #expect(await air.line() == "bletool: --background: is for an air that another command starts")
        #expect(await air.line() == "hint: run bletool air")
        #expect(air.status() == 1)
    }
}
