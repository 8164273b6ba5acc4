import ATT

/// What the owner of a server chooses.
public struct ServerOptions: Sendable {
    /// The largest ATT packet that links take which begin from now on, 23 to 517 octets. The links that this host makes
    /// as a central have their own (`ConnectionOptions.mtu`).
    public var mtu = ATTMTU.maximum
    /// The number of prepared writes that one central may queue.
    public var prepareQueueLimit = 64
    /// Decides where an attribute's permissions want authorization. Without it, all such requests are refused.
    public var authorize: (@Sendable (GATTAuthorizationRequest) -> Bool)?

    /// Creates the options that a server has by default.
    public init() {}
}
