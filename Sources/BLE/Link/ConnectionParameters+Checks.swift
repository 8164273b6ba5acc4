import BLECore
import HCI

extension ConnectionParameters {
    /// The parameters as controllers count them: the interval in steps of 1.25 ms, the timeout in steps of
    /// 10 ms, each the nearest.
    ///
    /// - Throws: `BLEError.timeOutOfRange` and the like for parameters that no link can have.
    package func checked() throws(BLEError) -> LEConnectionParameters {
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
        let parameters = LEConnectionParameters(
            intervalMin: ConnectionInterval(interval.lowerBound),
            intervalMax: ConnectionInterval(interval.upperBound), latency: UInt16(latency),
            supervisionTimeout: Centiseconds(supervisionTimeout))
        let least = parameters.intervalMax.duration * 2 * (1 + latency)
        guard parameters.supervisionTimeout.duration > least else {
            throw .invalidRequest(.supervisionTimeoutTooShort(supervisionTimeout, moreThan: least))
        }
        return parameters
    }

    /// Creates the parameters that a peer requests.
    init(_ parameters: LEConnectionParameters) {
        let (least, most) = (parameters.intervalMin.duration, parameters.intervalMax.duration)
        self.init(
            interval: min(least, most)...max(least, most), latency: Int(parameters.latency),
            supervisionTimeout: parameters.supervisionTimeout.duration)
    }
}
