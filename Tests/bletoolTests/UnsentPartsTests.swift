import Foundation
import ProgramTesting
import Testing

/// Writes without response at the pace of a radio.
@Suite(.timeLimit(.minutes(10))) struct UnsentPartsTests {
    @Test("a write that is reported as written has arrived at the server")
    func reportedWritesHaveArrived() async throws {
        let air = try await TemporaryAir("--connection-events")
        let configuration = """
            name: Store
            services:
              - uuid: 1802
                characteristics:
                  - {uuid: 2a06, properties: [writeWithoutResponse], value: {u8: 0}, length: {max: 512}}
            """
        try Data(configuration.utf8).write(to: air.folder.appending(path: "store.yaml"))
        let image = Data((0..<4000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 256) })
        try image.write(to: air.folder.appending(path: "image"))
        let server = try RunningProgram(
            ["bletool", "serve", "store.yaml", "--adapter", "virtual:store", "--json"], in: air.folder)
        #expect(await server.line()?.contains(#""event":"ready""#) == true)
        let client = try RunningProgram(
            [
                "bletool", "gatt", "name:Store", "write", "2a06", "--from", "image", "--chunk", "20",
                "--adapter", "virtual:phone", "--json",
            ], in: air.folder)
        var shown: [String] = []
        while let line = await client.line() { shown.append(line) }
        #expect(shown.last?.contains(#""event":"written""#) == true)
        // The kind of write is the one that the characteristic offers.
        #expect(shown.last?.contains(#""acknowledged":false"#) == true)
        #expect(client.status() == 0)
        var arrived = ""
        while let line = await server.line(), !line.contains(#""event":"disconnected""#) {
            if let value = line.firstMatch(of: /"event":"write",.*"value":"([0-9a-f]*)"/) {
                arrived += value.output.1
            }
        }
        #expect(arrived == image.map { String(format: "%02x", $0) }.joined())

        // A part size above the maximum packet is accepted for a value that fits in one packet.
        let short = try RunningProgram(
            [
                "bletool", "gatt", "name:Store", "write", "2a06", "0102", "--chunk", "100",
                "--without-response",
                "--mtu", "23", "--adapter", "virtual:phone", "--json",
            ], in: air.folder)
        #expect(await short.line { $0.contains(#""event":"written""#) } != nil)
        #expect(short.status() == 0)
    }

    @Test("an interrupted write of parts reports the octets that were confirmed")
    func interruptedWriteReportsConfirmedOctets() async throws {
        let air = try await TemporaryAir("--connection-events")
        let configuration = """
            name: Store
            services:
              - uuid: 1802
                characteristics:
                  - {uuid: 2a06, properties: [write], value: {u8: 0}, length: {max: 512}}
            """
        try Data(configuration.utf8).write(to: air.folder.appending(path: "store.yaml"))
        try Data(repeating: 7, count: 200_000).write(to: air.folder.appending(path: "image"))
        let server = try RunningProgram(
            ["bletool", "serve", "store.yaml", "--adapter", "virtual:store", "--json"], in: air.folder)
        #expect(await server.line()?.contains(#""event":"ready""#) == true)
        let client = try RunningProgram(
            [
                "bletool", "gatt", "name:Store", "write", "2a06", "--from", "image", "--chunk", "20",
                "--adapter", "virtual:phone",
            ], in: air.folder, mergingErrors: true)
        // Each part takes a connection event, so the complete write takes long.
        for _ in 0..<3 { _ = await server.line { $0.contains(#""event":"write""#) } }
        client.signal(SIGINT)
        var lines: [String] = []
        while let line = await client.line() { lines.append(line) }
        var arrived = 60
        while let line = await server.line(), !line.contains(#""event":"disconnected""#) {
            if line.contains(#""event":"write""#) { arrived += 20 }
        }
        let count = try #require(
            lines.first?.firstMatch(of: /the device has confirmed (\d+) of 200000 octets/), "\(lines)")
        // The last part may have arrived although its response has not.
        #expect([arrived, arrived - 20].map(String.init).contains(String(count.output.1)))
        server.signal(SIGTERM)
        while await server.line() != nil {}
    }
}
