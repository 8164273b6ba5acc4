import BLECore
import HCI

/// The answer to connection parameters that a peer requests, by L2CAP signaling (Core Specification 5.4, Vol 3,
/// Part A, 4.20) or by the link layer (Vol 6, Part B, 5.1.7). Parameters that the specification does not allow
/// are always refused. On kernel adapters the kernel answers.
public enum ParameterRequestPolicy: Sendable {
    /// Accepts all parameters that the specification allows.
    case accept
    /// Accepts parameters whose interval is within these limits, with at most this latency and supervision
    /// timeout.
    case limited(
        interval: ClosedRange<Duration>, latency: Int = 499, supervisionTimeout: Duration = .seconds(32))
    /// Refuses all parameters, whatever their values.
    case refuse
    /// Accepts parameters for which the closure returns true. It runs on the adapter's loop and must not block.
    case decide(@Sendable (DeviceAddress, ConnectionParameters) -> Bool)

    /// Returns whether the policy accepts these parameters for `peer`.
    func admits(_ wanted: LEConnectionParameters, of peer: DeviceAddress) -> Bool {
        guard wanted.isInRange else { return false }
        let timing = ConnectionParameters(wanted)
        return switch self {
        case .accept: true
        case .refuse: false
        case .limited(let interval, let latency, let timeout):
            interval.contains(timing.interval.lowerBound) && interval.contains(timing.interval.upperBound)
                && timing.latency <= latency && timing.supervisionTimeout <= timeout
        case .decide(let decide): decide(peer, timing)
        }
    }
}
