import BLECore
import HCI
import Testing

/// Commands of a host of the legacy family.
@Suite struct LegacyCommandTests {
    static let controller: [MessageCase] = [
        .init("030c 00", Reset()),
        .init(
            "010c 08 90880002 0080 0020",
            SetEventMask(mask: [
                .disconnectionComplete, .encryptionChange, .readRemoteVersionInformationComplete,
                .hardwareError,
                .dataBufferOverflow, .encryptionKeyRefreshComplete, .leMeta,
            ])),
        .init(
            "630c 08 0000800200000000",
            SetEventMaskPage2(mask: [
                .authenticatedPayloadTimeoutExpired, .encryptionChangeV2,
            ])),
        .init("310c 01 03", SetControllerToHostFlowControl(kinds: [.acl, .synchronous])),
        .init(
            "330c 07 f403 40 0800 0100",
            HostBufferSize(
                aclLength: 1012, synchronousLength: 64, aclPackets: 8, synchronousPackets: 1)),
        .init(
            "350c 09 02 4000 0300 4100 0100",
            HostNumberOfCompletedPackets(completed: [
                CompletedPackets(connection: link, count: 3),
                CompletedPackets(connection: ConnectionHandle(0x41), count: 1),
            ])),
        .init("6d0c 02 01 00", WriteLEHostSupport(isSupported: true)),
        .init("0604 03 4000 13", Disconnect(connection: link)),
        .init("1d04 02 4000", ReadRemoteVersionInformation(connection: link)),
        .init("0110 00", ReadLocalVersionInformation()),
        .init("0210 00", ReadLocalSupportedCommands()),
        .init("0310 00", ReadLocalSupportedFeatures()),
        .init("0510 00", ReadBufferSize()),
        .init("0910 00", ReadBDADDR()),
        .init("0514 02 4000", ReadRSSI(connection: link)),
        .init("2d0c 03 4000 01", ReadTransmitPowerLevel(connection: link, kind: .maximum)),
    ]

    static let lowEnergy: [MessageCase] = [
        .init("0120 08 1f00000000000000", LESetEventMask(mask: .default)),
        .init("0220 00", LEReadBufferSize()),
        .init("6020 00", LEReadBufferSizeV2()),
        .init("0320 00", LEReadLocalSupportedFeatures()),
        .init(
            "0520 06 030201eeffc0",
            LESetRandomAddress(
                address: DeviceAddress(0xc0ff_ee01_0203, type: .random))),
        .init(
            "0620 0f a000 f000 04 01 \(peerBytes) 05 02",
            LESetAdvertisingParameters(
                intervalMin: Slots(rawValue: 160), intervalMax: Slots(.milliseconds(150)),
                type: .directedLowDutyCycle, ownAddressType: .random, peer: peer,
                channels: [.channel37, .channel39], filterPolicy: .filterConnections)),
        .init("0720 00", LEReadAdvertisingPhysicalChannelTxPower()),
        .init("0a20 01 01", LESetAdvertisingEnable(enable: true)),
        .init("0a20 01 02", LESetAdvertisingEnable(enable: HCIFlag(rawValue: 2))),
        .init(
            "0b20 07 01 6000 3000 02 01",
            LESetScanParameters(
                type: .active, interval: Slots(.milliseconds(60)), window: Slots(.milliseconds(30)),
                ownAddressType: .resolvableOrPublic, filterPolicy: .acceptListOnly)),
        .init("0c20 02 01 00", LESetScanEnable(enable: true)),
        .init(
            "0d20 19 6000 3000 00 \(peerBytes) 00 1800 2800 0400 2a00 0000 0200",
            LECreateConnection(
                scanInterval: Slots(rawValue: 96), scanWindow: Slots(rawValue: 48), peer: peer,
                parameters: parameters)),
        .init("0e20 00", LECreateConnectionCancel()),
        .init("0f20 00", LEReadFilterAcceptListSize()),
        .init("1020 00", LEClearFilterAcceptList()),
        .init("1120 07 \(peerBytes)", LEAddDeviceToFilterAcceptList(device: peer)),
        .init(
            "1220 07 ff 000000000000",
            LERemoveDeviceFromFilterAcceptList(
                device: HCIAddress(0, type: .anonymous))),
        .init(
            "1320 0e 4000 1800 2800 0400 2a00 0000 0200",
            LEConnectionUpdate(
                connection: link, parameters: parameters)),
        .init("1420 05 ffffffff1f", LESetHostChannelClassification(channels: .all)),
        .init("1520 02 4000", LEReadChannelMap(connection: link)),
        .init("1620 02 4000", LEReadRemoteFeatures(connection: link)),
        .init("1c20 00", LEReadSupportedStates()),
        .init(
            "2020 0e 4000 1800 2800 0400 2a00 0000 0200",
            LERemoteConnectionParameterRequestReply(
                connection: link, parameters: parameters)),
        .init("2120 03 4000 3b", LERemoteConnectionParameterRequestNegativeReply(connection: link)),
    ]

