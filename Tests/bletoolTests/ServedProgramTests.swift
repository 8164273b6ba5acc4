import Foundation
import ProgramTesting
import Testing

/// The programs of a served file, whole: what centrals write, and what becomes of it.
@Suite(.timeLimit(.minutes(10))) struct ServedProgramTests {
    /// A server whose one characteristic runs a program, and writes of one octet each to it.
    private func serve(
        _ program: String, _ options: [String], writing octets: [UInt8]
    ) async throws -> (air: TemporaryAir, server: RunningProgram) {
        let air = try await TemporaryAir()
        let configuration = """
            name: Logger
            services:
              - uuid: 1802
                characteristics:
                  - {uuid: 2a06, properties: [write, writeWithoutResponse], write: {exec: "\(program)"}}
            """
        try Data(configuration.utf8).write(to: air.folder.appending(path: "log.yaml"))
        let server = try RunningProgram(
            ["bletool", "serve", "log.yaml", "--adapter", "virtual:log", "--json"] + options,
            in: air.folder, mergingErrors: true)
        #expect(await server.line()?.contains(#""event":"ready""#) == true)
        try Data(octets).write(to: air.folder.appending(path: "octets"))
        let client = try RunningProgram(
            [
                "bletool", "gatt", "name:Logger", "write", "2a06", "--from", "octets", "--chunk", "1",
                "--without-response", "--adapter", "virtual:phone",
            ], in: air.folder)
        while await client.line() != nil {}
        #expect(client.status() == 0)
        return (air, server)
    }

    @Test("a server that ends runs the programs of what was written, in order")
    func order() async throws {
        let octets = Array("abcdefghijklmnop".utf8)
        let (air, server) = try await serve("cat >> written; echo seen >&2", ["--once"], writing: octets)
        var lines: [String] = []
        while let line = await server.line() { lines.append(line) }
        #expect(server.status() == 0)
        #expect(try Data(contentsOf: air.folder.appending(path: "written")) == Data(octets))
        #expect(lines.count { $0 == "seen" } == octets.count, "what programs print on stderr is shown")
    }

    @Test("what cannot wait any more is dropped, and counted")
    func dropped() async throws {
        // All of them run for as long as there is no file.
        let (air, server) = try await serve(
            "until test -e go; do sleep 0.1; done; cat >> written", [],
            writing: [UInt8](repeating: UInt8(ascii: "x"), count: 40))
        var writes = 0
        while writes < 16, let line = await server.line() {
            if line.contains(#""event":"write""#) { writes += 1 }
        }
        try Data().write(to: air.folder.appending(path: "go"))
        var told: String?
        while told == nil, let line = await server.line() {
            if line.contains("dropped") { told = line }
        }
        let count = try #require(told?.firstMatch(of: /dropped (\d+) writes without response/)?.output.1)
        server.signal(SIGINT)
        while await server.line() != nil {}
        let written = try Data(contentsOf: air.folder.appending(path: "written")).count
        #expect(written + (Int(count) ?? 0) == 40)
        #expect(written == 16 || written == 17)
    }
}

/// What a served file asks of links.
@Suite(.timeLimit(.minutes(10))) struct ServedProtectionTests {
    private static let configuration = """
        name: Safe
        services:
          - uuid: 1802
            characteristics:
              - {uuid: 2a06, handle: 0x0020, properties: [read, write], permissions: {write: authenticated}}
              - {uuid: 2a07, properties: [read], permissions: {read: encrypted}}
        """

    @Test(
        "attributes that no pairing makes a link safe enough for are named at the start",
        arguments: [([], true), (["--io", "display"], false), (["--passkey", "123456"], false)])
    func unreachable(options: [String], isTold: Bool) async throws {
        let air = try await TemporaryAir()
        try Data(Self.configuration.utf8).write(to: air.folder.appending(path: "safe.yaml"))
        let server = try RunningProgram(
            ["bletool", "serve", "safe.yaml", "--adapter", "virtual:safe"] + options, in: air.folder,
            mergingErrors: true)
        var lines: [String] = []
        while lines.last?.contains("on virtual:safe") != true, let line = await server.line() {
            lines.append(line)
        }
        #expect(lines.contains { $0.contains("safe enough for 2a06 at 0x0021:") } == isTold, "\(lines)")
    }
}
