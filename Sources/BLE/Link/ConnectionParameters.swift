import HCI

/// How a link keeps time (Core Specification 5.4, Vol 6, Part B, 4.5.2).
public struct ConnectionParameters: Hashable, Sendable {
    /// Time between two connection events.
    public var interval: Duration
    /// Connection events that the peripheral may leave out.
    public var latency: Int
    /// Silence after which the link counts as lost.
    public var supervisionTimeout: Duration

    init(_ event: LEConnectionComplete) {
        interval = .microseconds(1250 * Int64(event.interval))
        latency = Int(event.latency)
        supervisionTimeout = .milliseconds(10 * Int64(event.supervisionTimeout))
    }
}
