import BLECore
import HCI

/// The scan interval and window of a receiver (Core Specification 5.4, Vol 4, Part E, 7.8.10 and 7.8.64).
/// Controllers count in steps of 0.625 ms; times between two steps are rounded.
public struct ScanTiming: Hashable, Sendable {
    /// The time from the start of one window to the start of the next, 2.5 ms to 40.96 s, or to 10.24 s with the
    /// legacy commands.
    public let interval: Duration
    /// The time to listen in each interval, from 2.5 ms to the interval, which is all the time.
    public let window: Duration

    /// Creates a timing with a window in each interval.
    /// - Throws: `BLEError.timeOutOfRange` when one is out of its range.
    public init(interval: Duration, window: Duration) throws(BLEError) {
        try Self.check(interval, .scanInterval, to: Self.longest)
        try Self.check(window, .scanWindow, to: interval)
        self.init(Slots(interval), Slots(window))
    }

    /// Creates a timing from an interval and a window in steps.
    init(_ interval: Slots, _ window: Slots) {
        (self.interval, self.window) = (interval.duration, window.duration)
    }

    /// 11.25 ms of every 1.28 s: 1 % of the time.
    package static let lowPower = ScanTiming(Slots(rawValue: 2048), Slots(rawValue: 18))
    /// 30 ms of every 60 ms.
    package static let balanced = ScanTiming(Slots(rawValue: 96), Slots(rawValue: 48))
    /// All the time, in windows of 60 ms.
    package static let lowLatency = ScanTiming(Slots(rawValue: 96), Slots(rawValue: 96))

    /// The shortest window, and so the shortest interval.
    static let shortest = Slots(rawValue: 0x0004).duration
    /// The longest interval of the extended commands: 65,535 steps, which is 40.959375 s.
    static let longest = Duration.milliseconds(40_960)
    /// The longest interval of the legacy commands.
    static let longestLegacy = Slots(rawValue: 0x4000).duration

    /// Throws when the interval is longer than the legacy commands accept.
    func checkLegacy() throws(BLEError) {
        try Self.check(interval, .legacyScanInterval, to: Self.longestLegacy)
    }

    private static func check(
        _ time: Duration, _ parameter: BLEError.TimeParameter, to longest: Duration
    ) throws(BLEError) {
        guard (shortest...longest).contains(time) else {
            throw .timeOutOfRange(parameter, allowed: shortest...max(shortest, longest), value: time)
        }
    }

    /// The share of the time in which the receiver listens: more than 0, at most 1.
    package var share: Double { Double(Slots(window).rawValue) / Double(Slots(interval).rawValue) }

    /// Returns the timing reduced to a share of the time: in the same intervals, or, when the windows would
    /// be longer than `longestTurn`, in shorter ones. A scan and a connection attempt that share the radio
    /// thus wait for each other for one such turn at most.
    func limited(to share: Double, inTurnsOf longestTurn: Duration? = nil) -> ScanTiming {
        guard share < self.share || longestTurn.map({ $0 < window }) ?? false else { return self }
        let share = min(share, self.share)
        var steps = Double(Slots(interval).rawValue)
        if let turn = longestTurn { steps = min(steps, Double(Slots(turn).rawValue) / share) }
        // No window is shorter than four steps.
        let listening = max((steps * share).rounded(.down), 4)
        steps = min(max(steps, listening / share).rounded(.down), 65_535)
        return ScanTiming(Slots(rawValue: UInt16(steps)), Slots(rawValue: UInt16(min(listening, steps))))
    }
}

extension ScanOptions.Preset {
    package var timing: ScanTiming {
        switch self {
        case .lowPower: .lowPower
        case .balanced: .balanced
        case .lowLatency: .lowLatency
        }
    }
}
