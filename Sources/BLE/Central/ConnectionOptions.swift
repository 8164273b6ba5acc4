import ATT
import HCI
import HCISocket

/// What a new link shall be like.
public struct ConnectionOptions: Hashable, Sendable {
    /// The largest ATT packet that this host takes, in octets, 23 to 517; it is offered to the peer.
    public var mtu: ATTMTU = .maximum
    /// The security to reach before anything else is done.
    public var security = LinkSecurityLevel.low
    /// Whether a new link to a bonded peer is encrypted before anything else is done on it.
    public var encryptsIfBonded = true
    /// Whether the security may be raised, which may pair, when the server refuses something for want of it;
    /// the request is then repeated once.
    public var raisesSecurity = true

    /// How the link keeps time; nil leaves it to the host.
    public var timing: Timing?
    /// The physical layers to send on and to receive on, if the device has one of them; nil: the one that it
    /// was heard on. With LE Coded, advertising on that is listened for as well as on LE 1M.
    public var phys: PHYSet?
    /// How often a link is tried whose peer never takes part (Connection Failed to be Established, 0x3E) or
    /// that the kernel was just ending, which is tried six times at most. Once at least.
    public var establishmentAttempts = 6

    /// The connection parameters to ask for (Core Specification 5.4, Vol 4, Part E, 7.8.12).
    public struct Timing: Hashable, Sendable {
        /// Time between two connection events, 7.5 ms to 4 s.
        public var interval: ClosedRange<Duration>
        /// Connection events in a row that the peripheral may leave out, 0 to 499.
        public var latency: Int
        /// Silence after which the link counts as lost, 100 ms to 32 s.
        public var supervisionTimeout: Duration

        /// Parameters; those left out are what a host begins with.
        public init(
            interval: ClosedRange<Duration> = .milliseconds(15) ... .milliseconds(30), latency: Int = 0,
            supervisionTimeout: Duration = .seconds(4)
        ) {
            self.interval = interval
            self.latency = latency
            self.supervisionTimeout = supervisionTimeout
        }
    }

    /// A link with the largest packets and no security of its own.
    public init() {}
}
