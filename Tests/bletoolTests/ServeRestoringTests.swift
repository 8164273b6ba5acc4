import BLE
import BLECore
import Foundation
import ProgramTesting
import Testing

/// `serve --restoring` that is killed while it works, and the state that centrals find after its restart.
@Suite(.timeLimit(.minutes(10))) struct ServeRestoringTests {
    private let air: TemporaryAir

    init() async throws { air = try await TemporaryAir() }

    private static let level: BluetoothUUID = 0x2a19
    private static let note: BluetoothUUID = 0x2a3d

    private static let services = """
        - uuid: 180f
          characteristics:
            - {uuid: 2a19, properties: [notify], value: {u8: 0}, notify: {every: 20ms, counter: u8}}
        - uuid: 180a
          characteristics: [{uuid: 2a3d, properties: [read, write], value: {utf8: new}}]

        """

    /// Starts the server. It advertises when this returns.
    private func serve() async throws -> RunningProgram {
        let text = "name: Kept\nadvertise: {interval: 20ms}\nservices:\n\(Self.services)"
        try text.write(to: air.folder.appending(path: "kept.yaml"), atomically: true, encoding: .utf8)
        let server = try RunningProgram(
            [
                "bletool", "serve", "kept.yaml", "--restoring", "kept", "--state-dir", "state", "--adapter",
                "virtual:kept", "--json",
            ], in: air.folder)
        #expect(await server.line()?.contains(#""event":"ready""#) == true)
        return server
    }

    private func central() async throws -> CentralManager {
        CentralManager(
            try await Adapter.open(
                .virtual(name: "central"),
                options: AdapterOptions(airPath: air.folder.appending(path: "bletool/air").path)))
    }

    @Test func restartedServerKeepsHandlesAndValues() async throws {
        var server = try await serve()
        let central = try await central()
        let id = try #require(
            try await central.first(within: .seconds(60)) { $0.name == "Kept" && $0.isConnectable }.id)
        var handles: [AttributeHandle] = []
        var links = 0
        for try await device in central.maintain(id) {
            links += 1
            let database = try await device.discover()
            let (level, note) = (
                try #require(database.characteristics(Self.level).first),
                try #require(database.characteristics(Self.note).first)
            )
            if links == 1 {
                handles = [level.valueHandle, note.valueHandle]
                #expect(try await device.read(note) == Array("new".utf8))
                try await device.write(Array("written".utf8), to: note)
            } else {
                #expect([level.valueHandle, note.valueHandle] == handles)
                #expect(try await device.read(note) == Array("written".utf8))
            }
            do {
                var values = 0
                for try await _ in try await device.values(of: level) {
                    values += 1
                    // The server is killed while it sends values.
                    if values == 3, links == 1 { server.end(by: SIGKILL) }
                    if values == 3, links == 2 { break }
                }
            } catch BLEError.disconnected {
                #expect(links == 1)
                server = try await serve()
                continue
            }
            break
        }
        #expect(links == 2)
        await central.adapter.close()
        let end = server.end(by: SIGTERM)
        #expect(end.reason == .uncaughtSignal && end.status == SIGTERM)
    }

    @Test("kills at random moments lose no acknowledged write")
    func killsLoseNoAcknowledgedWrite() async throws {
        var random = SplitMix64(seed: 11)
        var server = try await serve()
        let central = try await central()
        let found = try await central.first(within: .seconds(60)) { $0.name == "Kept" && $0.isConnectable }
        let address = try #require(found.address)
        var acknowledged = 0
        for kill in 0...5 {
            let device = try await central.connect(to: address, timeout: .seconds(60))
            let note = try #require(try await device.discover().characteristics(Self.note).first)
            let text = String(decoding: try await device.read(note), as: UTF8.self)
            if kill > 0 {
                let kept = try #require(Int(text), "\(text) after kill \(kill)")
                // The last write may be on the disk although its response has not arrived.
                #expect((acknowledged...acknowledged + 1).contains(kept), "after kill \(kill)")
                acknowledged = kept
            }
            guard kill < 5 else {
                await device.disconnect()
                break
            }
            let (answers, answered) = AsyncStream<Int>.makeStream()
            let writing = Task { [acknowledged] in
                var last = acknowledged
                do throws(BLEError) {
                    while true {
                        try await device.write(Array("\(last + 1)".utf8), to: note)
                        last += 1
                        answered.yield(last)
                    }
                } catch {
                    answered.finish()
                }
                return last
            }
            // More values are written while the server is killed.
            let enough = acknowledged + 1 + Int(random.next() % 40)
            for await number in answers where number >= enough { break }
            server.end(by: SIGKILL)
            let last = await writing.value
            #expect(last >= enough, "the writes had failed before the kill")
            acknowledged = last
            server = try await serve()
        }
        await central.adapter.close()
        server.end(by: SIGTERM)
    }

    @Test func centralReconnectsAfterServerKill() async throws {
        let first = try await serve()
        let central = try await central()
        let found = try await central.first(within: .seconds(60)) { $0.name == "Kept" && $0.isConnectable }
        let address = try #require(found.address)
        let note = try await central.withConnection(to: address) { device in
            let note = try #require(try await device.discover().characteristics(Self.note).first)
            try await device.write(Array("written".utf8), to: note)
            return note
        }
        #expect(await first.line { $0.contains(#""event":"disconnected""#) } != nil)
        first.end(by: SIGKILL)
        let second = try await serve()
        // The server has the same address, and the same value at the same handle.
        let value = try await central.withConnection(to: address) { device in
            try await device.read(note.valueHandle)
        }
        #expect(value == Array("written".utf8))
        await central.adapter.close()
        second.end(by: SIGTERM)
    }
}
