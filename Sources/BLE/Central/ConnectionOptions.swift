import ATT
import BLECore
import HCI
import HCISocket

/// The settings with which a link is established and prepared.
public struct ConnectionOptions: Hashable, Sendable {
    /// The largest ATT packet that this host accepts, in octets, 23 to 517; it is offered to the peer.
    public var mtu: ATTMTU = .maximum
    /// The security level to reach before anything else is done.
    public var security = SecurityLevel.open
    /// Whether a link to a bonded peer is encrypted with the bond's key before anything else is done on it. If the
    /// peer does not have the key, connecting fails with `BLEError.bondLost`, because another device may use the
    /// peer's address. If false, the link is used as it is, and proves nothing about the peer.
    public var encryptsIfBonded = true
    /// Whether the link's security is raised, if necessary by pairing, when the server refuses a request for
    /// insufficient security. The request is then repeated once.
    public var raisesSecurity = true

    /// The connection parameters; nil leaves them to the host.
    public var parameters: ConnectionParameters?
    /// The PHYs to send and to receive on, if the device supports one of them; nil keeps the PHY on which the
    /// device was received. With LE Coded among them, the host listens for advertising on LE Coded as well as on
    /// LE 1M.
    public var phys: Set<PHY>?
    /// The duty cycle with which the radio listens for the device when a request without a time limit has
    /// waited for 30.72 s. Until then, and for a request with a time limit, the radio listens all the time,
    /// or half of the time beside a scan (Core Specification 5.4, Vol 3, Part C, Appendix A). Of several
    /// waiting requests, the one with the greatest duty cycle decides. On a kernel adapter, the kernel
    /// chooses the duty cycle.
    public var background = ScanOptions.Preset.balanced
    /// The maximum number of attempts to establish the link, 1 or more. An attempt is repeated when the peer
    /// does not respond on the new link (Connection Failed to be Established, 0x3E), or when the kernel was
    /// just ending the link; the latter is attempted at most six times.
    public var establishmentAttempts = 6

    /// Creates the default options: the largest MTU, and no required security.
    public init() {}
}
