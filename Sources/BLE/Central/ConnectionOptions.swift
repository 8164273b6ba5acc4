import ATT
import BLECore
import HCI
import HCISocket

/// What a new link shall be like.
public struct ConnectionOptions: Hashable, Sendable {
    /// The largest ATT packet that this host takes, in octets, 23 to 517; it is offered to the peer.
    public var mtu: ATTMTU = .maximum
    /// The security to reach before anything else is done.
    public var security = SecurityLevel.open
    /// Whether a new link to a bonded peer is encrypted before anything else is done on it.
    public var encryptsIfBonded = true
    /// Whether the security may be raised, which may pair, when the server refuses something for want of it;
    /// the request is then repeated once.
    public var raisesSecurity = true

    /// The connection parameters; nil leaves them to the host.
    public var parameters: ConnectionParameters?
    /// The physical layers to send and to receive on, if the device has one of them; nil: the one that it
    /// was received on. With LE Coded, advertising on that is listened for as well as on LE 1M.
    public var phys: Set<PHY>?
    /// How the radio listens for the device when a connect without a time limit has waited for 30.72 s; until then, and
    /// with a time limit, it listens all the time, beside a scan half of it (Core Specification 5.4, Vol 3, Part C,
    /// Appendix A). Of several that wait the most eager one decides. A kernel adapter listens as the kernel does.
    public var background = ScanOptions.Preset.balanced
    /// How often a link is tried whose peer never takes part (Connection Failed to be Established, 0x3E) or
    /// that the kernel was just ending, which is tried six times at most. Once at least.
    public var establishmentAttempts = 6

    /// A link with the largest packets and no security of its own.
    public init() {}
}
