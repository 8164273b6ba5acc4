import BLECore
import HCI

extension AirSignal.Advertising {
    /// The extended reports that together hold all the data, each with as much as an event has room for (Core
    /// Specification 5.4, Vol 4, Part E, 7.7.65.13).
    func reports(
        of advertiser: HCIAddress, at target: HCIAddress?, rssi: Int8
    ) -> [LEExtendedAdvertisingReports.Report] {
        let capacity = 229
        return stride(from: 0, to: max(data.count, 1), by: capacity).map { start in
            let end = min(start + capacity, data.count)
            let status: AdvertisingEventType.DataStatus =
                end < data.count ? .moreToCome : isCut ? .truncated : .complete
            return LEExtendedAdvertisingReports.Report(
                type: eventType.with(status), address: advertiser, primaryPHY: primaryPHY,
                secondaryPHY: secondaryPHY, sid: sid ?? 0xff, txPower: txPower ?? 127, rssi: rssi,
                periodicInterval: train?.interval ?? ConnectionInterval(rawValue: 0),
                direct: target ?? HCIAddress(0, type: .public), data: Array(data[start..<end]))
        }
    }

    /// What a legacy report calls it.
    var reportKind: LEAdvertisingReports.Report.Kind {
        if isResponse { return .scanResponse }
        if properties.contains(.directed) { return .directed }
        if properties.contains(.connectable) { return .connectable }
        return properties.contains(.scannable) ? .scannable : .nonconnectable
    }

    /// What an extended report calls it. Its bits are those of the properties, but for the fourth.
    private var eventType: AdvertisingEventType {
        let shared: AdvertisingEventType = [.connectable, .scannable, .directed, .legacy]
        let type = AdvertisingEventType(rawValue: properties.rawValue).intersection(shared)
        return isResponse ? type.union(.scanResponse) : type
    }
}
