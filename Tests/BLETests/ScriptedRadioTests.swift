import BLE
import BLECore
import HCI
import HCISocket
import Testing

/// Scanning, advertising and connecting on an open adapter whose controller does not comply with the
/// specification.
@Suite(.timeLimit(.minutes(10))) struct ScriptedRadioTests {
    static func scanning(_ family: ScriptedFamily) -> [ScriptCase] {
        [
            .init("an answer in time", family.scanEnable, .late(.milliseconds(1900))),
            .init("two answers", family.scanEnable, .twice),
            .init(
                "no answer, once", family.scanEnable, .silence, times: 1,
                health: .reset(after: family.scanEnable)),
            .init(
                "an answer too late, once", family.scanParameters, .late(.seconds(3)), times: 1,
                health: .reset(after: family.scanParameters)),
            .init(
                "the answer to another command, once", family.scanEnable,
                .sends([CommandComplete(.leRand, status: .success).packet]), times: 1,
                health: .reset(after: family.scanEnable)),
            .init(
                "no answer, permanently", family.scanEnable, .silence,
                throws: .adapter(.failed(.silence(command: family.scanEnable))),
                health: .givenUp(after: family.scanEnable)),
            .init(
                "refused", family.scanParameters, .refuses(family.scanParameters, .invalidCommandParameters),
                throws: .hci(.invalidCommandParameters, command: family.scanParameters)),
            .init(
                "Command Status for a command that completes", family.scanEnable,
                .sends([CommandStatus(status: .success, opcode: family.scanEnable).packet]),
                throws: .controllerMisbehaved(command: family.scanEnable, .missingStatus)),
            .init(
                "more octets than fields", family.scanEnable,
                .sends([
                    CommandComplete(credits: 1, opcode: family.scanEnable, returnParameters: [0, 1]).packet
                ]),
                throws: .controllerMisbehaved(
                    command: family.scanEnable,
                    .malformed(
                        DecodeError(
                            packet: "no return parameters", field: "end", offset: 0,
                            reason: .trailing(count: 1)))
                )),
            .init(
                "truncated reports", family.scanEnable,
                .answers { event in
                    [event, HCIEventPacket(code: .leMeta, parameters: [0x02, 0x01, 0x00, 0x01, 0xaa])]
                }),
            .init(
                "a hardware error", family.scanEnable,
                .answers { [$0, HardwareError(hardwareCode: 7).packet] }, times: 1,
                health: [.recovering(.hardwareError(7), by: .reset), .recovered(by: .reset)]),
        ]
    }

    @Test(arguments: ScriptedFamily.all(Self.scanning))
    func scanHandlesScriptedResponses(_ script: ScriptCase) async throws {
        try await ScriptedHost.run(extended: script.isExtended) { host in
            let lamp = try await host.lamp()
            try await host.open { adapter in
                await script.check(on: host) {
                    do throws(BLEError) {
                        // A report counts only after all health events, so the scan has to outlast the script.
                        for try await found in CentralManager(adapter).scan()
                        where found.name == "Lamp" && host.health.count == script.health.count { return }
                    } catch { throw error }
                }
            }
            #expect(host.health == script.health)
            await lamp.close()
        }
    }

    static func advertising(_ family: ScriptedFamily) -> [ScriptCase] {
        [
            .init("an answer in time", family.advertisingEnable, .late(.milliseconds(1900))),
            .init("two answers", family.advertisingData, .twice),
            .init(
                "no answer, once", family.advertisingData, .silence, times: 1,
                health: .reset(after: family.advertisingData)),
            .init(
                "no answer, permanently", family.advertisingData, .silence,
                throws: .adapter(.failed(.silence(command: family.advertisingData))),
                health: .givenUp(after: family.advertisingData)),
            .init(
                "refused", family.advertisingParameters,
                .refuses(family.advertisingParameters, .unsupportedFeatureOrParameterValue),
                throws: .hci(.unsupportedFeatureOrParameterValue, command: family.advertisingParameters)),
            .init(
                "Command Status for a command that completes", family.advertisingParameters,
                .sends([CommandStatus(status: .success, opcode: family.advertisingParameters).packet]),
                throws: .controllerMisbehaved(command: family.advertisingParameters, .missingStatus)),
            .init(
                "a hardware error", family.advertisingEnable,
                .answers { [$0, HardwareError(hardwareCode: 7).packet] }, times: 1,
                health: [.recovering(.hardwareError(7), by: .reset), .recovered(by: .reset)]),
        ]
    }

    @Test(arguments: ScriptedFamily.all(Self.advertising))
    func advertiseHandlesScriptedResponses(_ script: ScriptCase) async throws {
        try await ScriptedHost.run(extended: script.isExtended) { host in
            let other = try await Adapter.open(
                on: await host.air.attach(), name: "other", options: host.options)
            try await host.open { adapter in
                await script.check(on: host) {
                    try await host.advertise("Scripted", on: adapter)
                    _ = await host.loop.sleep(for: .seconds(1))
                    try await host.receive("Scripted", on: other)
                }
            }
            #expect(host.health == script.health)
            await other.close()
        }
    }

    static func connecting(_ family: ScriptedFamily) -> [ScriptCase] {
        [
            .init("an answer in time", family.createConnection, .late(.milliseconds(1900))),
            .init("two answers", family.createConnection, .twice),
            .init(
                "no answer, once", family.createConnection, .silence, times: 1,
                health: .reset(after: family.createConnection)),
            .init(
                "no answer, permanently", family.createConnection, .silence,
                throws: .adapter(.failed(.silence(command: family.createConnection))),
                health: .givenUp(after: family.createConnection)),
            .init(
                "refused", family.createConnection,
                .sends([
                    CommandStatus(status: .connectionLimitExceeded, opcode: family.createConnection).packet
                ]),
                throws: .hci(.connectionLimitExceeded, command: family.createConnection)),
            .init(
                "refused by Command Complete", family.createConnection,
                .refuses(family.createConnection, .commandDisallowed),
                throws: .hci(.commandDisallowed, command: family.createConnection)),
            .init(
                "Command Complete for a command that is only accepted", family.createConnection,
                .answers { _ in [CommandComplete(family.createConnection, status: .success).packet] }),
            .init(
                "accepted without an outcome", family.createConnection,
                .sends([CommandStatus(status: .success, opcode: family.createConnection).packet]),
                throws: .timedOut(.connecting, after: .seconds(10))),
        ]
    }

    @Test(arguments: ScriptedFamily.all(Self.connecting))
    func connectHandlesScriptedResponses(_ script: ScriptCase) async throws {
        try await ScriptedHost.run(extended: script.isExtended) { host in
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

    @Test("a link that is reported twice is one link; an unrequested link is disconnected")
    func duplicateLinkIsIgnoredAndUnrequestedEnded() async throws {
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
                host.port.emit(complete(0x0040))
                host.port.emit(complete(0x0e0e))
                _ = await host.loop.sleep(for: .seconds(1))
                #expect(host.port.opcodes.last == .disconnect)
                _ = try await device.discover()
                await device.disconnect()
            }
            await lamp.close()
        }
    }
}
