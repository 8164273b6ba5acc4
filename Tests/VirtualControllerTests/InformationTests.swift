import BLECore
import HCI
import Testing
import VirtualController

@Suite struct InformationTests {
    @Test func readBufferSizeIsSupportedOnlyForSharedBuffers() throws {
        for sharesBuffers in [false, true] {
            var configuration = VirtualController.Configuration()
            configuration.sharesBuffers = sharesBuffers
            var bench = Bench()
            let id = bench.join(configuration)
            let supported = try bench.ask(ReadLocalSupportedCommands(), on: id).value
            #expect(supported.contains(.readBufferSize) == sharesBuffers)
            #expect(supported.contains(.leCreateConnection))
            let answer = bench.answer(ReadBufferSize().packet, on: id).status
            #expect((answer != .unknownCommand) == sharesBuffers)
        }
    }

    @Test func unknownCommandsAreAnsweredByCommandStatus() {
        var bench = Bench()
        let id = bench.join()
        for opcode: HCIOpcode in [.leSetExtendedAdvertisingEnable, HCIOpcode(rawValue: 0xfc77), .none] {
            bench.send(.command(HCICommandPacket(opcode: opcode, parameters: [1, 2])), on: id)
            #expect(
                bench.packets(id) == [
                    .event(CommandStatus(status: .unknownCommand, opcode: opcode).packet)
                ])
        }
    }

    @Test func controllerReportsItsConfiguration() throws {
        let address = DeviceAddress(0xaabb_ccdd_eeff, type: .public)
        var configuration = VirtualController.Configuration(publicAddress: address)
        configuration.version = .v4_2
        configuration.company = 0x0002
        configuration.subversion = 7
        configuration.transmitPower = -4
        configuration.acceptListSize = 3
        var bench = Bench()
        let (id, bare) = (bench.join(configuration), bench.join())

        let version = try bench.ask(ReadLocalVersionInformation(), on: id)
        #expect(version.hciVersion == .v4_2)
        #expect(version.company == 2)
        #expect(version.lmpSubversion == 7)
        #expect(try bench.ask(ReadBDADDR(), on: id).address == address)
        #expect(try bench.ask(ReadBDADDR(), on: bare).address.value == 0)
        #expect(try bench.ask(LEReadAdvertisingPhysicalChannelTxPower(), on: id).value == -4)
        #expect(try bench.ask(LEReadFilterAcceptListSize(), on: id).value == 3)
        let features = try bench.ask(ReadLocalSupportedFeatures(), on: id).value
        #expect(features == [.brEDRNotSupported, .leSupported])
        let leFeatures = try bench.ask(LEReadLocalSupportedFeatures(), on: id).value
        #expect(
            leFeatures == [
                .encryption, .peripheralInitiatedFeaturesExchange, .ping, .dataPacketLengthExtension,
            ])
        #expect(!leFeatures.contains(.extendedAdvertising))
        #expect(try bench.ask(LEReadSupportedStates(), on: id).value == 0x3ff_ffff_ffff)
    }

    @Test func bufferSizesAreReportedForOwnAndSharedBuffers() throws {
        var configuration = VirtualController.Configuration()
        configuration.aclPacketLength = 27
        configuration.aclPackets = 5
        var bench = Bench()
        let own = bench.join(configuration)
        configuration.sharesBuffers = true
        let shared = bench.join(configuration)

        #expect(
            try bench.ask(LEReadBufferSize(), on: own)
                == LEReadBufferSize.ReturnParameters(aclLength: 27, aclPackets: 5))
        #expect(bench.answer(ReadBufferSize().packet, on: own).status == .unknownCommand)
        #expect(
            try bench.ask(LEReadBufferSize(), on: shared)
                == LEReadBufferSize.ReturnParameters(aclLength: 0, aclPackets: 0))
        #expect(
            try bench.ask(ReadBufferSize(), on: shared)
                == ReadBufferSize.ReturnParameters(aclLength: 27, aclPackets: 5))
    }

    @Test func leRandIsSeededAndLEEncryptIsAES128() throws {
        var bench = Bench()
        let (one, two) = (bench.join(), bench.join())
        let numbers = try [one, one, two].map { try bench.ask(LERand(), on: $0).value }
        #expect(Set(numbers).count == 3)
        var again = Bench()
        let same = again.join()
        #expect(try again.ask(LERand(), on: same).value == numbers[0], "by the seed")
        #expect(
            try bench.ask(
                LEEncrypt(
                    key: 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f,
                    plaintext: 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff), on: one
            ).value == 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a)
    }

    @Test func wrongLengthFailsWithInvalidParameters() {
        var bench = Bench()
        let id = bench.join()
        // The answer to a refused command is as long as that to one that succeeds.
        #expect(
            bench.answer(HCICommandPacket(opcode: .readBDADDR, parameters: [0]), on: id).returned.count == 6)
        #expect(
            bench.answer(HCICommandPacket(opcode: .readRSSI, parameters: [0]), on: id).returned.count == 3)
        for (opcode, length) in [
            (.reset, 1), (.setEventMask, 7), (.leSetAdvertisingData, 31), (.leCreateConnection, 24),
            (.leSetScanEnable, 3), (.disconnect, 2), (.leEncrypt, 33),
        ] as [(HCIOpcode, Int)] {
            let packet = HCICommandPacket(opcode: opcode, parameters: [UInt8](repeating: 0, count: length))
            #expect(bench.answer(packet, on: id).status == .invalidCommandParameters, "\(opcode)")
        }
        #expect(bench.packets(id).isEmpty)
    }

    @Test func malformedPacketReportsHardwareError() {
        var bench = Bench()
        let id = bench.join()
        let error = HCIPacket.event(HardwareError(hardwareCode: 1).packet)
        for bytes: [UInt8] in [[], [9], [1, 3, 12], [1, 3, 12, 5, 0], [2, 0, 0], [4, 0x0e, 0]] {
            bench.air.receive(bytes.span, from: id, at: bench.now)
            bench.drain()
            #expect(bench.packets(id) == [error], "\(bytes)")
        }
        // Voice and isochronous data are ignored, since the controller has no links for them.
        bench.send(.synchronous(SynchronousPacket(handle: ConnectionHandle(1), data: [1])), on: id)
        bench.send(.iso(ISOPacket(handle: ConnectionHandle(1), data: [1])), on: id)
        #expect(bench.packets(id).isEmpty)
    }
}
