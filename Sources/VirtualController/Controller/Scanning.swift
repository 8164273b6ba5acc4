import BLECore
import HCI

extension VirtualController {
    /// Takes an advertising event: reports it, asks for more, connects.
    mutating func hear(
        _ advertising: AirSignal.Advertising, from sender: ID, rssi: Int8, at now: Instant
    ) {
        guard receives(advertising) else { return }
        scan(advertising, from: sender, rssi: rssi, at: now)
        initiate(advertising, from: sender, rssi: rssi, at: now)
    }

    /// Takes the answer to a scan request.
    mutating func hearResponse(_ response: AirSignal.Advertising, rssi: Int8, at now: Instant) {
        guard receives(response), hears(response, at: now),
            settings.scanner.scanning(on: response.primaryPHY)?.type == .active
        else { return }
        report(response, rssi: rssi, at: now)
    }

    /// Ends a scan whose time is up.
    mutating func endScan(at now: Instant) {
        guard let end = settings.scanner.deadline, end <= now else { return }
        settings.scanner.stop()
        tell(LEScanTimeout())
    }

    /// Whether the radio can take it: extended advertising is for hosts that use extended commands, and its
    /// data must be on a PHY that this controller has.
    private func receives(_ advertising: AirSignal.Advertising) -> Bool {
        advertising.isLegacy || settings.family == .extended && has(advertising.secondaryPHY)
    }

    private mutating func scan(
        _ advertising: AirSignal.Advertising, from sender: ID, rssi: Int8, at now: Instant
    ) {
        guard let own = settings.scanner.address, hears(advertising, at: now),
            advertising.target == nil || advertising.target == own
        else { return }
        report(advertising, rssi: rssi, at: now)
        guard advertising.properties.contains(.scannable), let advertiser = advertising.advertiser,
            settings.scanner.scanning(on: advertising.primaryPHY)?.type == .active
        else { return }
        let request = AirSignal.ScanRequest(scanner: own, advertiser: advertiser, set: advertising.set)
        transmit(.scanRequest(request), to: sender)
    }

    private func hears(_ advertising: AirSignal.Advertising, at now: Instant) -> Bool {
        settings.scanner.listens(on: advertising.primaryPHY, at: now)
            && (!settings.scanner.parameters.filterPolicy.contains(.acceptListOnly)
                || settings.acceptList.contains(advertising.advertiser))
    }

    /// Tells the host, as far as there is room for reports.
    private mutating func report(_ advertising: AirSignal.Advertising, rssi: Int8, at now: Instant) {
        let isExtended = settings.family == .extended
        guard wants(isExtended ? .extendedAdvertisingReport : .advertisingReport),
            settings.scanner.isNew(advertising, at: now)
        else { return }
        let room = max(configuration.reportLimit - waitingReports, 0)
        if isExtended {
            let reports = Self.reports(of: advertising, rssi: rssi)
            droppedReports += max(reports.count - room, 0)
            for (index, report) in reports.prefix(room).enumerated() {
                var report = report
                // The rest has no room.
                if index == room - 1, reports.count > room { report.type = report.type.with(.truncated) }
                queue(LEExtendedAdvertisingReports(reports: [report]).packet)
            }
        } else if room > 0 {
            let report = LEAdvertisingReports.Report(
                type: advertising.reportKind, address: Self.address(of: advertising), data: advertising.data,
                rssi: rssi)
            queue(LEAdvertisingReports(reports: [report]).packet)
        } else {
            droppedReports += 1
        }
    }

    private mutating func queue(_ report: HCIEventPacket) {
        waitingReports += 1
        toHost.append(.report(HCIPacket.event(report).encoded))
    }

    /// The reports that it takes to tell all of it, each with as much as an event has room for (Core
    /// Specification 5.4, Vol 4, Part E, 7.7.65.13).
    private static func reports(
        of advertising: AirSignal.Advertising, rssi: Int8
    ) -> [LEExtendedAdvertisingReports.Report] {
        let capacity = 229
        let data = advertising.data
        return stride(from: 0, to: max(data.count, 1), by: capacity).map { start in
            let end = min(start + capacity, data.count)
            let status: AdvertisingEventType.DataStatus =
                end < data.count ? .moreToCome : advertising.isCut ? .truncated : .complete
            return LEExtendedAdvertisingReports.Report(
                type: advertising.eventType.with(status), address: address(of: advertising),
                primaryPHY: advertising.primaryPHY, secondaryPHY: advertising.secondaryPHY,
                sid: advertising.sid ?? 0xff, txPower: advertising.txPower ?? 127, rssi: rssi,
                direct: advertising.target.map { HCIAddress($0) } ?? HCIAddress(0, type: .public),
                data: Array(data[start..<end]))
        }
    }

    private static func address(of advertising: AirSignal.Advertising) -> HCIAddress {
        advertising.advertiser.map { HCIAddress($0) } ?? HCIAddress(0, type: .anonymous)
    }
}

extension AirSignal.Advertising {
    /// What a legacy report calls it.
    fileprivate var reportKind: LEAdvertisingReports.Report.Kind {
        if isResponse { return .scanResponse }
        if properties.contains(.directed) { return .directed }
        if properties.contains(.connectable) { return .connectable }
        return properties.contains(.scannable) ? .scannable : .nonconnectable
    }

    /// What an extended report calls it. Its bits are those of the properties, but for the fourth.
    fileprivate var eventType: AdvertisingEventType {
        let shared: AdvertisingEventType = [.connectable, .scannable, .directed, .legacy]
        let type = AdvertisingEventType(rawValue: properties.rawValue).intersection(shared)
        return isResponse ? type.union(.scanResponse) : type
    }
}
