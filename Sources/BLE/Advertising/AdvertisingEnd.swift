/// How an advertisement ended, when no error ended it.
public enum AdvertisingEnd: Hashable, Sendable {
    /// It was stopped by `Advertising.stop()` or by closing the adapter.
    case stopped
    /// The `duration` of the request has passed, or the 1.28 s of the high duty cycle.
    case timeLimit
    /// The `maximumEvents` of the request have been sent.
    case eventLimit
}

extension AdvertisingEnd: CustomStringConvertible {
    /// A phrase without a final period, as in `its time is over`.
    public var description: String {
        switch self {
        case .stopped: "stopped"
        case .timeLimit: "its time is over"
        case .eventLimit: "all its events are sent"
        }
    }
}
