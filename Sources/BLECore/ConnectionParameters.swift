/// The connection parameters that a host asks for (Core Specification 5.4, Vol 4, Part E, 7.8.12).
public struct ConnectionParameters: Hashable, Sendable {
    /// The time between two connection events, 7.5 ms to 4 s. Controllers count in steps of 1.25 ms.
    public var interval: ClosedRange<Duration>
    /// The number of connection events in a row that the peripheral may skip, 0 to 499.
    public var latency: Int
    /// The silence after which the link counts as lost, 100 ms to 32 s, in steps of 10 ms. It is more than twice the
    /// longest interval, times one more than the latency.
    public var supervisionTimeout: Duration

    /// Creates parameters. Those that are left out are what a host begins with.
    public init(
        interval: ClosedRange<Duration> = .milliseconds(15) ... .milliseconds(30), latency: Int = 0,
        supervisionTimeout: Duration = .seconds(4)
    ) {
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }
}
