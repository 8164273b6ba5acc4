import BLECore
import GATTServer
import HCI

/// The negotiated parameters of a link.
public struct LinkParameters: Hashable, Sendable {
    /// The timing of a link's connection events (Core Specification 5.4, Vol 6, Part B, 4.5.1).
    package struct Timing: Hashable, Sendable {
        package var interval: Duration
        package var latency: Int
        package var supervisionTimeout: Duration
    }

    /// The physical layers of a link, one for each direction.
    public struct PHYs: Hashable, Sendable {
        /// The PHY on which this host sends.
        public var transmit: PHY
        /// The PHY on which the peer sends.
        public var receive: PHY
    }

    /// The maximum packet lengths of a link, for each direction (Core Specification 5.4, Vol 6, Part B,
    /// 4.5.10).
    public struct DataLengths: Hashable, Sendable {
        /// The length and time of packets that this host sends.
        public var transmit: DataLength
        /// The length and time of packets that the peer sends.
        public var receive: DataLength

        /// The lengths with which every link begins: 27 octets in 328 µs.
        static let initial = DataLengths(
            transmit: DataLength(octets: 27, time: 328), receive: DataLength(octets: 27, time: 328))
    }

    /// The time between two connection events; nil where the kernel does not report it.
    public var interval: Duration? { timing?.interval }
    /// The number of connection events in a row that the peripheral may skip; nil where the kernel does not report it.
    public var latency: Int? { timing?.latency }
    /// The silence after which the link counts as lost; nil where the kernel does not report it.
    public var supervisionTimeout: Duration? { timing?.supervisionTimeout }
    package var timing: Timing?
    /// The PHYs of the link; nil until they are reported.
    public var phys: PHYs?
    /// The maximum packet lengths; nil where the kernel does not report them.
    public var dataLengths: DataLengths?
    /// The largest ATT packet, in octets (ATT_MTU).
    public var mtu: Int
    /// The security level and the size of the key; `none` while the link is not encrypted.
    public var security = LinkSecurity.none
}

/// The parameters of a link that the controller reports.
struct RadioParameters: Hashable, Sendable {
    var timing: LinkParameters.Timing?
    var phys: LinkParameters.PHYs?
    var dataLengths: LinkParameters.DataLengths?

    /// The parameters of a link of which nothing was reported.
    static let unknown = RadioParameters()

    /// Creates the initial parameters of a link that was established on LE 1M.
    init(_ event: LEConnectionComplete) {
        timing = LinkParameters.Timing(event)
        phys = LinkParameters.PHYs(transmit: .le1M, receive: .le1M)
        dataLengths = .initial
    }

    private init() {}
}

extension LinkParameters.Timing {
    init(_ event: LEConnectionComplete) {
        interval = event.interval.duration
        latency = Int(event.latency)
        supervisionTimeout = event.supervisionTimeout.duration
    }

    init(_ event: LEConnectionUpdateComplete) {
        interval = event.interval.duration
        latency = Int(event.latency)
        supervisionTimeout = event.supervisionTimeout.duration
    }
}

extension ConnectionParameters {
    /// Returns the parameters in the units of controllers, each rounded to the nearest: the interval in steps
    /// of 1.25 ms, the timeout in steps of 10 ms.
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
