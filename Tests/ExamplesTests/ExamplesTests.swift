import Foundation
import ProgramTesting
import Testing

/// The programs of Examples, on a separate virtual air.
@Suite(.timeLimit(.minutes(10))) struct ExamplesTests {
    private let air: TemporaryAir

    init() async throws { air = try await TemporaryAir() }

    private func start(_ program: String, _ arguments: String...) throws -> RunningProgram {
        try RunningProgram([program] + arguments, in: air.folder)
    }

    @Test func beaconSendsIBeaconAndEddystone() async throws {
        let beacon = try start("beacon", "virtual:beacon")
        #expect(try #require(await beacon.line()).hasPrefix("on air as "))
        let scan = try start("bletool", "scan", "--adapter", "virtual", "--json")
        var wanted: Set = ["4c000215f7826da64fa24e988024bc5b71e0893e00010007c5", "aafe10ee03737769667401"]
        while !wanted.isEmpty, let line = await scan.line() {
            wanted = wanted.filter { !line.contains($0) }
        }
        #expect(wanted.isEmpty)
        let end = beacon.end(by: SIGINT)
        #expect(end.reason == .uncaughtSignal && end.status == SIGINT)
    }

    @Test func gatewayReconnectsToReturningThermometer() async throws {
        let first = try start("thermometer", "virtual:kitchen")
        let gateway = try start("gateway", "virtual:gateway")
        #expect(await gateway.line { $0.contains("celsius") } != nil)
        first.end(by: SIGKILL)
        #expect(await gateway.line { $0.contains("lost") } != nil)
        // The address of a virtual adapter depends on its name, so this is the same device.
        let second = try start("thermometer", "virtual:kitchen")
        #expect(await gateway.line { $0.hasSuffix("connected 2") } != nil)
        #expect(await gateway.line { $0.contains("celsius") } != nil)
        #expect(await second.line { $0.hasPrefix("subscribed") } != nil)
        let end = gateway.end(by: SIGTERM)
        #expect(end.reason == .uncaughtSignal && end.status == SIGTERM)
    }

    /// The gateway restores its devices after SIGTERM, which ends it in an orderly way, and after SIGKILL.
    @Test(arguments: [SIGTERM, SIGKILL])
    func restartedGatewayRestoresItsThermometers(_ signal: CInt) async throws {
        let thermometer = try start("thermometer", "virtual:kitchen")
        let state = air.folder.appending(path: "state").path
        let first = try start("gateway", "virtual:gateway", "1", state)
        let line = try #require(await first.line { $0.contains("celsius") })
        let address = try #require(line.split(separator: " ").first)
        first.end(by: signal)
        // Another thermometer, which a scan could find.
        let other = try start("thermometer", "virtual:attic")
        let second = try start("gateway", "virtual:gateway", "1", state)
        #expect(await second.line() == "\(address) is known")
        #expect(await second.line { $0.contains("celsius") }?.hasPrefix("\(address) ") == true)
        for program in [second, thermometer, other] { program.end(by: SIGKILL) }
    }

    @Test func bridgeForwardsBothDirections() async throws {
        let bridge = try start("uart-bridge", "virtual:bridge")
        let receive = "6e400002-b5a3-f393-e0a9-e50e24dcca9e"
        let transmit = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"
        let session = try start("bletool", "gatt", "name:UART", "run", "-", "--adapter", "virtual", "--json")
        // The limit is longer than this process may have to wait for a processor.
        try session.type(
            "subscribe \(transmit)\nwrite \(receive) 68656c6c6f0a\nwait notification --within 5m\n")
        try session.endInput()
        // The central has subscribed by now.
        #expect(await bridge.line() == "hello")
        try bridge.type("good day")
        #expect(await session.line { $0.contains("676f6f6420646179") } != nil)
        #expect(session.status() == 0)
    }

    @Test func proximityPrintsNearOrFar() async throws {
        let tag = try start("bletool", "advertise", "--name", "Tag", "--adapter", "virtual:tag", "--json")
        #expect(await tag.line()?.contains("ready") == true)
        let proximity = try start("proximity", "virtual:here", "Tag")
        let line = try #require(await proximity.line())
        #expect(line.contains(/^Tag is (near|far away) \(-\d+ dBm\)$/))
    }

    @Test func missingAdapterExitsWithStatus1() async throws {
        for program in ["beacon", "gateway", "thermometer", "uart-bridge", "proximity", "tour"] {
            #expect(try start(program, "tcp:127.0.0.1:1").status() == 1)
        }
    }
}
