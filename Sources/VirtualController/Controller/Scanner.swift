import BLECore
import HCI

/// When a scanner or initiator listens.
struct ScanTiming: Sendable {
    var interval: Slots
    var window: Slots
    /// The start of a window.
    var start: Instant

    /// Whether a window is open at `now`: always when windows fill the intervals, else by phase.
    func listens(at now: Instant) -> Bool {
        guard window < interval else { return true }
        let interval = UInt64(interval.duration.nanoseconds.magnitude)
        return (now.nanoseconds &- start.nanoseconds) % interval < window.duration.nanoseconds.magnitude
    }
}

/// What a controller scans for.
struct Scanner: Sendable {
    var parameters = LESetScanParameters(
        type: .passive, interval: Slots(rawValue: 0x0010), window: Slots(rawValue: 0x0010))
    /// The own address, while scanning.
    private(set) var address: DeviceAddress?
    private var start = Instant.zero
    /// What was reported, while duplicates are filtered.
    private var seen: BoundedSet<Heard>?

    private struct Heard: Hashable, Sendable {
        var advertiser: DeviceAddress
        var isResponse: Bool
    }

    var isEnabled: Bool { address != nil }

    mutating func start(as address: DeviceAddress, filteringDuplicates memory: Int?, at now: Instant) {
        if !isEnabled { start = now }
        self.address = address
        seen = memory.map { BoundedSet(limit: $0) }
    }

    mutating func stop() { address = nil }

    func listens(at now: Instant) -> Bool {
        isEnabled
            && ScanTiming(interval: parameters.interval, window: parameters.window, start: start)
                .listens(at: now)
    }

    /// Whether it is to be reported: false for what the duplicate filter has seen.
    mutating func isNew(_ advertiser: DeviceAddress, isResponse: Bool) -> Bool {
        seen?.insert(Heard(advertiser: advertiser, isResponse: isResponse)) ?? true
    }
}

/// A connection that a controller tries to make.
struct Initiator: Sendable {
    var command: LECreateConnection
    /// The own address.
    var address: DeviceAddress
    var start: Instant

    func listens(at now: Instant) -> Bool {
        ScanTiming(interval: command.scanInterval, window: command.scanWindow, start: start).listens(at: now)
    }
}

extension VirtualController {
    /// Takes an advertising event: reports it, asks for more, connects.
    mutating func hear(
        _ advertising: AirSignal.Advertising, from sender: ID, rssi: Int8, at now: Instant
    ) {
        scan(advertising, from: sender, rssi: rssi, at: now)
        initiate(advertising, from: sender, rssi: rssi, at: now)
    }

    private mutating func scan(
        _ advertising: AirSignal.Advertising, from sender: ID, rssi: Int8, at now: Instant
    ) {
        guard let own = settings.scanner.address, hears(advertising.advertiser, at: now),
            advertising.target == nil || advertising.target == own
        else { return }
        report(advertising.kind, advertising.advertiser, advertising.data, rssi: rssi)
        let isScannable = advertising.kind == .connectable || advertising.kind == .scannable
        if settings.scanner.parameters.type == .active && isScannable {
            transmit(.scanRequest(scanner: own, advertiser: advertising.advertiser), to: sender)
        }
    }

    /// Takes the answer to a scan request.
    mutating func hearResponse(of advertiser: DeviceAddress, _ data: [UInt8], rssi: Int8, at now: Instant) {
        guard settings.scanner.parameters.type == .active, hears(advertiser, at: now) else { return }
        report(.scanResponse, advertiser, data, rssi: rssi)
    }

    private func hears(_ advertiser: DeviceAddress, at now: Instant) -> Bool {
        settings.scanner.listens(at: now)
            && (!settings.scanner.parameters.filterPolicy.contains(.acceptListOnly)
                || settings.acceptList.contains(advertiser))
    }

    private mutating func report(
        _ kind: LEAdvertisingReports.Report.Kind, _ advertiser: DeviceAddress, _ data: [UInt8], rssi: Int8
    ) {
        guard wants(.advertisingReport),
            settings.scanner.isNew(advertiser, isResponse: kind == .scanResponse)
        else { return }
        guard waitingReports < configuration.reportLimit else {
            droppedReports += 1
            return
        }
        let report = LEAdvertisingReports.Report(
            type: kind, address: HCIAddress(advertiser), data: data, rssi: rssi)
        waitingReports += 1
        toHost.append(.report(HCIPacket.event(LEAdvertisingReports(reports: [report]).packet).encoded))
    }

    /// Connects to an advertiser, if it is the one that is wanted.
    private mutating func initiate(
        _ advertising: AirSignal.Advertising, from sender: ID, rssi: Int8, at now: Instant
    ) {
        guard let initiator = settings.initiator, initiator.listens(at: now),
            advertising.kind == .connectable || advertising.target == initiator.address,
            links.count < configuration.maximumConnections, !isConnected(to: advertising.advertiser)
        else { return }
        switch initiator.command.filterPolicy {
        case .peer:
            guard initiator.command.peer.deviceAddress == advertising.advertiser else { return }
        default:
            guard settings.acceptList.contains(advertising.advertiser) else { return }
        }
        settings.initiator = nil
        lastSerial += 1
        let link = AirLinkID(central: id, serial: lastSerial)
        let wanted = initiator.command.parameters
        let timing = LinkTiming(
            interval: wanted.intervalMin, latency: wanted.latency,
            supervisionTimeout: wanted.supervisionTimeout)
        transmit(
            .connectionRequest(
                AirSignal.ConnectionRequest(
                    link: link, initiator: initiator.address, advertiser: advertising.advertiser,
                    timing: timing, channels: settings.hostChannels)), to: sender)
        addLink(
            link, as: .central, to: advertising.advertiser, at: sender, timing, settings.hostChannels,
            rssi: rssi, at: now)
    }
}
