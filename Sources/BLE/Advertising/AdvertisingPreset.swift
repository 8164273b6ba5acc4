/// An advertising interval, chosen by what the advertisement is for.
///
/// The intervals are among those that Apple recommends for accessories (Accessory Design Guidelines,
/// "Advertising Interval"). Apple's devices scan in windows at certain times: these intervals soon coincide
/// with a window, while others of a similar length can miss the windows for a long time. Other scanners have
/// no such preference.
public enum AdvertisingPreset: String, Hashable, Sendable, CaseIterable {
    /// 20 ms: a device that scans finds it at once. Use it for as long as a user waits; Apple recommends at
    /// least 30 s.
    case lowLatency = "low-latency"
    /// 152.5 ms: a device that scans finds it within a second.
    case balanced
    /// 417.5 ms: a device that scans finds it within some seconds.
    case lowPower = "low-power"
    /// 1,022.5 ms: for a device that advertises all day and is found in the background.
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
