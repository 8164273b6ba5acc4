/// How an advertisement came to its end, when nothing went wrong.
public enum AdvertisingEnd: Hashable, Sendable {
    /// It was stopped by who started it.
    case stopped
    /// Its `duration` is over, or the 1.28 s of the high duty cycle.
    case timeLimit
    /// As many events as its `maximumEvents` were sent.
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
