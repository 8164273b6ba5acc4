/// How often to advertise, when one does not want to choose an interval.
///
/// The intervals are of those that Apple asks of accessories (Accessory Design Guidelines, "Advertising
/// Interval"): its devices scan in windows at certain times, which these intervals meet soon and others of a
/// similar length may miss for long. Other scanners have no such preference, so nothing is lost with them.
public enum AdvertisingPreset: String, Hashable, Sendable, CaseIterable {
    /// 20 ms: found at once, for as long as a user waits for it; Apple advises 30 s at least.
    case lowLatency = "low-latency"
    /// 152.5 ms: found within a second by who looks for it.
    case balanced
    /// 417.5 ms: found within some seconds.
    case lowPower = "low-power"
    /// 1,022.5 ms: for what is on air all day and found in the background.
    case background

    /// The time from one advertising event to the next.
    package var interval: Duration {
        switch self {
        case .lowLatency: .milliseconds(20)
        case .balanced: .microseconds(152_500)
        case .lowPower: .microseconds(417_500)
        case .background: .microseconds(1_022_500)
        }
    }
}
