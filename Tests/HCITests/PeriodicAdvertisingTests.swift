import BLECore
import HCI
import Testing

/// Periodic advertising, both sides, and the transfer of trains over a connection.
@Suite struct PeriodicAdvertisingTests {
    static let set = AdvertisingHandle(rawValue: 3)
    static let sync = SyncHandle(rawValue: 0x0102)
    static let train = PeriodicTrain(
        sync: sync, sid: 5, advertiser: peer, phy: .le2M, interval: ConnectionInterval(.milliseconds(100)),
        clockAccuracy: 7)
    static let trainBytes = "0201 05 \(peerBytes) 02 5000 07"

    static let advertising: [MessageCase] = [
        .init(
            "3e20 07 03 5000 a000 4000",
            LESetPeriodicAdvertisingParameters(
                set: set, intervalMin: ConnectionInterval(.milliseconds(100)),
                intervalMax: ConnectionInterval(.milliseconds(200)), properties: .includesTxPower)),
        .init("4020 02 01 03", LESetPeriodicAdvertisingEnable(enable: .on, set: set)),
        .init("4020 02 03 03", LESetPeriodicAdvertisingEnable(enable: [.on, .includesADI], set: set)),
    ]

    static let following: [MessageCase] = [
        .init(
            "4420 0e 06 05 \(peerBytes) f301 0040 11",
            LEPeriodicAdvertisingCreateSync(
                options: [.withoutReports, .filterDuplicates], sid: 5, advertiser: peer, skip: 499,
                timeout: Centiseconds(.milliseconds(163_840)), excluded: [.angleOfArrival, .none])),
        .init("4520 00", LEPeriodicAdvertisingCreateSyncCancel()),
        .init("4620 02 0201", LEPeriodicAdvertisingTerminateSync(sync: sync)),
        .init(
            "4720 08 \(peerBytes) 05",
            LEAddDeviceToPeriodicAdvertiserList(advertiser: PeriodicAdvertiser(address: peer, sid: 5))),
        .init(
            "4820 08 \(peerBytes) 0f",
            LERemoveDeviceFromPeriodicAdvertiserList(advertiser: PeriodicAdvertiser(address: peer, sid: 15))),
        .init("4920 00", LEClearPeriodicAdvertiserList()),
        .init("4a20 00", LEReadPeriodicAdvertiserListSize()),
        .init(
            "5920 03 0201 03",
            LESetPeriodicAdvertisingReceiveEnable(sync: sync, enable: [.reports, .filterDuplicates])),
    ]

    static let transfer: [MessageCase] = [
        .init(
            "5a20 06 4000 3412 0201",
            LEPeriodicAdvertisingSyncTransfer(connection: link, serviceData: 0x1234, sync: sync)),
        .init(
            "5b20 05 4000 3412 03",
            LEPeriodicAdvertisingSetInfoTransfer(connection: link, serviceData: 0x1234, set: set)),
        .init(
            "5c20 08 4000 02 0100 6400 06",
            LESetPeriodicAdvertisingSyncTransferParameters(
                connection: link,
                parameters: SyncTransferParameters(
                    mode: .withReports, skip: 1, timeout: Centiseconds(.seconds(1)),
                    excluded: [.angleOfDeparture1us, .angleOfDeparture2us]))),
        .init(
            "5d20 06 03 0000 0a00 00",
            LESetDefaultPeriodicAdvertisingSyncTransferParameters(
                parameters: SyncTransferParameters(
                    mode: .filteringDuplicates, timeout: Centiseconds(.milliseconds(100))))),
    ]

    static let returned: [MessageCase] = [
        .init("", by: LESetPeriodicAdvertisingParameters.self, NoReturnParameters()),
        .init("10", by: LEReadPeriodicAdvertiserListSize.self, Returned(16)),
        .init("4000", by: LEPeriodicAdvertisingSyncTransfer.self, Returned(link)),
        .init("4000", by: LEPeriodicAdvertisingSetInfoTransfer.self, Returned(link)),
        .init("4000", by: LESetPeriodicAdvertisingSyncTransferParameters.self, Returned(link)),
    ]

    static let events: [MessageCase] = [
        .init(
            "3e 10 0e 00 \(trainBytes)",
            .periodicAdvertisingSyncEstablished(LEPeriodicAdvertisingSyncEstablished(train: train))),
        .init(
            "3e 0b 0f 0201 f6 c4 ff 01 03 020106",
            .periodicAdvertisingReport(
                LEPeriodicAdvertisingReport(
                    sync: sync, txPower: -10, rssi: -60, dataStatus: .moreToCome, data: [2, 1, 6]))),
        .init(
            "3e 08 0f 0201 7f 7f 02 02 00",
            .periodicAdvertisingReport(
                LEPeriodicAdvertisingReport(
                    sync: sync, rssi: 127, toneExtension: 2, dataStatus: .truncated, data: []))),
        .init("3e 03 10 0201", .periodicAdvertisingSyncLost(LEPeriodicAdvertisingSyncLost(sync: sync))),
        .init(
            "3e 14 18 3e 4000 3412 \(trainBytes)",
            .periodicAdvertisingSyncTransferReceived(
                LEPeriodicAdvertisingSyncTransferReceived(
                    status: .connectionFailedToBeEstablished, connection: link, serviceData: 0x1234,
                    train: train))),
    ]

    static let fragments: [MessageCase] = {
        guard let fragment = try? PeriodicAdvertisingDataFragment(set: set, operation: .last, [0xaa, 0xbb])
        else { return [] }
        return [.init("3f20 05 03 02 02 aabb", LESetPeriodicAdvertisingData(fragment: fragment))]
    }()

    static let table = advertising + following + transfer + returned + events + fragments

    @Test(arguments: table) func encodesAndDecodes(_ message: MessageCase) throws { try message.check() }

    @Test func fragmentLengthIsLimited() throws {
        let most = try PeriodicAdvertisingDataFragment(set: Self.set, [UInt8](repeating: 1, count: 252))
        #expect(LESetPeriodicAdvertisingData(fragment: most).packet.parameters.count == 255)
        #expect(throws: HCIParameterError(field: "Advertising_Data", value: 253, limit: 252)) {
            try PeriodicAdvertisingDataFragment(set: Self.set, [UInt8](repeating: 1, count: 253))
        }
    }

    @Test func onlyCreateSyncAnswersWithStatus() {
        #expect(LEPeriodicAdvertisingCreateSync.answer == .status)
        #expect(LEPeriodicAdvertisingCreateSyncCancel.answer == .complete)
        #expect(LEPeriodicAdvertisingTerminateSync.answer == .complete)
    }
}
