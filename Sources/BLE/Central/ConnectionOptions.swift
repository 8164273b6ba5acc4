import ATT
import HCISocket

/// What a new link shall be like.
public struct ConnectionOptions: Hashable, Sendable {
    /// The largest ATT packet that this host takes, in octets, 23 to 517; it is offered to the peer.
    public var mtu: ATTMTU = .maximum
    /// The security to reach before anything else is done.
    public var security = LinkSecurityLevel.low

    /// A link with the largest packets and no security of its own.
    public init() {}
}
