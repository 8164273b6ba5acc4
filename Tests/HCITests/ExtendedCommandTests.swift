import BLECore
import HCI
import Testing

/// Commands of the extended family, of privacy and of the link layer.
@Suite struct ExtendedCommandTests {
    static let set = AdvertisingHandle(rawValue: 3)

    static let advertising: [MessageCase] = [
        .init(
            "3520 07 03 030201eeffc0",
            LESetAdvertisingSetRandomAddress(
                set: set, address: DeviceAddress(0xc0ff_ee01_0203, type: .random))),
        .init(
            "3620 19 03 4100 a00000 000201 07 01 \(peerBytes) 00 7f 01 00 02 05 01",
            LESetExtendedAdvertisingParameters(
                set: set, properties: [.connectable, .includesTxPower],
                intervalMin: LongSlots(rawValue: 0xa0),
                intervalMax: LongSlots(rawValue: 0x010200), ownAddressType: .random, peer: peer,
                secondaryPHY: .le2M, sid: 5, notifiesScanRequests: true)),
        .init(
            "3920 0a 01 02 03 6400 05 04 0000 00",
            LESetExtendedAdvertisingEnable(
                enable: true,
                sets: [
                    .init(set: set, duration: Centiseconds(.seconds(1)), maxEvents: 5),
                    .init(set: AdvertisingHandle(rawValue: 4)),
                ])),
        .init("3920 02 00 00", LESetExtendedAdvertisingEnable(enable: false)),
        .init("3a20 00", LEReadMaximumAdvertisingDataLength()),
        .init("3b20 00", LEReadNumberOfSupportedAdvertisingSets()),
        .init("3c20 01 03", LERemoveAdvertisingSet(set: set)),
        .init("3d20 00", LEClearAdvertisingSets()),
    ]

    static let scanning: [MessageCase] = [
        .init(
            "4120 0d 01 00 05 01 6000 3000 00 c000 6000",
            LESetExtendedScanParameters(
                ownAddressType: .random,
                phys: PerPHY(
                    le1M: .init(type: .active, interval: Slots(rawValue: 96), window: Slots(rawValue: 48)),
                    leCoded: .init(
                        type: .passive, interval: Slots(rawValue: 192), window: Slots(rawValue: 96))))),
        .init(
            "4220 06 01 02 6400 0100",
            LESetExtendedScanEnable(
                enable: true, filterDuplicates: .eachPeriod, duration: Centiseconds(.seconds(1)),
                period: ScanPeriod(.milliseconds(1280)))),
        .init(
            "4320 1a 00 02 \(peerBytes) 01 6000 3000 1800 2800 0400 2a00 0000 0200",
            LEExtendedCreateConnection(
                ownAddressType: .resolvableOrPublic, peer: peer,
                phys: PerPHY(
                    .le1M,
                    .init(
                        scanInterval: Slots(rawValue: 96), scanWindow: Slots(rawValue: 48),
                        parameters: LegacyCommandTests.parameters)))),
    ]

    static let privacy: [MessageCase] = [
        .init(
            "2720 27 \(peerBytes) \(keyBytes) 01000000000000000000000000000000",
            LEAddDeviceToResolvingList(
                peer: peer, peerKey: key, localKey: 1)),
        .init("2820 07 \(peerBytes)", LERemoveDeviceFromResolvingList(peer: peer)),
        .init("2920 00", LEClearResolvingList()),
        .init("2a20 00", LEReadResolvingListSize()),
        .init("2b20 07 \(peerBytes)", LEReadPeerResolvableAddress(peer: peer)),
        .init("2c20 07 \(peerBytes)", LEReadLocalResolvableAddress(peer: peer)),
        .init("2d20 01 01", LESetAddressResolutionEnable(enable: true)),
        .init("2e20 02 8403", LESetResolvablePrivateAddressTimeout(seconds: 900)),
        .init("4e20 08 \(peerBytes) 01", LESetPrivacyMode(peer: peer, mode: .device)),
    ]

    static let linkLayer: [MessageCase] = [
        .init(
            "2220 06 4000 fb00 4808",
            LESetDataLength(
                connection: link, transmit: DataLength(octets: 251, time: 2120))),
        .init("2320 00", LEReadSuggestedDefaultDataLength()),
        .init(
            "2420 04 1b00 4801",
            LEWriteSuggestedDefaultDataLength(
                transmit: DataLength(octets: 27, time: 328))),
        .init("2f20 00", LEReadMaximumDataLength()),
        .init("3020 02 4000", LEReadPHY(connection: link)),
        .init(
            "3120 03 02 03 00",
            LESetDefaultPHY(
                preference: PHYPreference(transmit: [.le1M, .le2M], receive: nil))),
        .init(
            "3220 07 4000 00 04 04 0200",
            LESetPHY(
                connection: link, preference: PHYPreference(transmit: .leCoded, receive: .leCoded),
                coding: .s8)),
        .init("4b20 00", LEReadTransmitPower()),
        .init("5820 00", LEReadAntennaInformation()),
    ]

    static let fragments: [MessageCase] = {
        guard let fragment = try? AdvertisingDataFragment(set: set, operation: .first, [0xaa, 0xbb])
        else { return [] }
        return [
            .init("3720 06 03 01 01 02 aabb", LESetExtendedAdvertisingData(fragment: fragment)),
            .init("3820 06 03 01 01 02 aabb", LESetExtendedScanResponseData(fragment: fragment)),
        ]
    }()

    static let table = advertising + scanning + privacy + linkLayer + fragments

    @Test(arguments: table) func encodesAndDecodes(_ message: MessageCase) throws { try message.check() }

    @Test func fragmentLengthIsLimited() throws {
        let most = try AdvertisingDataFragment(set: Self.set, [UInt8](repeating: 1, count: 251))
        #expect(LESetExtendedAdvertisingData(fragment: most).packet.parameters.count == 255)
        #expect(throws: HCIParameterError(field: "Advertising_Data", value: 252, limit: 251)) {
            try AdvertisingDataFragment(set: Self.set, [UInt8](repeating: 1, count: 252))
        }
    }

    @Test func keysRequireExactLength() {
        let octets = P256PublicKey.counting.octets
        #expect(P256PublicKey(octets) == .counting)
        #expect(P256PublicKey(octets.dropLast()) == nil)
        #expect(DHKey(octets) == nil)
    }

    @Test func eachPHYHasOwnParameters() throws {
        let coded = PerPHY<UInt8>(le2M: 2, leCoded: 3)
        #expect(coded.phys == [.le2M, .leCoded])
        #expect(coded[.le1M] == nil)
        #expect(coded[.le2M] == 2)
        #expect(coded[.leCoded] == 3)
        #expect(coded[[.le2M, .leCoded]] == nil)
        #expect(PerPHY<UInt8>([.le1M, .leCoded], 9)[.leCoded] == 9)
    }
}
