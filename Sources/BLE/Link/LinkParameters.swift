import HCI

/// What a link was negotiated to be (Core Specification 5.4, Vol 6, Part B, 4.5.1).
public struct LinkParameters: Hashable, Sendable {
    /// Time between two connection events.
    public var interval: Duration
    /// Connection events in a row that the peripheral may leave out.
    public var latency: Int
    /// Silence after which the link counts as lost.
    public var supervisionTimeout: Duration

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
