import BLECore

/// The transmit power of a connection has changed, or was requested.
package struct LETransmitPowerReporting: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.33.
    package static let definition = event(
        .transmitPowerReporting,
        "Status, Connection_Handle, Reason, PHY, TX_Power_Level, TX_Power_Level_Flag, Delta", Self.init
    ) {
        ($0.status, $0.connection, $0.reason, $0.phy, $0.level, $0.flags, $0.delta)
    }

    /// The reason for the event.
    package struct Reason: HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The power of this side has changed.
        package static let localChange = Reason(rawValue: 0x00)
        /// The power of the peer has changed.
        package static let remoteChange = Reason(rawValue: 0x01)
        /// The event is the result of LE Read Remote Transmit Power Level.
        package static let readRemote = Reason(rawValue: 0x02)
    }

    /// The position of a level within the range of supported levels.
    package struct Flags: OptionSet, HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The power is at the minimum level.
        package static let least = Flags(rawValue: 1 << 0)
        /// The power is at the maximum level.
        package static let greatest = Flags(rawValue: 1 << 1)
    }

    package var status: HCIStatus
    package var connection: ConnectionHandle
    package var reason: Reason
    /// The PHY that the power level applies to.
    package var phy: PHYAndCoding
    /// The power in dBm, -127 to 20; 126 if the peer does not manage it on this PHY, 127 if it is not
    /// available.
    package var level: Int8
    /// Whether the level is the minimum or the maximum that the controller supports.
    package var flags: Flags
    /// The change in dB; 127 if it is not available.
    package var delta: Int8

    package init(
        status: HCIStatus = .success, connection: ConnectionHandle, reason: Reason, phy: PHYAndCoding,
        level: Int8, flags: Flags = [], delta: Int8
    ) {
        (self.status, self.connection, self.reason) = (status, connection, reason)
        (self.phy, self.level, self.flags, self.delta) = (phy, level, flags, delta)
    }
}
