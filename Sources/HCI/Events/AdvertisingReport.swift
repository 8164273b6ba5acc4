import BLECore

/// An advertising report, legacy or extended.
///
/// ```swift
/// try AdvertisingReport.forEach(in: event.parameters.span) { report in print(report) }
/// ```
package struct AdvertisingReport: Hashable, Sendable {
    /// The address of the advertiser; nil for anonymous advertising.
    package var advertiser: HCIAddress?
    /// The kind of advertising, and whether `data` is complete.
    package var type: AdvertisingEventType
    /// The advertising or scan response data; empty in an LE Directed Advertising Report.
    package var data: [UInt8]
    /// The signal strength at the receiver in dBm, if available.
    package var rssi: Int8?
    /// The transmit power in dBm, if the advertiser includes it.
    package var txPower: Int8?
    /// The PHY of the primary channels.
    package var primaryPHY: PHY
    /// The PHY of the auxiliary packets, which carry the data of extended advertising.
    package var secondaryPHY: PHY?
    /// The advertising set identifier (SID), if the advertisement has one.
    package var sid: UInt8?
    /// The interval of the periodic advertising of the set, if there is one.
    package var periodicInterval: ConnectionInterval?
    /// The target of directed advertising, if the event contains it.
    package var target: HCIAddress?

    /// The advertiser's address, if the report contains one.
    package var address: DeviceAddress? { advertiser?.deviceAddress }
    /// Whether more data follows, or the rest was lost.
    package var dataStatus: AdvertisingEventType.DataStatus { type.dataStatus }
}

extension AdvertisingReport {
    /// Creates a report from one of legacy scanning.
    package init(_ report: LEAdvertisingReports.Report) {
        self.init(
            advertiser: report.address, type: AdvertisingEventType(report.type), data: report.data,
            rssi: report.rssi)
    }

    /// Creates a report from one of advertising directed at a private address, without data.
    package init(_ report: LEDirectedAdvertisingReports.Report) {
        self.init(
            advertiser: report.address, type: AdvertisingEventType(report.type), data: [], rssi: report.rssi)
        target = report.direct
    }

    /// Creates a report from one of extended scanning.
    package init(_ report: LEExtendedAdvertisingReports.Report) {
        self.init(advertiser: report.address, type: report.type, data: report.data, rssi: report.rssi)
        txPower = report.txPower == Self.unknownPower ? nil : report.txPower
        primaryPHY = report.primaryPHY
        secondaryPHY = report.secondaryPHY == .none ? nil : report.secondaryPHY
        sid = report.sid == 0xff ? nil : report.sid
        periodicInterval = report.periodicInterval.rawValue == 0 ? nil : report.periodicInterval
        target = report.type.contains(.directed) ? report.direct : nil
    }

    private init(advertiser: HCIAddress, type: AdvertisingEventType, data: [UInt8], rssi: Int8) {
        self.advertiser = advertiser.type == .anonymous ? nil : advertiser
        (self.type, self.data, self.primaryPHY) = (type, data, .le1M)
        self.rssi = rssi == Self.unknownPower ? nil : rssi
    }

    private static let unknownPower: Int8 = 127
}

extension AdvertisingEventType {
    /// Converts the type of a legacy report to an extended type. The scan response of a legacy scan does not
    /// show whether its advertiser is connectable, and an unknown type only sets `legacy`.
    init(_ type: LEAdvertisingReports.Report.Kind) {
        self =
            switch type {
            case .connectable: [.legacy, .connectable, .scannable]
            case .directed: [.legacy, .connectable, .directed]
            case .scannable: [.legacy, .scannable]
            case .scanResponse: [.legacy, .scannable, .scanResponse]
            default: .legacy
            }
    }
}

extension AdvertisingReport {
    /// Returns whether a packet in H4 form is an event with advertising reports, other than those of directed
    /// advertising.
    package static func isEvent(_ packet: Span<UInt8>) -> Bool {
        guard packet.count > 3, packet[0] == HCIPacketType.event.rawValue,
            packet[1] == HCIEventCode.leMeta.rawValue
        else { return false }
        switch LESubevent(rawValue: packet[3]) {
        case .advertisingReport, .extendedAdvertisingReport: return true
        default: return false
        }
    }

    /// Calls `body` with each report in an LE Meta event, with at most one allocation per report for its
    /// data. Other LE events contain no reports.
    /// - Parameter parameters: the parameters of the event, from the subevent code on.
    /// - Throws: if the event is malformed, after `body` has been called with the reports before the error.
    package static func forEach(
        in parameters: Span<UInt8>, _ body: (AdvertisingReport) -> Void
    ) throws(DecodeError) {
        var reader = ByteReader(parameters, of: "LE Meta")
        switch LESubevent(rawValue: try reader.u8("Subevent_Code")) {
        case .advertisingReport:
            try visit(LEAdvertisingReports.Report.self, parameters) { body(AdvertisingReport($0)) }
        case .directedAdvertisingReport:
            try visit(LEDirectedAdvertisingReports.Report.self, parameters) { body(AdvertisingReport($0)) }
        case .extendedAdvertisingReport:
            try visit(LEExtendedAdvertisingReports.Report.self, parameters) { body(AdvertisingReport($0)) }
        default: break
        }
    }

    private static func visit<Report: HCIParameters>(
        _: Report.Type, _ parameters: Span<UInt8>, _ body: (Report) -> Void
    ) throws(DecodeError) {
        var reader = ByteReader(parameters, of: Report.packetName)
        _ = try reader.u8("Subevent_Code")
        for _ in 0..<(try reader.u8("Num_Reports")) { body(try Report(decoding: &reader)) }
        try reader.end()
    }
}
