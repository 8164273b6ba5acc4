import BLECore
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
