import BLECore
import DequeModule
import HCI

/// The timing of the windows in which a scanner or initiator listens.
struct ScanTiming: Sendable {
    var interval: Slots
    var window: Slots
    /// The start of the first window; the next windows follow at `interval`.
    var start: Instant

    /// Returns whether a window is open at `now`. It is always open if windows fill the intervals.
    func listens(at now: Instant) -> Bool {
        guard window < interval else { return true }
        let interval = UInt64(interval.duration.nanoseconds.magnitude)
        return (now.nanoseconds &- start.nanoseconds) % interval < window.duration.nanoseconds.magnitude
    }
}

/// The parameters and state of scanning.
struct Scanner: Sendable {
    typealias Parameters = LESetExtendedScanParameters

    /// The scan parameters. The parameters of the legacy commands are for LE 1M only.
    var parameters = Parameters(
        phys: PerPHY(
            le1M: .init(type: .passive, interval: Slots(rawValue: 0x0010), window: Slots(rawValue: 0x0010))))
    /// The own address; nil unless scanning is enabled.
    private(set) var address: DeviceAddress?
    private var start = Instant.zero
    private var duration = Duration.zero
    private var period = Duration.zero
    private var filter = LESetExtendedScanEnable.DuplicateFilter.off
    private var memory = 0
    /// The reported advertising, while duplicates are filtered; `seenIn` is the period that it belongs to.
    private var seen = BoundedSet<Seen>(limit: 0)
    private var seenIn: UInt64 = 0

    private struct Seen: Hashable, Sendable {
        var advertiser: DeviceAddress?
        var isResponse: Bool
        var sid: UInt8?
        var dataID: UInt16
    }

    var isEnabled: Bool { address != nil }

    /// When scanning ends, if it has a duration and no period.
    var deadline: Instant? {
        isEnabled && duration > .zero && period == .zero ? start + duration : nil
    }

    /// Starts scanning, for `duration` if it is not zero, and again each `period` if it is not zero. If
    /// scanning is already enabled, it continues, but the duplicate filter is cleared, and a duration starts
    /// again.
    mutating func start(
        as address: DeviceAddress, filtering filter: LESetExtendedScanEnable.DuplicateFilter, memory: Int,
        for duration: Duration = .zero, every period: Duration = .zero, at now: Instant
    ) {
        if !isEnabled || duration > .zero { start = now }
        self.address = address
        (self.filter, self.memory) = (filter, memory)
        (self.duration, self.period) = (duration, duration > .zero ? period : .zero)
        seen = BoundedSet(limit: memory)
        seenIn = 0
    }

    mutating func stop() { address = nil }

    /// Returns the scan parameters for a PHY, if the scanner is enabled on it.
    func scanning(on phy: PHY) -> Parameters.Scanning? { isEnabled ? parameters.phys[PHYSet(phy)] : nil }

    func listens(on phy: PHY, at now: Instant) -> Bool {
        guard let scanning = scanning(on: phy) else { return false }
        if period > .zero {
            guard phase(at: now).offset < duration.nanoseconds.magnitude else { return false }
        }
        return ScanTiming(interval: scanning.interval, window: scanning.window, start: start)
            .listens(at: now)
    }

    /// Returns the number of the current period and the time since its start in nanoseconds.
    private func phase(at now: Instant) -> (number: UInt64, offset: UInt64) {
        let length = period.nanoseconds.magnitude
        guard length > 0, now > start else { return (0, 0) }
        let passed = now.nanoseconds - start.nanoseconds
        return (passed / length, passed % length)
    }

    /// Returns whether to report an advertising event: false if the duplicate filter contains it. Changed
    /// data of a set are not duplicates (Core Specification 5.4, Vol 6, Part B, 4.4.3.5).
    mutating func isNew(
        _ advertising: AirSignal.Advertising, of advertiser: DeviceAddress?, at now: Instant
    ) -> Bool {
        guard filter != .off else { return true }
        let period = phase(at: now).number
        if filter == .eachPeriod, period != seenIn {
            seen = BoundedSet(limit: memory)
            seenIn = period
        }
        return seen.insert(
            Seen(
                advertiser: advertiser, isResponse: advertising.isResponse,
                sid: advertising.sid, dataID: advertising.dataID))
    }
}

