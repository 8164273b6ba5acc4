import BLE
import BLECore
import HCI
import HCISocket
import Testing
import VirtualController

/// Opening an adapter whose controller does not comply with the specification.
@Suite(.timeLimit(.minutes(10))) struct ScriptedBringUpTests {
    static let silent = HCIEventPacket(code: .commandComplete, parameters: [1, 0, 0])

    static let table: [ScriptCase] = [
        // Silence and time.
        .init("no answer", .reset, .silence, throws: .controllerSilent(command: .reset)),
        .init("an answer in time", .reset, .late(.milliseconds(1900))),
        .init(
            "an answer too late", .reset, .late(.milliseconds(2100)),
            throws: .controllerSilent(command: .reset)),
        .init("two answers", .reset, .twice),
        .init("two answers", .leReadBufferSize, .twice),
        .init(
            "no answer to an optional command", .leReadFilterAcceptListSize, .silence,
            throws: .controllerSilent(command: .leReadFilterAcceptListSize)),
        // Errors.
        .init(
            "refused", .reset, .refuses(.reset, .hardwareFailure),
            throws: .hci(.hardwareFailure, command: .reset)),
        .init(
            "refused", .leSetEventMask, .refuses(.leSetEventMask, .invalidCommandParameters),
            throws: .hci(.invalidCommandParameters, command: .leSetEventMask)),
        .init(
            "optional command refused", .leReadFilterAcceptListSize,
            .refuses(.leReadFilterAcceptListSize, .unknownCommand)),
        .init(
            "optional command refused", .leReadMaximumDataLength,
            .refuses(.leReadMaximumDataLength, .commandDisallowed)),
        .init(
            "optional command refused", .readLocalSupportedFeatures,
            .sends([CommandStatus(status: .unknownCommand, opcode: .readLocalSupportedFeatures).packet])),
        // Invalid answers.
        .init(
            "Command Status for a command that completes", .reset,
            .sends([CommandStatus(status: .success, opcode: .reset).packet]),
            throws: .controllerMisbehaved(command: .reset, .missingStatus)),
        .init(
            "Command Complete without status", .reset,
            .sends([
                CommandComplete(credits: 1, opcode: .reset, returnParameters: []).packet
            ]),
            throws: .controllerMisbehaved(command: .reset, .missingStatus)),
        .init(
            "too few octets", .leReadBufferSize, .answers { [$0.dropping(1)] },
            throws: .controllerMisbehaved(
                command: .leReadBufferSize,
                .malformed(
                    DecodeError(
                        packet: "LE buffer size", field: "Total_Num_LE_ACL_Data_Packets", offset: 2,
                        reason: .truncated(needed: 1, available: 0))))),
        .init("too few octets, optional command", .leReadMaximumDataLength, .answers { [$0.dropping(3)] }),
        .init(
            "the answer to another command", .readLocalVersionInformation,
            .sends([CommandComplete(.leRand, status: .success).packet]),
            throws: .controllerSilent(command: .readLocalVersionInformation)),
        .init(
            "the answer and one to a command that was not sent", .readLocalVersionInformation,
            .answers { [CommandComplete(.leRand, status: .success).packet, $0] }),
        .init(
            "an empty event, then the answer", .reset,
            .answers { event in
                [HCIEventPacket(code: .commandComplete, parameters: []), event]
            }),
        .init(
            "an unknown event, then the answer", .reset,
            .answers { event in
                [HCIEventPacket(code: HCIEventCode(rawValue: 0x99), parameters: [1, 2, 3]), event]
            }),
        .init(
            "a hardware error once, then the answer", .leSetEventMask,
            .answers { event in
                [HardwareError(hardwareCode: 1).packet, event]
            }, times: 1),
        .init(
            "a hardware error each time, then the answer", .leSetEventMask,
            .answers { event in
                [HardwareError(hardwareCode: 1).packet, event]
            }, throws: .adapter(.failed(.hardwareError(1)))),
        // Credits.
        .init("255 command credits", .reset, .answers { [$0.granting(255)] }),
        .init(
            "no command credits, permanently", .reset, .answers { [$0.granting(0)] },
            throws: .controllerSilent(command: .readLocalVersionInformation)),
        .init("no command credits, then one", .reset, .answers { [$0.granting(0), silent] }),
        // Buffers.
        .init(
            "no buffers at all", .leReadBufferSize,
            .answers { event in
                [HCIEventPacket(code: event.code, parameters: event.parameters.prefix(4) + [0, 0, 0])]
            }),
    ]

    @Test(arguments: table) func openHandlesScriptedResponses(_ script: ScriptCase) async throws {
        try await ScriptedHost.run { host in
            let lamp = try await host.lamp()
            await script.check(on: host) {
                try await host.open { try await host.receive("Lamp", on: $0) }
            }
            #expect(host.health == script.health)
            await lamp.close()
        }
    }

    @Test("an extended controller that refuses to report its number of sets gets one")
    func refusedSetCountMeansOneSet() async throws {
        try await ScriptedHost.run(extended: true) { host in
            host.port.script(
                .leReadNumberOfSupportedAdvertisingSets,
                .refuses(.leReadNumberOfSupportedAdvertisingSets, .commandDisallowed), times: 1)
            try await host.open { adapter in
                let controller = await adapter.controller
                #expect(controller.numberOfAdvertisingSets == 1)
                #expect(controller.maximumAdvertisingDataLength == 1650)
                #expect(controller.acceptListSize == 16)
                #expect(!controller.isDualMode)
                #expect(controller.aclLength == 251 && controller.aclPackets == 12)
            }
        }
    }

    @Test("a controller without separate LE buffers uses those of BR/EDR")
    func usesSharedBuffersWithoutLEBuffers() async throws {
        try await VirtualTestbed.run { bed in
            var configuration = VirtualController.Configuration()
            configuration.sharesBuffers = true
            let port = ScriptedPort(await bed.air.attach(configuration), on: bed.loop)
            let adapter = try await bed.adapter("shared", on: port)
            #expect(port.opcodes.contains(.readBufferSize))
            let controller = await adapter.controller
            #expect(controller.aclLength == Int(configuration.aclPacketLength) && controller.aclPackets == 12)
            let lamp = try await bed.host("lamp")
            try await lamp.serve([5])
            let device = try await adapter.connect(to: lamp)
            #expect(try await device.read(try await device.sample()) == [5])
        }
    }

    @Test("a controller with both commands reports its buffers by version 2")
    func readsBufferSizeVersion2() async throws {
        try await ScriptedHost.run { host in
            host.port.script(
                .readLocalSupportedCommands,
                .answers { event in
                    // Octet 41, bit 5: LE Read Buffer Size [v2].
                    var parameters = event.parameters
                    parameters[4 + 41] |= 1 << 5
                    return [HCIEventPacket(code: event.code, parameters: parameters)]
                })
            host.port.script(
                .leReadBufferSizeV2,
                .sends([
                    CommandComplete(
                        LEReadBufferSizeV2.self,
                        returning: .init(aclLength: 60, aclPackets: 3, isoLength: 0, isoPackets: 0)
                    ).packet
                ]))
            try await host.open { adapter in
                let controller = await adapter.controller
                #expect(controller.aclLength == 60 && controller.aclPackets == 3)
            }
            #expect(!host.port.opcodes.contains(.leReadBufferSize))
        }
    }

    @Test("set-up sends link defaults and only commands that the controller supports")
    func setUpSendsDefaultsForFeatures() async throws {
        try await ScriptedHost.run(extended: true) { host in
            try await host.open { _ in }
            let received = host.port.opcodes
            #expect(received.first == .reset)
            #expect(received.contains(.leWriteSuggestedDefaultDataLength))
            #expect(received.contains(.leSetDefaultPHY))
            #expect(!received.contains(.writeLEHostSupport) && !received.contains(.readBufferSize))
        }
        try await ScriptedHost.run { host in
            try await host.open { _ in }
            #expect(!host.port.opcodes.contains(.leSetDefaultPHY))
            #expect(!host.port.opcodes.contains(.leReadNumberOfSupportedAdvertisingSets))
        }
    }

    @Test("a dual-mode controller receives Write LE Host Support before the event masks")
    func dualModeReceivesLEHostSupport() async throws {
        try await ScriptedHost.run { host in
            host.port.script(
                .readLocalSupportedFeatures,
                .sends([
                    CommandComplete(
                        ReadLocalSupportedFeatures.self, returning: Returned(.leSupported)
                    ).packet
                ]))
            host.port.script(
                .readLocalSupportedCommands,
                .answers { event in
                    // Octet 24, bit 6: Write LE Host Support.
                    var parameters = event.parameters
                    parameters[4 + 24] |= 1 << 6
                    return [HCIEventPacket(code: event.code, parameters: parameters)]
                })
            host.port.script(.writeLEHostSupport, .refuses(.writeLEHostSupport, .success))
            try await host.open { #expect(await $0.controller.isDualMode) }
            let received = host.port.opcodes
            let place = received.firstIndex(of: .writeLEHostSupport)
            #expect(place != nil && place == received.firstIndex(of: .setEventMask).map { $0 - 1 })
        }
    }
}
