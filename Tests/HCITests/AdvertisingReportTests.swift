import BLECore
import HCI
import Testing

@Suite struct AdvertisingReportTests {
    static let other = HCIAddress(0x0000_0000_00aa, type: .public)
    static let legacy = "00 \(peerBytes) 03 020106 c4"
    static let anonymous = "0000 ff000000000000 03 02 0f 7f 7f 0000 00000000000000 01 ee"

    static let table: [MessageCase] = [
        .init(
            "3e 0f 02 01 \(legacy)",
            .advertisingReports(
                LEAdvertisingReports(reports: [
                    .init(type: .connectable, address: peer, data: [2, 1, 6], rssi: -60)
                ]))),
        .init(
            "3e 19 02 02 \(legacy) 04 00 aa0000000000 00 7f",
            .advertisingReports(
                LEAdvertisingReports(reports: [
                    .init(type: .connectable, address: peer, data: [2, 1, 6], rssi: -60),
                    .init(type: .scanResponse, address: other, data: [], rssi: 127),
                ]))),
        .init("3e 02 02 00", .advertisingReports(LEAdvertisingReports(reports: []))),
        .init(
            "3e 12 0b 01 01 \(peerBytes) fe 554433221140 c4",
            .directedAdvertisingReports(
                LEDirectedAdvertisingReports(reports: [
                    .init(address: peer, direct: HCIAddress(0x4011_2233_4455, type: .unresolved), rssi: -60)
                ]))),
        .init(
            "3e 35 0d 02 2500 \(peerBytes) 01 02 05 f6 c4 5000 00 aa0000000000 02 aabb \(anonymous)",
            .extendedAdvertisingReports(
                LEExtendedAdvertisingReports(reports: [
                    .init(
                        type: [.connectable, .directed, AdvertisingEventType().with(.moreToCome)],
                        address: peer,
                        secondaryPHY: .le2M, sid: 5, txPower: -10, rssi: -60,
                        periodicInterval: ConnectionInterval(.milliseconds(100)), direct: other,
                        data: [0xaa, 0xbb]),
                    .init(
                        type: [], address: HCIAddress(0, type: .anonymous), primaryPHY: .leCoded,
                        secondaryPHY: .le2M, sid: 15, rssi: 127, data: [0xee]),
                ]))),
    ]

    @Test(arguments: table) func encodesAndDecodes(_ message: MessageCase) throws { try message.check() }

    /// Returns the reports of the visitor, and the error that ends it.
    private func visit(_ hex: String) -> ([AdvertisingReport], DecodeError?) {
        var reports: [AdvertisingReport] = []
        do throws(DecodeError) {
            try AdvertisingReport.forEach(in: [UInt8](spelled: hex).span) { reports.append($0) }
            return (reports, nil)
        } catch { return (reports, error) }
    }

    @Test func legacyReportsConvertToReports() throws {
        let (reports, problem) = visit("02 02 \(Self.legacy) 04 00 aa0000000000 00 7f")
        #expect(problem == nil)
        try #require(reports.count == 2)
        #expect(reports[0].address == DeviceAddress(0xc0ff_ee01_0203, type: .random))
        #expect(reports[0].type == [.legacy, .connectable, .scannable])
        #expect(reports[0].data == [2, 1, 6])
        #expect(reports[0].rssi == -60)
        #expect(reports[0].dataStatus == .complete)
        #expect(reports[0].primaryPHY == .le1M)
        #expect(reports[0].secondaryPHY == nil)
        #expect(reports[0].sid == nil && reports[0].txPower == nil && reports[0].periodicInterval == nil)
        #expect(reports[1].type == [.legacy, .scannable, .scanResponse])
        #expect(reports[1].rssi == nil)
    }

    @Test(
        arguments: [
            (0x00, [.legacy, .connectable, .scannable]), (0x01, [.legacy, .connectable, .directed]),
            (0x02, [.legacy, .scannable]), (0x03, .legacy), (0x04, [.legacy, .scannable, .scanResponse]),
            (0x05, .legacy),
        ] as [(UInt8, AdvertisingEventType)])
    func legacyTypesMapToExtendedTypes(_ type: UInt8, _ expected: AdvertisingEventType) {
        let (reports, problem) = visit("02 01 \(type.hex) \(peerBytes) 00 c4")
        #expect(problem == nil)
        #expect(reports.map(\.type) == [expected])
    }

    @Test func extendedReportsConvertToReports() throws {
        let (reports, problem) = visit(
            "0d 02 2500 \(peerBytes) 01 02 05 f6 c4 5000 00 aa0000000000 02 aabb \(Self.anonymous)")
        #expect(problem == nil)
        try #require(reports.count == 2)
        #expect(reports[0].target == Self.other)
        #expect(reports[0].dataStatus == .moreToCome)
        #expect(reports[0].secondaryPHY == .le2M)
        #expect(reports[0].sid == 5)
        #expect(reports[0].txPower == -10)
        #expect(reports[0].periodicInterval?.duration == .milliseconds(100))
        #expect(reports[1].advertiser == nil)
        #expect(reports[1].address == nil)
        #expect(reports[1].primaryPHY == .leCoded)
        #expect(reports[1].txPower == nil && reports[1].rssi == nil && reports[1].target == nil)
    }

    @Test func directedReportsConvertToReports() {
        let (reports, problem) = visit("0b 01 01 \(peerBytes) fe 554433221140 c4")
        #expect(problem == nil)
        #expect(reports.map(\.type) == [[.legacy, .connectable, .directed]])
        #expect(reports.first?.target?.deviceAddress == DeviceAddress(0x4011_2233_4455, type: .random))
    }

    @Test func otherEventsHaveNoReports() {
        #expect(visit("11") == ([], nil))
        #expect(visit("14 4000 01") == ([], nil))
    }

    @Test func reportsBeforeMalformedOneAreDelivered() {
        let (reports, problem) = visit("02 02 \(Self.legacy) 00 \(peerBytes) 05 0201")
        #expect(reports.count == 1)
        #expect(
            problem
                == DecodeError(
                    packet: "LE Advertising Report", field: "Data", offset: 24,
                    reason: .truncated(needed: 5, available: 2)))
    }

    @Test func legacyDataLengthIsLimited() {
        let most = String(repeating: "00", count: 31)
        #expect(visit("02 01 00 \(peerBytes) 1f \(most) c4").0.first?.data.count == 31)
        let (reports, problem) = visit("02 01 00 \(peerBytes) 20 \(most)00 c4")
        #expect(reports.isEmpty)
        #expect(problem?.field == "Data")
        #expect(problem?.reason == .invalid(value: 32))
    }

    @Test func emptyEventFails() {
        #expect(visit("").1 != nil)
        #expect(visit("02").1 != nil)
        #expect(visit("02 00 00").1?.reason == .trailing(count: 1))
    }
}
