import HCI

/// What a link was negotiated to be.
public struct LinkParameters: Hashable, Sendable {
    /// How a link keeps time (Core Specification 5.4, Vol 6, Part B, 4.5.1).
    public struct Timing: Hashable, Sendable {
        /// Time between two connection events.
        public var interval: Duration
        /// Connection events in a row that the peripheral may leave out.
        public var latency: Int
        /// Silence after which the link counts as lost.
        public var supervisionTimeout: Duration
    }

    /// The physical layers of a link, one for each way.
    public struct PHYs: Hashable, Sendable {
        /// For sending.
        public var transmit: PHY
        /// For receiving.
        public var receive: PHY

        /// What a link begins with that was made on LE 1M, as all are that this host makes or takes.
        static let initial = PHYs(transmit: .le1M, receive: .le1M)
    }

    /// How it keeps time; nil where the kernel does not tell.
    public var timing: Timing?
    /// Its physical layers; nil where the kernel does not tell.
    public var phys: PHYs?
    /// The largest ATT packet, in octets (ATT_MTU).
    public var mtu: Int
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
