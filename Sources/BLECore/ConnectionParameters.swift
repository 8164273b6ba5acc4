/// The connection parameters that a host requests (Core Specification 5.4, Vol 4, Part E, 7.8.12).
public struct ConnectionParameters: Hashable, Sendable {
    /// The time between two connection events, 7.5 ms to 4 s. Controllers count in steps of 1.25 ms, to
    /// which other values are rounded.
    public var interval: ClosedRange<Duration>
    /// The number of consecutive connection events that the peripheral can skip, 0 to 499.
    public var latency: Int
    /// The supervision timeout: the time without a received packet after which the link is lost. The range is
    /// 100 ms to 32 s, and values are rounded to steps of 10 ms. It must be more than twice the maximum
    /// interval times one more than the latency.
    public var supervisionTimeout: Duration

    /// Creates connection parameters. The default values are those with which a host starts.
    public init(
        interval: ClosedRange<Duration> = .milliseconds(15) ... .milliseconds(30), latency: Int = 0,
        supervisionTimeout: Duration = .seconds(4)
    ) {
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }
}
