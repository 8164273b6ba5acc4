import BLECore

/// The gain or loss of the RF path between controller and antenna, such as that of a cable or amplifier (Core
/// Specification 5.4, Vol 4, Part E, 7.8.75).
package struct RFPathCompensation: HCIParameters {
    /// The fields in the order of the wire.
    package static let layout = HCILayout(
        "RF_TX_Path_Compensation_Value, RF_RX_Path_Compensation_Value", Self.init
    ) {
        ($0.transmit, $0.receive)
    }
    package static let packetName = "RF path compensation"

    /// The compensation for sending, in units of 0.1 dB, -1,280 to 1,280.
    package var transmit: Int16
    /// The compensation for receiving, in units of 0.1 dB, -1,280 to 1,280.
    package var receive: Int16

    /// Creates the compensation. The unit is 0.1 dB.
    package init(transmit: Int16, receive: Int16) { (self.transmit, self.receive) = (transmit, receive) }
}

/// Reads the RF path compensation, which the controller includes in reported power values.
package struct LEReadRFPathCompensation: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.75.
    package static let definition = command(.leReadRFPathCompensation, "", Self.init) { _ in }
    package typealias ReturnParameters = RFPathCompensation

    package init() {}
}

extension RFPathCompensation: HCIField {}

/// Sets the RF path compensation, which the controller includes in reported power values.
package struct LEWriteRFPathCompensation: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.76.
    package static let definition = command(
        .leWriteRFPathCompensation, "RF_TX_Path_Compensation_Value", Self.init
    ) {
        $0.compensation
    }

    package var compensation: RFPathCompensation

    package init(compensation: RFPathCompensation) { self.compensation = compensation }
}

/// Reads the current and the maximum transmit power of a connection on a PHY.
package struct LEEnhancedReadTransmitPowerLevel: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.117.
    package static let definition = command(
        .leEnhancedReadTransmitPowerLevel, "Connection_Handle, PHY", Self.init
    ) {
        ($0.connection, $0.phy)
    }

    package var connection: ConnectionHandle
    package var phy: PHYAndCoding

    package init(connection: ConnectionHandle, phy: PHYAndCoding) {
        (self.connection, self.phy) = (connection, phy)
    }

    package struct ReturnParameters: HCIParameters {
        /// The fields in the order of the wire.
        package static let layout = HCILayout(
            "Connection_Handle, PHY, Current_TX_Power_Level, Max_TX_Power_Level", Self.init
        ) {
            ($0.connection, $0.phy, $0.current, $0.greatest)
        }
        package static let packetName = "transmit power levels"

        package var connection: ConnectionHandle
        package var phy: PHYAndCoding
        /// The current power in dBm, -127 to 20; 127 if it is not available.
        package var current: Int8
        /// The maximum power in dBm, -127 to 20.
        package var greatest: Int8

        package init(connection: ConnectionHandle, phy: PHYAndCoding, current: Int8, greatest: Int8) {
            (self.connection, self.phy, self.current, self.greatest) = (connection, phy, current, greatest)
        }
    }
}

/// Reads the transmit power of a connected peer on a PHY. LE Transmit Power Reporting follows.
package struct LEReadRemoteTransmitPowerLevel: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.118.
    package static let definition = command(
        .leReadRemoteTransmitPowerLevel, "Connection_Handle, PHY", Self.init
    ) {
        ($0.connection, $0.phy)
    }
    /// LE Transmit Power Reporting follows.
    package static let answer = HCIAnswer.status

    package var connection: ConnectionHandle
    package var phy: PHYAndCoding

    /// Creates a command for the peer of `connection` and the PHY `phy`.
    package init(connection: ConnectionHandle, phy: PHYAndCoding) {
        (self.connection, self.phy) = (connection, phy)
    }
}

/// Enables or disables the reports of power changes on a connection.
package struct LESetTransmitPowerReportingEnable: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.121.
    package static let definition = command(
        .leSetTransmitPowerReportingEnable, "Connection_Handle, Local_Enable, Remote_Enable", Self.init
    ) {
        ($0.connection, $0.local, $0.remote)
    }
    package typealias ReturnParameters = Returned<ConnectionHandle>

    package var connection: ConnectionHandle
    /// Whether the controller reports changes on this side.
    package var local: HCIFlag
    /// Whether the controller reports changes on the peer's side.
    package var remote: HCIFlag

    package init(connection: ConnectionHandle, local: HCIFlag, remote: HCIFlag) {
        (self.connection, self.local, self.remote) = (connection, local, remote)
    }
}