extension VirtualController {
    /// Processes an advertising event: reports it, sends a scan request, synchronizes or connects, as the
    /// host has enabled.
    mutating func receive(
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

    /// Processes the response to a scan request.
    mutating func receiveResponse(_ response: AirSignal.Advertising, rssi: Int8, at now: Instant) {
        guard receives(response), let address = response.advertiser,
            let advertiser = settings.resolvingList.recognize(address),
            receives(response, of: advertiser, at: now),
            settings.scanner.scanning(on: response.primaryPHY)?.type == .active
        else { return }
        report(response, of: advertiser, at: nil, rssi: rssi, at: now)
    }

    /// Ends a scan whose duration has passed.
    mutating func endScan(at now: Instant) {
        guard let end = settings.scanner.deadline, end <= now else { return }
        settings.scanner.stop()
        emit(LEScanTimeout())
    }

    /// Returns whether the controller can receive the advertising. Extended advertising is only for hosts
    /// that use extended commands, and its data must be on a PHY that this controller supports.
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

    /// Returns the target address of directed advertising for a report; nil if the target is another device
    /// (Vol 6, Part B, 4.3.3 and 6.3).
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

    /// Reports advertising to the host, as far as there is room for reports.
    private mutating func report(
        _ advertising: AirSignal.Advertising, of advertiser: AirPeer?, at target: HCIAddress?,
        rssi: Int8, at now: Instant
    ) {
        let isExtended = settings.family == .extended
        // The legacy report has no field for a target that could not be resolved.
        let isUnresolved = target?.type == .unresolved
        let subevent: LESubevent =
            isExtended
            ? .extendedAdvertisingReport : isUnresolved ? .directedAdvertisingReport : .advertisingReport
        guard reports(subevent), settings.scanner.isNew(advertising, of: advertiser?.address, at: now)
        else { return }
        let room = roomForReports
        let address = advertiser?.reported ?? HCIAddress(0, type: .anonymous)
        if isExtended {
            let reports = advertising.reports(of: address, at: target, rssi: rssi)
            dropReports(reports.count - room)
            for (index, report) in reports.prefix(room).enumerated() {
                var report = report
                // There is no room for the rest of the data.
                if index == room - 1, reports.count > room { report.type = report.type.with(.truncated) }
                queue(LEExtendedAdvertisingReports(reports: [report]).packet)
            }
        } else if room == 0 {
            dropReports(1)
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
}

extension AirSignal.Advertising {
    /// Returns the extended reports that together contain all the data, each with as much as fits into an
    /// event (Core Specification 5.4, Vol 4, Part E, 7.7.65.13).
    func reports(
        of advertiser: HCIAddress, at target: HCIAddress?, rssi: Int8
    ) -> [LEExtendedAdvertisingReports.Report] {
        let capacity = 229
        return stride(from: 0, to: max(data.count, 1), by: capacity).map { start in
            let end = min(start + capacity, data.count)
            let status: AdvertisingEventType.DataStatus =
                end < data.count ? .moreToCome : isTruncated ? .truncated : .complete
            return LEExtendedAdvertisingReports.Report(
                type: eventType.with(status), address: advertiser, primaryPHY: primaryPHY,
                secondaryPHY: secondaryPHY, sid: sid ?? 0xff, txPower: txPower ?? 127, rssi: rssi,
                periodicInterval: train?.interval ?? ConnectionInterval(rawValue: 0),
                direct: target ?? HCIAddress(0, type: .public), data: Array(data[start..<end]))
        }
    }

    /// The event type in a legacy report.
    var reportKind: LEAdvertisingReports.Report.Kind {
        if isResponse { return .scanResponse }
        if properties.contains(.directed) { return .directed }
        if properties.contains(.connectable) { return .connectable }
        return properties.contains(.scannable) ? .scannable : .nonconnectable
    }

    /// The event type in an extended report. Its bits match those of the properties, except for the fourth.
    private var eventType: AdvertisingEventType {
        let shared: AdvertisingEventType = [.connectable, .scannable, .directed, .legacy]
        let type = AdvertisingEventType(rawValue: properties.rawValue).intersection(shared)
        return isResponse ? type.union(.scanResponse) : type
    }
}

/// A set that evicts its oldest member when it is full.
struct BoundedSet<Element: Hashable & Sendable>: Sendable {
    let limit: Int
    private var members: Set<Element> = []
    private var order: Deque<Element> = []

    init(limit: Int) { self.limit = limit }

    /// Adds a member; returns false if the set already contains it.
    mutating func insert(_ element: Element) -> Bool {
        guard members.insert(element).inserted else { return false }
        order.append(element)
        if order.count > limit, let oldest = order.popFirst() { members.remove(oldest) }
        return true
    }
}
