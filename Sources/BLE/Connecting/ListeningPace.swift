import BLECore

/// How the radio listens for devices that requests wait for: all the time at first, and in the background
/// when all of the requests are patient (Core Specification 5.4, Vol 3, Part C, 9.3.11 and Appendix A).
struct ListeningPace {
    /// The duty cycle at present.
    let preset: ScanOptions.Preset
    /// When the duty cycle changes, if it does.
    let end: Instant?

    /// How long a request that has no time limit is eager: TGAP(scan_fast_period).
    static let eagerTime = Duration.milliseconds(30_720)

    /// The most eager of those requests decides; without any it listens all the time.
    init(of requests: [ConnectState.Request], at now: Instant) {
        let eager = requests.filter { $0.isEager(at: now) }
        if eager.isEmpty,
            let preset = requests.map(\.options.background).max(by: { $0.timing.share < $1.timing.share })
        {
            (self.preset, end) = (preset, nil)
        } else {
            let ends = eager.compactMap(\.eagerUntil)
            (preset, end) = (.lowLatency, ends.count == eager.count ? ends.max() : nil)
        }
    }
}
