import BLECore

/// The power of a connection has changed, or was asked for.
public struct LETransmitPowerReporting: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.33.
    public static let definition = event(
        .transmitPowerReporting, "status, handle, reason, PHY, level, flags, delta", Self.init
    ) {
        ($0.status, $0.connection, $0.reason, $0.phy, $0.level, $0.flags, $0.delta)
    }

    /// Why it comes.
    public struct Reason: HCICode {
        /// The octet.
        public let rawValue: UInt8

        /// The reason of that octet.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// This side has changed.
        public static let localChange = Reason(rawValue: 0x00)
        /// The peer's side has changed.
        public static let remoteChange = Reason(rawValue: 0x01)
        /// The peer answers LE Read Remote Transmit Power Level.
        public static let readRemote = Reason(rawValue: 0x02)
    }

    /// Where a level stands among those that are possible.
    public struct Flags: OptionSet, HCICode {
        /// The bits.
        public let rawValue: UInt8

        /// The flags of those bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// It is the least.
        public static let least = Flags(rawValue: 1 << 0)
        /// It is the greatest.
        public static let greatest = Flags(rawValue: 1 << 1)
    }

    /// How it went.
    public var status: HCIStatus
    /// The connection.
    public var connection: ConnectionHandle
    /// Why it comes.
    public var reason: Reason
    /// The PHY.
    public var phy: PHYAndCoding
    /// dBm, -127 to 20; 126 when the peer does not manage it on this PHY, 127 when it is not known.
    public var level: Int8
    /// Where the level stands.
    public var flags: Flags
    /// How much it has changed, in dB; 127 when that is not known.
    public var delta: Int8

    /// That level.
    public init(
        status: HCIStatus = .success, connection: ConnectionHandle, reason: Reason, phy: PHYAndCoding,
        level: Int8, flags: Flags = [], delta: Int8
    ) {
        (self.status, self.connection, self.reason) = (status, connection, reason)
        (self.phy, self.level, self.flags, self.delta) = (phy, level, flags, delta)
    }
}
