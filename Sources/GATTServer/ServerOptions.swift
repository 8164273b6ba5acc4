import ATT

/// What the owner of a server chooses.
public struct ServerOptions: Sendable {
    /// The largest ATT packet that this host takes on links that begin from now on, 23 to 517 octets. The links
    /// that this host makes as a central have their own (`ConnectionOptions.mtu`).
    public var mtu = ATTMTU.maximum
    /// The number of prepared writes that one central may queue.
    public var prepareQueueLimit = 64
    /// Decides on requests for attributes whose permissions require authorization. Nil refuses all such requests.
    public var authorize: (@Sendable (GATTAuthorizationRequest) -> Bool)?

    /// Creates the options that a server has by default.
    public init() {}
}
