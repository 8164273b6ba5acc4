import BLECore
import DequeModule
import HCI

/// When a scanner or initiator listens.
struct ScanTiming: Sendable {
    var interval: Slots
    var window: Slots
    /// The start of a window; the next ones follow at `interval`.
    var start: Instant

    /// Whether a window is open at `now`: always when windows fill the intervals, else by phase.
    func listens(at now: Instant) -> Bool {
        guard window < interval else { return true }
        let interval = UInt64(interval.duration.nanoseconds.magnitude)
        return (now.nanoseconds &- start.nanoseconds) % interval < window.duration.nanoseconds.magnitude
    }
}

/// The parameters and state of scanning.
struct Scanner: Sendable {
    typealias Parameters = LESetExtendedScanParameters

    /// Those of the legacy commands are such for LE 1M alone.
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
    /// What was reported, while duplicates are filtered, and in which period.
    private var seen = BoundedSet<Heard>(limit: 0)
    private var seenIn: UInt64 = 0

    private struct Heard: Hashable, Sendable {
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

    /// Begins, for a duration if that is not zero, and again each period if that is not zero. While it scans
    /// already it goes on, but forgets what it has received and how long it has lasted.
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

    /// How it scans on a PHY, if it does.
    func scanning(on phy: PHY) -> Parameters.Scanning? { isEnabled ? parameters.phys[PHYSet(phy)] : nil }

    func listens(on phy: PHY, at now: Instant) -> Bool {
        guard let scanning = scanning(on: phy) else { return false }
        if period > .zero {
            guard phase(at: now).offset < duration.nanoseconds.magnitude else { return false }
        }
        return ScanTiming(interval: scanning.interval, window: scanning.window, start: start)
            .listens(at: now)
    }

    /// Which period it is, and how much of it has passed.
    private func phase(at now: Instant) -> (number: UInt64, offset: UInt64) {
        let length = period.nanoseconds.magnitude
        guard length > 0, now > start else { return (0, 0) }
        let passed = now.nanoseconds - start.nanoseconds
        return (passed / length, passed % length)
    }

    /// Whether it is to be reported: false for what the duplicate filter has seen. Other data of a set are
    /// news (Core Specification 5.4, Vol 6, Part B, 4.4.3.5).
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
            Heard(
                advertiser: advertiser, isResponse: advertising.isResponse,
                sid: advertising.sid, dataID: advertising.dataID))
    }
}

extension VirtualController {
    /// Takes an advertising event: reports it, asks for more, connects.
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

    /// Takes the answer to a scan request.
    mutating func receiveResponse(_ response: AirSignal.Advertising, rssi: Int8, at now: Instant) {
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
        let room = roomForReports
        let address = advertiser?.reported ?? HCIAddress(0, type: .anonymous)
        if isExtended {
            let reports = advertising.reports(of: address, at: target, rssi: rssi)
            dropReports(reports.count - room)
            for (index, report) in reports.prefix(room).enumerated() {
                var report = report
                // The rest has no room.
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

/// A set that forgets its oldest members when it is full.
struct BoundedSet<Element: Hashable & Sendable>: Sendable {
    let limit: Int
    private var members: Set<Element> = []
    private var order: Deque<Element> = []

    init(limit: Int) { self.limit = limit }

    /// Adds a member; false when it is one already.
    mutating func insert(_ element: Element) -> Bool {
        guard members.insert(element).inserted else { return false }
        order.append(element)
        if order.count > limit, let oldest = order.popFirst() { members.remove(oldest) }
        return true
    }
}
