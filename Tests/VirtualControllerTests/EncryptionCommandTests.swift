import BLECore
import HCI
import Testing
import VirtualController

@Suite struct EncryptionCommandTests {
    @Test func encryptionCommandsOutOfOrderAreRefused() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        let (enable, reply, refusal) = (
            { LEEnableEncryption(connection: $0, key: 1) },
            { LELongTermKeyRequestReply(connection: $0, key: 1) },
            { LELongTermKeyRequestNegativeReply(connection: $0) }
        )
        // No such connection.
        let nowhere = ConnectionHandle(0x0123)
        #expect(bench.status(enable(nowhere), on: central) == .unknownConnectionIdentifier)
        #expect(bench.status(reply(nowhere), on: peripheral) == .unknownConnectionIdentifier)
        #expect(bench.status(refusal(nowhere), on: peripheral) == .unknownConnectionIdentifier)
        // The key was not requested, or the command belongs to the other role.
        #expect(bench.status(enable(other), on: peripheral) == .commandDisallowed)
        for (id, handle) in [(central, one), (peripheral, other)] {
            #expect(bench.status(reply(handle), on: id) == .commandDisallowed)
            #expect(bench.status(refusal(handle), on: id) == .commandDisallowed)
        }
        #expect(bench.packets(central).isEmpty && bench.packets(peripheral).isEmpty)
        // The key has been provided or answered already.
        bench.perform(enable(one), on: central)
        #expect(bench.status(enable(one), on: central) == .commandDisallowed)
        #expect(bench.status(reply(one), on: central) == .commandDisallowed, "the central has given its key")
        bench.perform(reply(other), on: peripheral)
        #expect(bench.status(reply(other), on: peripheral) == .commandDisallowed)
        #expect(bench.status(refusal(other), on: peripheral) == .commandDisallowed)
        #expect(bench.isEncrypted(central, one))
        // The commands are sent while the connection ends.
        bench.perform(enable(one), on: central)
        _ = bench.events(peripheral)
        bench.setRSSI(nil, between: central, and: peripheral)
        bench.perform(Disconnect(connection: other), on: peripheral)
        #expect(bench.status(reply(other), on: peripheral) == .commandDisallowed)
        bench.perform(Disconnect(connection: one), on: central)
        #expect(bench.status(enable(one), on: central) == .commandDisallowed)
    }

    @Test func encryptionChangeV2IsSentIfEnabled() throws {
        var (bench, central, peripheral, one, other) = try Bench.extendedPair()
        bench.perform(SetEventMaskPage2(mask: [.encryptionChangeV2]), on: central)
        bench.perform(LEEnableEncryption(connection: one, key: 1), on: central)
        bench.perform(LELongTermKeyRequestNegativeReply(connection: other), on: peripheral)
        #expect(
            bench.events(central) == [
                .encryptionChangeV2(
                    EncryptionChangeV2(status: .pinOrKeyMissing, connection: one, mode: .off, keySize: 0))
            ])
        _ = bench.events(peripheral)
        bench.perform(LEEnableEncryption(connection: one, key: 1), on: central)
        bench.perform(LELongTermKeyRequestReply(connection: other, key: 1), on: peripheral)
        #expect(
            bench.events(central)
                == [.encryptionChangeV2(EncryptionChangeV2(connection: one, mode: .on, keySize: 16))])
        #expect(bench.events(peripheral) == [Bench.request(other), Bench.change(other)])
    }

    @Test func maskedEncryptionEventsAreNotSent() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        bench.perform(SetEventMask(mask: [.leMeta]), on: central)
        bench.perform(SetEventMask(mask: [.leMeta]), on: peripheral)
        bench.encrypt((central, one), (peripheral, other))
        bench.encrypt((central, one), (peripheral, other), key: 5)
        bench.perform(LEEnableEncryption(connection: one, key: 1), on: central)
        bench.perform(LELongTermKeyRequestReply(connection: other, key: 1), on: peripheral)
        #expect(bench.events(central).isEmpty)
        #expect(bench.events(peripheral) == [Bench.request(other)])
    }

    /// If the host masks the request, the controller reports that it has no key (Vol 6, Part B, 5.1.3.1).
    @Test func maskedKeyRequestFailsWithKeyMissing() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        bench.perform(LESetEventMask(mask: [.connectionComplete]), on: peripheral)
        bench.perform(LEEnableEncryption(connection: one, key: 1), on: central)
        #expect(bench.events(central) == [Bench.change(one, .off, .pinOrKeyMissing)])
        #expect(bench.packets(peripheral).isEmpty)
        #expect(
            bench.status(LELongTermKeyRequestReply(connection: other, key: 1), on: peripheral)
                == .commandDisallowed)
    }

    @Test func encryptionFailsWhenUnsupported() throws {
        var bench = Bench()
        var configuration = VirtualController.Configuration()
        configuration.encrypts = false
        let (central, peripheral) = (bench.join(), bench.join(configuration))
        let (one, other) = try bench.connect(central, to: peripheral)
        bench.perform(LEEnableEncryption(connection: one, key: 1), on: central)
        #expect(bench.events(central) == [Bench.change(one, .off, .unsupportedRemoteFeature)])
        #expect(bench.packets(peripheral).isEmpty)
        bench.send([1], one, on: central)
        #expect(bench.data(peripheral).count == 1, "the connection goes on")
        let commands = [
            LEEnableEncryption(connection: other, key: 1).packet,
            LELongTermKeyRequestReply(connection: other, key: 1).packet,
            LELongTermKeyRequestNegativeReply(connection: other).packet,
            ReadAuthenticatedPayloadTimeout(connection: other).packet,
            WriteAuthenticatedPayloadTimeout(connection: other, timeout: Centiseconds(rawValue: 9)).packet,
        ]
        let supported = try bench.ask(ReadLocalSupportedCommands(), on: peripheral).value
        for command in commands {
            #expect(bench.answer(command, on: peripheral).status == .unknownCommand)
            #expect(!supported.contains(command.opcode))
        }
        let features = try bench.ask(LEReadLocalSupportedFeatures(), on: peripheral).value
        #expect(features == [.peripheralInitiatedFeaturesExchange, .dataPacketLengthExtension])
    }
}
