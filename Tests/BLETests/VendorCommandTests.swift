import BLE
import BLECore
import HCI
import HCISocket
import Testing

/// Commands that the controller's vendor has defined.
@Suite(.timeLimit(.minutes(10))) struct VendorCommandTests {
    static let opcode = HCIOpcode(ogf: 0x3f, ocf: 0x2a5)

    private static func completes(_ octets: [UInt8]) -> ScriptedPort.Behavior {
        .sends([CommandComplete(credits: 1, opcode: opcode, returnParameters: octets).packet])
    }

    @Test(
        "a vendor command returns the parameters after the status",
        arguments: [
            ([0, 1, 2, 3], [1, 2, 3]), ([0], []),
            // Return parameters without a status.
            ([], []),
        ] as [([UInt8], [UInt8])])
    func vendorCommandReturnsParametersAfterStatus(octets: [UInt8], returned: [UInt8]) async throws {
        try await ScriptedHost.run { host in
            host.port.script(Self.opcode, Self.completes(octets))
            try await host.open { adapter in
                let answer = try await adapter.sendVendorCommand(0x2a5, [9, 8, 7])
                #expect(answer == returned)
            }
            #expect(host.port.commands.last { $0.opcode == Self.opcode }?.parameters == [9, 8, 7])
        }
    }

    @Test("a vendor command that is only accepted returns nothing")
    func acceptedVendorCommandReturnsNothing() async throws {
        try await ScriptedHost.run { host in
            host.port.script(
                Self.opcode, .sends([CommandStatus(status: .success, opcode: Self.opcode).packet]))
            try await host.open { adapter in
                let answer = try await adapter.sendVendorCommand(0x2a5)
                #expect(answer == [])
            }
        }
    }

    @Test(
        "a refused or unknown vendor command throws the status",
        arguments: [
            (Self.completes([0x0c, 1]), .commandDisallowed), (nil, .unknownCommand),
            (
                .sends([CommandStatus(status: .invalidCommandParameters, opcode: Self.opcode).packet]),
                .invalidCommandParameters
            ),
        ] as [(ScriptedPort.Behavior?, HCIStatus)])
    func refusedVendorCommandThrowsStatus(behavior: ScriptedPort.Behavior?, status: HCIStatus) async throws {
        try await ScriptedHost.run { host in
            if let behavior { host.port.script(Self.opcode, behavior) }
            try await host.open { adapter in
                let error = await failure { () throws(BLEError) in
                    _ = try await adapter.sendVendorCommand(0x2a5)
                }
                #expect(error == .hci(status, command: Self.opcode))
            }
            #expect(host.health == [])
        }
    }

    @Test("a vendor command unanswered within its time limit causes a reset")
    func unansweredVendorCommandResetsController() async throws {
        try await ScriptedHost.run { host in
            let lamp = try await host.lamp()
            host.port.script(Self.opcode, .late(.seconds(5)), times: 1)
            host.port.script(Self.opcode, .silence, times: 1)
            try await host.open { adapter in
                let late = await failure { () throws(BLEError) in
                    _ = try await adapter.sendVendorCommand(0x2a5, timeLimit: .seconds(10))
                }
                #expect(late == .hci(.unknownCommand, command: Self.opcode), "the answer, late")
                let silent = await failure { () throws(BLEError) in
                    _ = try await adapter.sendVendorCommand(0x2a5)
                }
                #expect(silent == .controllerSilent(command: Self.opcode))
                try await host.receive("Lamp", on: adapter)
            }
            #expect(host.health == .reset(after: Self.opcode))
            await lamp.close()
        }
    }

    @Test("a vendor command that does not fit a packet is refused")
    func oversizedVendorCommandIsRefused() async throws {
        try await ScriptedHost.run { host in
            try await host.open { adapter in
                for field in [-1, 0x400] {
                    let error = await failure { () throws(BLEError) in
                        _ = try await adapter.sendVendorCommand(field)
                    }
                    #expect(error == .outOfRange(.commandField, allowed: 0...0x3ff, value: field))
                }
                let error = await failure { () throws(BLEError) in
                    _ = try await adapter.sendVendorCommand(1, [UInt8](repeating: 0, count: 256))
                }
                #expect(error == .limit(.commandParameters, maximum: 255, value: 256))
            }
            #expect(!host.port.opcodes.contains { $0.rawValue >> 10 == 0x3f })
        }
    }
}
