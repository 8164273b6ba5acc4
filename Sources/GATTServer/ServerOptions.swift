import ATT

/// The settings that the owner of a server chooses.
public struct ServerOptions: Sendable {
    /// The largest ATT packet that this host accepts on links that begin from now on, 23 to 517 octets. Links
    /// that this host makes as a central have their own setting (`ConnectionOptions.mtu`).
    public var mtu = ATTMTU.maximum
    /// The maximum number of prepared writes that one central can queue.
    public var prepareQueueLimit = 64
    /// Decides on requests for attributes whose permissions require authorization. If nil, all such requests
    /// are rejected.
    public var authorize: (@Sendable (GATTAuthorizationRequest) -> Bool)?

    /// Creates the default options of a server.
    public init() {}
}
