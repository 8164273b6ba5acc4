import BLECore
import GATTServer
import HCI

extension GenericServices.PreferredConnection {
    /// What a peripheral would like: the characteristic Peripheral Preferred Connection Parameters (Core
    /// Specification 5.4, Vol 3, Part C, 12.3).
    ///
    /// - Throws: `BLEError.timeOutOfRange` and the like for parameters that no link can have.
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
            throw .timeOutOfRange(.connectionInterval, allowed: limits, value: bound)
        }
        guard (0...499).contains(latency) else {
            throw .outOfRange(.latency, allowed: 0...499, value: latency)
        }
        let timeouts = Duration.milliseconds(100)...Duration.seconds(32)
        guard timeouts.contains(supervisionTimeout) else {
            throw .timeOutOfRange(.supervisionTimeout, allowed: timeouts, value: supervisionTimeout)
        }
        let parameters = ConnectionParameters(
            intervalMin: ConnectionInterval(interval.lowerBound),
            intervalMax: ConnectionInterval(interval.upperBound), latency: UInt16(latency),
            supervisionTimeout: Centiseconds(supervisionTimeout))
        let least = parameters.intervalMax.duration * 2 * (1 + latency)
        guard parameters.supervisionTimeout.duration > least else {
            throw .invalidRequest(.supervisionTimeoutTooShort(supervisionTimeout, moreThan: least))
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
