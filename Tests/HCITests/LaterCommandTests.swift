import BLECore
import HCI
import Testing

/// Commands and events of Core Specification 5.1 and later: power, clocks, subrating, tests of the radio.
@Suite struct LaterCommandTests {
    static let set = AdvertisingHandle(rawValue: 3)

    static let power: [MessageCase] = [
        .init("4c20 00", LEReadRFPathCompensation()),
        .init("4d20 04 00fb 0005", LEWriteRFPathCompensation(compensation: extremes)),
        .init("7620 03 4000 04", LEEnhancedReadTransmitPowerLevel(connection: link, phy: .leCodedS2)),
        .init("7720 03 4000 02", LEReadRemoteTransmitPowerLevel(connection: link, phy: .le2M)),
        .init(
            "7a20 04 4000 01 00",
            LESetTransmitPowerReportingEnable(connection: link, local: true, remote: false)),
        .init("00fb 0005", by: LEReadRFPathCompensation.self, extremes),
        .init(
            "4000 03 f6 14", by: LEEnhancedReadTransmitPowerLevel.self,
            .init(connection: link, phy: .leCodedS8, current: -10, greatest: 20)),
        .init("4000", by: LESetTransmitPowerReportingEnable.self, Returned(link)),
        .init(
            "3e 09 21 00 4000 02 01 ec 01 fd",
            .transmitPowerReporting(
                LETransmitPowerReporting(
                    connection: link, reason: .readRemote, phy: .le1M, level: -20, flags: .least, delta: -3))),
    ]
    /// -128 dB and 128 dB.
    static let extremes = RFPathCompensation(transmit: -1280, receive: 1280)

    static let timing: [MessageCase] = [
        .init("5f20 01 01", LEModifySleepClockAccuracy(action: .lessAccurate)),
        .init("6d20 02 4000", LERequestPeerSCA(connection: link)),
        .init("7d20 0a 0100 f401 f301 0200 0a00", LESetDefaultSubrate(parameters: subrate)),
        .init(
            "7e20 0c 4000 0100 f401 f301 0200 0a00",
            LESubrateRequest(connection: link, parameters: subrate)),
        .init(
            "3e 05 1f 00 4000 07",
            .requestPeerSCAComplete(LERequestPeerSCAComplete(connection: link, clockAccuracy: 7))),
        .init(
            "3e 0c 23 00 4000 0500 0100 0200 c800",
            .subrateChange(
                LESubrateChange(
                    connection: link, factor: 5, latency: 1, continuation: 2,
                    supervisionTimeout: Centiseconds(.seconds(2))))),
    ]
    static let subrate = SubrateParameters(
        factorMin: 1, factorMax: 500, maxLatency: 499, continuation: 2,
        supervisionTimeout: Centiseconds(.milliseconds(100)))

    static let host: [MessageCase] = [
        .init("7420 02 26 01", LESetHostFeature(bit: 38, value: true)),
        .init(
            "7c20 02 03 03",
            LESetDataRelatedAddressChanges(set: set, reasons: [.advertisingData, .scanResponseData])),
        .init(
            "7f20 1b 03 0100 a00000 a00000 07 00 00000000000000 00 7f 03 00 03 00 00 04 01",
            LESetExtendedAdvertisingParametersV2(
                parameters: LESetExtendedAdvertisingParameters(
                    set: set, properties: .connectable, intervalMin: LongSlots(rawValue: 0xa0),
                    intervalMax: LongSlots(rawValue: 0xa0), primaryPHY: .leCoded, secondaryPHY: .leCoded),
                primaryCoding: .requiresS8, secondaryCoding: .prefersS2)),
        .init("f6", by: LESetExtendedAdvertisingParametersV2.self, Returned(-10)),
        .init("6c0c 00", ReadLEHostSupport()),
        .init("01 00", by: ReadLEHostSupport.self, .init(isSupported: true)),
        .init("0410 01 01", ReadLocalExtendedFeatures(page: 1)),
        .init(
            "01 02 0200000000000000", by: ReadLocalExtendedFeatures.self,
            .init(page: 1, lastPage: 2, features: 0b10)),
        .init("7b0c 02 4000", ReadAuthenticatedPayloadTimeout(connection: link)),
        .init(
            "7c0c 04 4000 b80b",
            WriteAuthenticatedPayloadTimeout(connection: link, timeout: Centiseconds(.seconds(30)))),
        .init(
            "4000 b80b", by: ReadAuthenticatedPayloadTimeout.self,
            .init(link, Centiseconds(.seconds(30)))),
        .init("4000", by: WriteAuthenticatedPayloadTimeout.self, Returned(link)),
        .init("0814 02 4000", ReadEncryptionKeySize(connection: link)),
        .init("4000 10", by: ReadEncryptionKeySize.self, .init(link, 16)),
        .init(
            "5e20 41 \(P256PublicKey.counting.octets.hex) 01",
            LEGenerateDHKeyV2(publicKey: .counting, keyType: .debug)),
    ]

    static let radio: [MessageCase] = [
        .init("1d20 01 27", LEReceiverTest(channel: 39)),
        .init("3320 03 27 03 01", LEReceiverTestV2(channel: 39, phy: .leCoded, modulationIndex: .stable)),
        .init(
            "4f20 09 27 02 00 14 01 02 02 00 01",
            LEReceiverTestV3(
                channel: 39, phy: .le2M, toneExtension: tone, slotDurations: 2, antennas: [0, 1])),
        .init("1e20 03 00 25 00", LETransmitterTest(channel: 0, length: 37, payload: .prbs9)),
        .init(
            "3420 04 00 ff 02 04",
            LETransmitterTestV2(channel: 0, length: 255, payload: .oneZero, phy: .leCodedS2)),
        .init("5020 09 00 25 07 01 14 01 02 00 01", transmitter),
        .init("7b20 0a 00 25 07 01 14 01 02 00 01 7e", LETransmitterTestV4(test: transmitter, txPower: 0x7e)),
        .init("1f20 00", LETestEnd()),
        .init("3412", by: LETestEnd.self, Returned(0x1234)),
    ]
    static let tone = TestToneExtension(length: 20, type: 1)
    static let transmitter = LETransmitterTestV3(
        channel: 0, length: 37, payload: .zeroOne, phy: .le1M, toneExtension: tone, antennas: [0, 1])

    static let table = power + timing + host + radio

    @Test(arguments: table) func encodesAndDecodes(_ message: MessageCase) throws { try message.check() }

    @Test func onlyDeferredCommandsAnswerWithStatus() {
        #expect(LEReadRemoteTransmitPowerLevel.answer == .status)
        #expect(LERequestPeerSCA.answer == .status)
        #expect(LESubrateRequest.answer == .status)
        #expect(LEGenerateDHKeyV2.answer == .status)
        #expect(LESetDefaultSubrate.answer == .complete)
        #expect(LEEnhancedReadTransmitPowerLevel.answer == .complete)
    }
}
