import BLECore

/// Makes the controller's sleep clock more or less accurate: a test of what its peers then do.
public struct LEModifySleepClockAccuracy: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.94.
    public static let definition = command(.leModifySleepClockAccuracy, "action", Self.init) { $0.action }

    /// Which way.
    public struct Action: HCICode {
        /// The octet.
        public let rawValue: UInt8

        /// The action of that octet.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// To a more accurate clock.
        public static let moreAccurate = Action(rawValue: 0x00)
        /// To a less accurate clock.
        public static let lessAccurate = Action(rawValue: 0x01)
    }

    /// Which way.
    public var action: Action

    /// That change.
    public init(action: Action) { self.action = action }
}

/// Asks a connected peer how accurate its sleep clock is. LE Request Peer SCA Complete follows.
public struct LERequestPeerSCA: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.108.
    public static let definition = command(.leRequestPeerSCA, "handle", Self.init) { $0.connection }
    /// LE Request Peer SCA Complete follows.
    public static let answer = HCIAnswer.status

    /// The connection.
    public var connection: ConnectionHandle

    /// Asks the peer of `connection`.
    public init(connection: ConnectionHandle) { self.connection = connection }
}