    static let security: [MessageCase] = [
        .init(
            "1720 20 \(keyBytes) ff000000000000000000000000000001",
            LEEncrypt(
                key: key, plaintext: 1 << 120 | 0xff)),
        .init("1820 00", LERand()),
        .init(
            "1920 1c 4000 8877665544332211 3412 \(keyBytes)",
            LEEnableEncryption(
                connection: link, random: 0x1122_3344_5566_7788, diversifier: 0x1234, key: key)),
        .init("1a20 12 4000 \(keyBytes)", LELongTermKeyRequestReply(connection: link, key: key)),
        .init("1b20 02 4000", LELongTermKeyRequestNegativeReply(connection: link)),
        .init("2520 00", LEReadLocalP256PublicKey()),
        .init("2620 40 \(P256PublicKey.counting.octets.hex)", LEGenerateDHKey(publicKey: .counting)),
    ]

    static let data: [MessageCase] = {
        guard let data = try? LegacyAdvertisingData([2, 1, 6]) else { return [] }
        let bytes = "20 03 020106" + String(repeating: "00", count: 28)
        return [
            .init("0820 \(bytes)", LESetAdvertisingData(data: data)),
            .init("0920 \(bytes)", LESetScanResponseData(data: data)),
        ]
    }()

    static let table = controller + lowEnergy + security + data

    static let parameters = LEConnectionParameters(
        intervalMin: ConnectionInterval(.milliseconds(30)),
        intervalMax: ConnectionInterval(.milliseconds(50)),
        latency: 4, supervisionTimeout: Centiseconds(.milliseconds(420)), eventMax: Slots(rawValue: 2))

    @Test(arguments: table) func encodesAndDecodes(_ message: MessageCase) throws { try message.check() }

    @Test func paddingIsExcludedFromData() throws {
        let packet = LESetAdvertisingData(data: try LegacyAdvertisingData([2, 1, 6])).packet
        #expect(try LESetAdvertisingData(packet.parameters).data.data == [2, 1, 6])
    }

    @Test func advertisingDataLengthIsLimited() {
        #expect(throws: HCIParameterError(field: "Advertising_Data", value: 32, limit: 31)) {
            try LegacyAdvertisingData([UInt8](repeating: 0, count: 32))
        }
        #expect(throws: Never.self) { try LegacyAdvertisingData([UInt8](repeating: 0, count: 31)) }
    }

    /// The invalid length is decoded without a trap, so that a controller can refuse the command.
    @Test func invalidLengthFieldIsPreserved() throws {
        let bytes = [UInt8](repeating: 0xff, count: 32)
        let command = try LESetAdvertisingData(bytes)
        #expect(command.data.length == 255)
        #expect(command.data.data == nil)
        #expect(command.encoded == bytes)
    }

    @Test func onlyDeferredCommandsAnswerWithStatus() {
        #expect(Reset.answer == .complete)
        #expect(LECreateConnection.answer == .status)
        #expect(LECreateConnectionCancel.answer == .complete)
        #expect(HostNumberOfCompletedPackets.answer == .none)
    }
}
