import BLECore
import HCI

extension VirtualController {
    /// Takes an advertising event: reports it, asks for more, connects.
    mutating func hear(
        _ advertising: AirSignal.Advertising, from sender: ID, rssi: Int8, at now: Instant
    ) {
        guard settings.scanner.isEnabled || settings.initiator != nil, receives(advertising) else { return }
        var advertiser: AirPeer?
        if let address = advertising.advertiser {
            advertiser = settings.resolvingList.recognize(address)
            if advertiser == nil { return }
        }
        scan(advertising, of: advertiser, from: sender, rssi: rssi, at: now)
        synchronize(with: advertising, of: advertiser, at: now)
        initiate(advertising, of: advertiser, from: sender, rssi: rssi, at: now)
    }

    /// Takes the answer to a scan request.
    mutating func hearResponse(_ response: AirSignal.Advertising, rssi: Int8, at now: Instant) {
        guard receives(response), let address = response.advertiser,
            let advertiser = settings.resolvingList.recognize(address),
            receives(response, of: advertiser, at: now),
            settings.scanner.scanning(on: response.primaryPHY)?.type == .active
        else { return }
        report(response, of: advertiser, at: nil, rssi: rssi, at: now)
    }

    /// Ends a scan whose time is up.
    mutating func endScan(at now: Instant) {
        guard let end = settings.scanner.deadline, end <= now else { return }
        settings.scanner.stop()
        emit(LEScanTimeout())
    }

    /// Whether the radio can take it: extended advertising is for hosts that use extended commands, and its
    /// data must be on a PHY that this controller has.
    private func receives(_ advertising: AirSignal.Advertising) -> Bool {
        advertising.isLegacy || settings.family == .extended && has(advertising.secondaryPHY)
    }

    private mutating func scan(
        _ advertising: AirSignal.Advertising, of advertiser: AirPeer?, from sender: ID, rssi: Int8,
        at now: Instant
    ) {
        guard let own = settings.scanner.address, receives(advertising, of: advertiser, at: now) else {
            return
        }
        var target: HCIAddress?
        if let address = advertising.target {
            target = aim(address, own)
            if target == nil { return }
        }
        report(advertising, of: advertiser, at: target, rssi: rssi, at: now)
        guard advertising.properties.contains(.scannable), let advertiser,
            settings.scanner.scanning(on: advertising.primaryPHY)?.type == .active
        else { return }
        let hidden = privateAddress(
            settings.scanner.parameters.ownAddressType, towards: advertiser.address, at: now)
        let request = AirSignal.ScanRequest(
            scanner: hidden ?? own, advertiser: advertiser.onAir, set: advertising.set)
        transmit(.scanRequest(request), to: sender)
    }

    /// How a report names the target of directed advertising; nil when it is another device (Vol 6, Part B,
    /// 4.3.3 and 6.3).
    private func aim(_ target: DeviceAddress, _ own: DeviceAddress) -> HCIAddress? {
        if target == own { return HCIAddress(target) }
        guard target.kind == .resolvable else { return nil }
        if settings.resolvingList.isOwn(target) { return HCIAddress(identity: own) }
        return settings.scanner.parameters.filterPolicy.contains(.unresolvedDirected)
            ? HCIAddress(target.value, type: .unresolved) : nil
    }

    private func receives(
        _ advertising: AirSignal.Advertising, of advertiser: AirPeer?, at now: Instant
    ) -> Bool {
        settings.scanner.listens(on: advertising.primaryPHY, at: now)
            && (!settings.scanner.parameters.filterPolicy.contains(.acceptListOnly)
                || settings.acceptList.contains(advertiser?.address))
    }

    /// Reports to the host, as far as there is room for reports.
    private mutating func report(
        _ advertising: AirSignal.Advertising, of advertiser: AirPeer?, at target: HCIAddress?,
        rssi: Int8, at now: Instant
    ) {
        let isExtended = settings.family == .extended
        // The legacy report has no place for a target that could not be resolved.
        let isUnresolved = target?.type == .unresolved
        let subevent: LESubevent =
            isExtended
            ? .extendedAdvertisingReport : isUnresolved ? .directedAdvertisingReport : .advertisingReport
        guard wants(subevent), settings.scanner.isNew(advertising, of: advertiser?.address, at: now)
        else { return }
        let room = max(configuration.reportLimit - waitingReports, 0)
        let address = advertiser?.reported ?? HCIAddress(0, type: .anonymous)
        if isExtended {
            let reports = advertising.reports(of: address, at: target, rssi: rssi)
            droppedReports += max(reports.count - room, 0)
            for (index, report) in reports.prefix(room).enumerated() {
                var report = report
                // The rest has no room.
                if index == room - 1, reports.count > room { report.type = report.type.with(.truncated) }
                queue(LEExtendedAdvertisingReports(reports: [report]).packet)
            }
        } else if room == 0 {
            droppedReports += 1
        } else if let target, isUnresolved {
            let report = LEDirectedAdvertisingReports.Report(
                address: address, direct: HCIAddress(target.value, type: .random), rssi: rssi)
            queue(LEDirectedAdvertisingReports(reports: [report]).packet)
        } else {
            let report = LEAdvertisingReports.Report(
                type: advertising.reportKind, address: address, data: advertising.data, rssi: rssi)
            queue(LEAdvertisingReports(reports: [report]).packet)
        }
    }

    mutating func queue(_ report: HCIEventPacket) {
        waitingReports += 1
        toHost.append(.report(HCIPacket.event(report).encoded))
    }
}
