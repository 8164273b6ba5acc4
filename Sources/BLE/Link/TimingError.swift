import BLECore
import GATTServer
import HCI

/// Why times cannot be: what is out of its range, and what it was. Those of connections are in Core
/// Specification 5.4, Vol 4, Part E, 7.8.12.
public enum TimingError: Error, Hashable, Sendable {
    /// The interval is 7.5 ms to 4 s.
    case interval(Duration)
    /// The latency is 0 to 499 connection events.
    case latency(Int)
    /// The supervision timeout is 100 ms to 32 s.
    case supervisionTimeout(Duration)
    /// The supervision timeout is longer than `moreThan`: twice the longest interval, times one more than the
    /// latency.
    case supervisionTimeoutTooShort(Duration, moreThan: Duration)
    /// Another time, and the range that it has.
    case outOfRange(String, ClosedRange<Duration>, Duration)
}

extension TimingError: CustomStringConvertible {
    /// One phrase: "the interval is 7.5 ms to 4 s, not 5 ms".
    public var description: String {
        switch self {
        case .interval(let interval): "the interval is 7.5 ms to 4 s, not \(interval)"
        case .latency(let latency): "the latency is 0 to 499 connection events, not \(latency)"
        case .supervisionTimeout(let timeout): "the supervision timeout is 100 ms to 32 s, not \(timeout)"
        case .supervisionTimeoutTooShort(let timeout, let least):
            "the supervision timeout is more than twice the interval with the latency, \(least), not \(timeout)"
        case .outOfRange(let name, let range, let value):
            "\(name) is \(range.lowerBound) to \(range.upperBound), not \(value)"
        }
    }
}

extension GenericServices.PreferredConnection {
    /// What a peripheral would like: the characteristic Peripheral Preferred Connection Parameters (Core
    /// Specification 5.4, Vol 3, Part C, 12.3).
    ///
    /// - Throws: `BLEError.timing` for times that no link can have.
    public init(_ timing: ConnectionOptions.Timing) throws(BLEError) {
        let parameters = try timing.checked()
        self.init(
            minimumInterval: parameters.intervalMin.rawValue,
            maximumInterval: parameters.intervalMax.rawValue, latency: parameters.latency,
            timeout: parameters.supervisionTimeout.rawValue)
    }
}

extension ConnectionOptions.Timing {
    /// The parameters as controllers count them: the interval in steps of 1.25 ms, the timeout in steps of
    /// 10 ms, each the nearest.
    func checked() throws(BLEError) -> ConnectionParameters {
        let limits = Duration.microseconds(7500)...Duration.seconds(4)
        for bound in [interval.lowerBound, interval.upperBound] where !limits.contains(bound) {
            throw .timing(.interval(bound))
        }
        guard (0...499).contains(latency) else { throw .timing(.latency(latency)) }
        guard (Duration.milliseconds(100)...Duration.seconds(32)).contains(supervisionTimeout) else {
            throw .timing(.supervisionTimeout(supervisionTimeout))
        }
        let parameters = ConnectionParameters(
            intervalMin: ConnectionInterval(interval.lowerBound),
            intervalMax: ConnectionInterval(interval.upperBound), latency: UInt16(latency),
            supervisionTimeout: Centiseconds(supervisionTimeout))
        let least = parameters.intervalMax.duration * 2 * (1 + latency)
        guard parameters.supervisionTimeout.duration > least else {
            throw .timing(.supervisionTimeoutTooShort(supervisionTimeout, moreThan: least))
        }
        return parameters
    }

    /// What a peer asks for.
    init(_ parameters: ConnectionParameters) {
        let (least, most) = (parameters.intervalMin.duration, parameters.intervalMax.duration)
        self.init(
            interval: min(least, most)...max(least, most), latency: Int(parameters.latency),
            supervisionTimeout: parameters.supervisionTimeout.duration)
    }
}
