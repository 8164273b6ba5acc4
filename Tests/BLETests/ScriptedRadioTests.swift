import BLE
import BLECore
import HCI
import HCISocket
import Testing

/// A controller that does not do what the specification says, once it is open: what scanning, advertising and
/// connecting make of that.
@Suite(.timeLimit(.minutes(10))) struct ScriptedRadioTests {
    static let scanning: [ScriptCase] = [
        .init("an answer in time", .leSetScanEnable, .late(.milliseconds(1900))),
        .init("two answers", .leSetScanEnable, .twice),
        .init(
            "no answer, once", .leSetScanEnable, .silence, times: 1, health: .reset(after: .leSetScanEnable)),
        .init(
            "an answer too late, once", .leSetScanParameters, .late(.seconds(3)), times: 1,
            health: .reset(after: .leSetScanParameters)),
        .init(
            "the answer to another command, once", .leSetScanEnable,
            .says([CommandComplete(.leRand, status: .success).packet]), times: 1,
            health: .reset(after: .leSetScanEnable)),
        .init(
            "never an answer", .leSetScanEnable, .silence,
            throws: .adapter(.failed(.silence(command: .leSetScanEnable))),
            health: .givenUp(after: .leSetScanEnable)),
        .init(
            "refused", .leSetScanParameters, .refuses(.leSetScanParameters, .invalidCommandParameters),
            throws: .hci(.invalidCommandParameters, command: .leSetScanParameters)),
        .init(
            "Command Status for a command that completes", .leSetScanEnable,
            .says([CommandStatus(status: .success, opcode: .leSetScanEnable).packet]),
            throws: .controllerMisbehaved(command: .leSetScanEnable, .missingStatus)),
        .init(
            "more octets than there are fields", .leSetScanEnable,
            .says([
                CommandComplete(credits: 1, opcode: .leSetScanEnable, returnParameters: [0, 1]).packet
            ]),
            throws: .controllerMisbehaved(
                command: .leSetScanEnable,
                .malformed(
                    DecodeError(
                        packet: "no return parameters", field: "end", offset: 0, reason: .trailing(count: 1)))
            )),
        .init(
            "reports that end too early", .leSetScanEnable,
            .answers { event in
                [event, HCIEventPacket(code: .leMeta, parameters: [0x02, 0x01, 0x00, 0x01, 0xaa])]
            }),
        .init(
            "a hardware error", .leSetScanEnable,
            .answers { [$0, HardwareError(hardwareCode: 7).packet] }, times: 1,
            health: [.recovering(.hardwareError(7), by: .reset), .recovered(by: .reset)]),
    ]

    @Test(arguments: scanning) func scan(_ script: ScriptCase) async throws {
        try await ScriptedHost.run { host in
            let lamp = try await host.lamp()
            try await host.open { adapter in
                await script.check(on: host) {
                    do throws(BLEError) {
                        // Named only later, so that the scan must outlast what the script does.
                        for try await found in CentralManager(adapter).scan()
                        where found.name == "Lamp" && host.health.count == script.health.count { return }
                    } catch { throw error }
                }
            }
            #expect(host.health == script.health)
            await lamp.close()
        }
    }

    static let advertising: [ScriptCase] = [
        .init("an answer in time", .leSetAdvertisingEnable, .late(.milliseconds(1900))),
        .init("two answers", .leSetAdvertisingData, .twice),
        .init(
            "no answer, once", .leSetAdvertisingData, .silence, times: 1,
            health: .reset(after: .leSetAdvertisingData)),
        .init(
            "never an answer", .leSetAdvertisingData, .silence,
            throws: .adapter(.failed(.silence(command: .leSetAdvertisingData))),
            health: .givenUp(after: .leSetAdvertisingData)),
        .init(
            "refused", .leSetAdvertisingParameters,
            .refuses(.leSetAdvertisingParameters, .unsupportedFeatureOrParameterValue),
            throws: .hci(.unsupportedFeatureOrParameterValue, command: .leSetAdvertisingParameters)),
        .init(
            "Command Status for a command that completes", .leSetAdvertisingParameters,
            .says([CommandStatus(status: .success, opcode: .leSetAdvertisingParameters).packet]),
            throws: .controllerMisbehaved(command: .leSetAdvertisingParameters, .missingStatus)),
        .init(
            "a hardware error", .leSetAdvertisingEnable,
            .answers { [$0, HardwareError(hardwareCode: 7).packet] }, times: 1,
            health: [.recovering(.hardwareError(7), by: .reset), .recovered(by: .reset)]),
    ]

    @Test(arguments: advertising) func advertise(_ script: ScriptCase) async throws {
        try await ScriptedHost.run { host in
            let other = try await Adapter.open(
                on: await host.air.attach(), name: "other", options: host.options)
            try await host.open { adapter in
                await script.check(on: host) {
                    try await host.advertise("Scripted", on: adapter)
                    _ = await host.loop.sleep(for: .seconds(1))
                    try await host.hear("Scripted", on: other)
                }
            }
            #expect(host.health == script.health)
            await other.close()
        }
    }

    static let connecting: [ScriptCase] = [
        .init("an answer in time", .leCreateConnection, .late(.milliseconds(1900))),
        .init("two answers", .leCreateConnection, .twice),
        .init(
            "no answer, once", .leCreateConnection, .silence, times: 1,
            health: .reset(after: .leCreateConnection)),
        .init(
            "never an answer", .leCreateConnection, .silence,
            throws: .adapter(.failed(.silence(command: .leCreateConnection))),
            health: .givenUp(after: .leCreateConnection)),
        .init(
            "refused", .leCreateConnection,
            .says([CommandStatus(status: .connectionLimitExceeded, opcode: .leCreateConnection).packet]),
            throws: .hci(.connectionLimitExceeded, command: .leCreateConnection)),
        .init(
            "refused by Command Complete", .leCreateConnection,
            .refuses(.leCreateConnection, .commandDisallowed),
            throws: .hci(.commandDisallowed, command: .leCreateConnection)),
        .init(
            "Command Complete for a command that is only accepted", .leCreateConnection,
            .answers { _ in [CommandComplete(.leCreateConnection, status: .success).packet] }),
        .init(
            "accepted, and no outcome", .leCreateConnection,
            .says([CommandStatus(status: .success, opcode: .leCreateConnection).packet]),
            throws: .timedOut(.connecting, after: .seconds(10))),
    ]

    @Test(arguments: connecting) func connect(_ script: ScriptCase) async throws {
        try await ScriptedHost.run { host in
            let lamp = try await host.lamp()
            let address = await lamp.address
            try await host.open { adapter in
                let central = CentralManager(adapter)
                let limit = Duration.seconds(script.health.isEmpty ? 10 : 60)
                await script.check(on: host) {
                    let device = try await central.connect(to: address, timeout: limit)
                    _ = try await device.discover()
                    await device.disconnect()
                }
            }
            #expect(host.health == script.health)
            await lamp.close()
        }
    }

    @Test("a link that is told twice is one link; one that nobody asked for is ended")
    func linksOfNobody() async throws {
        try await ScriptedHost.run { host in
            let lamp = try await host.lamp()
            let address = await lamp.address
            @Sendable func complete(_ handle: UInt16) -> HCIEventPacket {
                LEConnectionComplete(
                    connection: ConnectionHandle(handle), role: .central, peer: HCIAddress(address),
                    interval: ConnectionInterval(rawValue: 24), latency: 0,
                    supervisionTimeout: Centiseconds(.seconds(2))
                ).packet
            }
            try await host.open { adapter in
                let device = try await CentralManager(adapter).connect(to: address)
                host.port.say(complete(0x0040))
                host.port.say(complete(0x0e0e))
                _ = await host.loop.sleep(for: .seconds(1))
                #expect(host.port.heard.last == .disconnect)
                _ = try await device.discover()
                await device.disconnect()
            }
            await lamp.close()
        }
    }
}
