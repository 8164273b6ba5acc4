import BLECore

/// What a cable or amplifier between controller and antenna takes or adds (Core Specification 5.4, Vol 4,
/// Part E, 7.8.75).
public struct RFPathCompensation: HCIParameters {
    /// The fields in the order of the wire.
    public static let layout = HCILayout("TX path compensation, RX path compensation", Self.init) {
        ($0.transmit, $0.receive)
    }
    /// For errors.
    public static let packetName = "RF path compensation"

    /// Of what is sent, in tenths of a dB, -1,280 to 1,280.
    public var transmit: Int16
    /// Of what is received, in tenths of a dB, -1,280 to 1,280.
    public var receive: Int16

    /// Those tenths of a dB.
    public init(transmit: Int16, receive: Int16) { (self.transmit, self.receive) = (transmit, receive) }
}

/// Asks what the controller adds to the power that it tells.
public struct LEReadRFPathCompensation: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.75.
    public static let definition = command(.leReadRFPathCompensation, "", Self.init) { _ in }
    /// The compensation.
    public typealias ReturnParameters = RFPathCompensation

    /// A question for it.
    public init() {}
}

extension RFPathCompensation: HCIField {}

/// Says what the controller should add to the power that it tells.
public struct LEWriteRFPathCompensation: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.76.
    public static let definition = command(.leWriteRFPathCompensation, "compensation", Self.init) {
        $0.compensation
    }

    /// The compensation.
    public var compensation: RFPathCompensation

    /// `compensation` from now on.
    public init(compensation: RFPathCompensation) { self.compensation = compensation }
}

/// Asks how strong a connection sends on a PHY, and how strong it could.
public struct LEEnhancedReadTransmitPowerLevel: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.117.
    public static let definition = command(.leEnhancedReadTransmitPowerLevel, "handle, PHY", Self.init) {
        ($0.connection, $0.phy)
    }

    /// The connection.
    public var connection: ConnectionHandle
    /// The PHY.
    public var phy: PHYAndCoding

    /// Asks for `connection` and `phy`.
    public init(connection: ConnectionHandle, phy: PHYAndCoding) {
        (self.connection, self.phy) = (connection, phy)
    }

    /// The levels.
    public struct ReturnParameters: HCIParameters {
        /// The fields in the order of the wire.
        public static let layout = HCILayout("handle, PHY, current level, greatest level", Self.init) {
            ($0.connection, $0.phy, $0.current, $0.greatest)
        }
        /// For errors.
        public static let packetName = "transmit power levels"

        /// The connection.
        public var connection: ConnectionHandle
        /// The PHY.
        public var phy: PHYAndCoding
        /// dBm now, -127 to 20; 127 when it is not known.
        public var current: Int8
        /// dBm at most, -127 to 20.
        public var greatest: Int8

        /// Those levels.
        public init(connection: ConnectionHandle, phy: PHYAndCoding, current: Int8, greatest: Int8) {
            (self.connection, self.phy, self.current, self.greatest) = (connection, phy, current, greatest)
        }
    }
}

/// Asks a connected peer how strong it sends on a PHY. LE Transmit Power Reporting follows.
public struct LEReadRemoteTransmitPowerLevel: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.118.
    public static let definition = command(.leReadRemoteTransmitPowerLevel, "handle, PHY", Self.init) {
        ($0.connection, $0.phy)
    }
    /// LE Transmit Power Reporting follows.
    public static let answer = HCIAnswer.status

    /// The connection.
    public var connection: ConnectionHandle
    /// The PHY.
    public var phy: PHYAndCoding

    /// Asks the peer of `connection` for `phy`.
    public init(connection: ConnectionHandle, phy: PHYAndCoding) {
        (self.connection, self.phy) = (connection, phy)
    }
}

/// Chooses whose changes of power on a connection are told.
public struct LESetTransmitPowerReportingEnable: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.121.
    public static let definition = command(
        .leSetTransmitPowerReportingEnable, "handle, local enable, remote enable", Self.init
    ) {
        ($0.connection, $0.local, $0.remote)
    }
    /// The connection.
    public typealias ReturnParameters = Returned<ConnectionHandle>

    /// The connection.
    public var connection: ConnectionHandle
    /// Whether changes on this side are told.
    public var local: HCIFlag
    /// Whether changes on the peer's side are told.
    public var remote: HCIFlag

    /// That choice for `connection`.
    public init(connection: ConnectionHandle, local: HCIFlag, remote: HCIFlag) {
        (self.connection, self.local, self.remote) = (connection, local, remote)
    }
}
