import BLECore
import HCI
import Testing

/// The return parameters in Command Complete.
@Suite struct ReturnParameterTests {
    static let address = DeviceAddress(0xc0ff_ee01_0203, type: .public)
    static let random = DeviceAddress(0xc0ff_ee01_0203, type: .random)

    static let table: [MessageCase] = [
        .init("", by: Reset.self, NoReturnParameters()),
        .init(
            "0d 3412 0d 0f00 7856", by: ReadLocalVersionInformation.self,
            .init(
                hciVersion: .v5_4, hciSubversion: 0x1234, lmpVersion: .v5_4, company: 15,
                lmpSubversion: 0x5678)),
        .init(
            "0000000060000000", by: ReadLocalSupportedFeatures.self,
            Returned([
                .brEDRNotSupported, .leSupported,
            ])),
        .init("030201eeffc0", by: ReadBDADDR.self, .init(address: address)),
        .init(
            "fd03 40 0800 0100", by: ReadBufferSize.self,
            .init(
                aclLength: 1021, synchronousLength: 64, aclPackets: 8, synchronousPackets: 1)),
        .init("4000 c4", by: ReadRSSI.self, .init(link, -60)),
        .init("4000 08", by: ReadTransmitPowerLevel.self, .init(link, 8)),
        .init("fb00 0c", by: LEReadBufferSize.self, .init(aclLength: 251, aclPackets: 12)),
        .init(
            "fb00 0c 2000 01", by: LEReadBufferSizeV2.self,
            .init(
                aclLength: 251, aclPackets: 12, isoLength: 32, isoPackets: 1)),
        .init(
            "2110000000000000", by: LEReadLocalSupportedFeatures.self,
            Returned([
                .encryption, .dataPacketLengthExtension, .extendedAdvertising,
            ])),
        .init("4000", by: LESetDataLength.self, Returned(link)),
        .init("14", by: LEReadNumberOfSupportedAdvertisingSets.self, Returned(20)),
        .init("08", by: LEReadResolvingListSize.self, Returned(8)),
        .init("030201eeffc0", by: LEReadLocalResolvableAddress.self, .init(address: random)),
        .init("4000", by: LERemoteConnectionParameterRequestReply.self, Returned(link)),
        .init("4000", by: LERemoteConnectionParameterRequestNegativeReply.self, Returned(link)),
        .init("4000", by: LELongTermKeyRequestNegativeReply.self, Returned(link)),
        .init("09", by: LEReadAdvertisingPhysicalChannelTxPower.self, Returned(9)),
        .init("10", by: LEReadFilterAcceptListSize.self, Returned(16)),
        .init(
            "4000 ff00000010", by: LEReadChannelMap.self,
            .init(
                link, ChannelMap(rawValue: 0x10_0000_00ff))),
        .init(keyBytes, by: LEEncrypt.self, Returned(key)),
        .init("8877665544332211", by: LERand.self, Returned(0x1122_3344_5566_7788)),
        .init("4000", by: LELongTermKeyRequestReply.self, Returned(link)),
        .init("ffffffffff030000", by: LEReadSupportedStates.self, Returned(0x3ff_ffff_ffff)),
        .init("1b00 4801", by: LEReadSuggestedDefaultDataLength.self, DataLength(octets: 27, time: 328)),
        .init(
            "fb00 4808 1b00 4801", by: LEReadMaximumDataLength.self,
            .init(
                transmit: DataLength(octets: 251, time: 2120), receive: DataLength(octets: 27, time: 328))),
        .init("030201eeffc0", by: LEReadPeerResolvableAddress.self, .init(address: random)),
        .init("4000 02 03", by: LEReadPHY.self, .init(connection: link, transmit: .le2M, receive: .leCoded)),
        .init("0a", by: LESetExtendedAdvertisingParameters.self, Returned(10)),
        .init("7206", by: LEReadMaximumAdvertisingDataLength.self, Returned(1650)),
        .init("ec 14", by: LEReadTransmitPower.self, .init(minimum: -20, maximum: 20)),
        .init(
            "07 02 4b 14", by: LEReadAntennaInformation.self,
            .init(
                samplingRates: 7, antennas: 2, maxPatternLength: 75, maxCTELength: 20)),
    ]

    @Test(arguments: table) func encodesAndDecodes(_ message: MessageCase) throws { try message.check() }

    @Test func supportedCommandsMapToBits() throws {
        let commands: [HCIOpcode] = [
            .disconnect, .reset, .hostNumberOfCompletedPackets, .leSetAdvertisingData, .leSetScanEnable,
            .leRand, .leSetExtendedScanEnable, .leSetPeriodicAdvertisingParametersV2,
        ]
        let supported = SupportedCommands(commands)
        for (octet, bit) in [(0, 5), (5, 7), (10, 7), (25, 7), (26, 3), (27, 7), (37, 6), (47, 1)] {
            #expect(supported.contains(octet: octet, bit: bit))
        }
        #expect(supported.octets.octets.reduce(0) { $0 + $1.nonzeroBitCount } == commands.count)
        #expect(commands.allSatisfy(supported.contains))
        #expect(!supported.contains(.leSetExtendedScanParameters))
        #expect(!supported.contains(HCIOpcode(ogf: 0x3f, ocf: 1)))
        #expect(!supported.contains(octet: 64, bit: 0))
        #expect(!supported.contains(octet: 0, bit: -1))
        try MessageCase(
            supported.octets.octets.hex, by: ReadLocalSupportedCommands.self, Returned(supported)
        ).check()
    }

    @Test func failureNeedsNoParameters() throws {
        let event = CommandComplete(.leRand, status: .hardwareFailure)
        #expect(event.status == .hardwareFailure)
        #expect(try event.returned() == nil)
        #expect(throws: DecodeError.self) { try event.returned(by: LERand.self) }
    }

    @Test func errorsNameCommandAndField() throws {
        let event = CommandComplete(
            credits: 1, opcode: ReadLocalVersionInformation.opcode, returnParameters: [0, 13, 1])
        #expect {
            try event.returned(by: ReadLocalVersionInformation.self)
        } throws: { error in
            "\(error)"
                == "Read Local Version Information return parameters: HCI_Subversion at octet 2 needs 2 octets, 1 left"
        }
    }
}
