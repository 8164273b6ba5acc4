import BLECore

/// Requests longer data packets on a connection. LE Data Length Change follows if the length changes.
package struct LESetDataLength: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.33.
    package static let definition = command(.leSetDataLength, "Connection_Handle, TX_Octets", Self.init) {
        ($0.connection, $0.transmit)
    }
    package typealias ReturnParameters = Returned<ConnectionHandle>

    package var connection: ConnectionHandle
    /// The maximum size of the packets that this side sends.
    package var transmit: DataLength

    package init(connection: ConnectionHandle, transmit: DataLength) {
        (self.connection, self.transmit) = (connection, transmit)
    }
}

/// Reads the suggested length of data packets for new connections.
package struct LEReadSuggestedDefaultDataLength: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.34.
    package static let definition = command(.leReadSuggestedDefaultDataLength, "", Self.init) { _ in }
    /// The suggested length and time of sent packets.
    package typealias ReturnParameters = DataLength

    package init() {}
}

/// Sets the suggested length of data packets for new connections.
package struct LEWriteSuggestedDefaultDataLength: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.35.
    package static let definition = command(
        .leWriteSuggestedDefaultDataLength, "Suggested_Max_TX_Octets", Self.init
    ) {
        $0.transmit
    }

    /// The suggested length and time of sent packets.
    package var transmit: DataLength

    package init(transmit: DataLength) { self.transmit = transmit }
}

/// Reads the maximum length of data packets that the controller supports.
package struct LEReadMaximumDataLength: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.46.
    package static let definition = command(.leReadMaximumDataLength, "", Self.init) { _ in }

    package init() {}

    package struct ReturnParameters: HCIParameters {
        /// The fields in the order of the wire.
        package static let layout = HCILayout("Supported_Max_TX_Octets, Supported_Max_RX_Octets", Self.init) {
            ($0.transmit, $0.receive)
        }
        package static let packetName = "maximum data length"

        package var transmit: DataLength
        package var receive: DataLength

        package init(transmit: DataLength, receive: DataLength) {
            (self.transmit, self.receive) = (transmit, receive)
        }
    }
}

/// Reads the PHYs of a connection.
package struct LEReadPHY: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.47.
    package static let definition = command(.leReadPHY, "Connection_Handle", Self.init) { $0.connection }

    package var connection: ConnectionHandle

    package init(connection: ConnectionHandle) { self.connection = connection }

    package struct ReturnParameters: HCIParameters {
        /// The fields in the order of the wire.
        package static let layout = HCILayout("Connection_Handle, TX_PHY, RX_PHY", Self.init) {
            ($0.connection, $0.transmit, $0.receive)
        }
        package static let packetName = "PHYs"

        package var connection: ConnectionHandle
        package var transmit: PHY
        package var receive: PHY

        package init(connection: ConnectionHandle, transmit: PHY, receive: PHY) {
            (self.connection, self.transmit, self.receive) = (connection, transmit, receive)
        }
    }
}

/// Sets the preferred PHYs for new connections.
package struct LESetDefaultPHY: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.48.
    package static let definition = command(.leSetDefaultPHY, "All_PHYs", Self.init) { $0.preference }

    package var preference: PHYPreference

    package init(preference: PHYPreference) { self.preference = preference }
}

/// Changes the PHYs of a connection. LE PHY Update Complete follows.
package struct LESetPHY: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.49.
    package static let definition = command(
        .leSetPHY, "Connection_Handle, All_PHYs, PHY_Options", Self.init
    ) {
        ($0.connection, $0.preference, $0.coding)
    }
    /// LE PHY Update Complete follows.
    package static let answer = HCIAnswer.status

    package var connection: ConnectionHandle
    package var preference: PHYPreference
    /// The preferred coding on LE Coded.
    package var coding: PHYCoding

    package init(connection: ConnectionHandle, preference: PHYPreference, coding: PHYCoding = .any) {
        (self.connection, self.preference, self.coding) = (connection, preference, coding)
    }
}

/// Reads the range of transmit power that the controller supports.
package struct LEReadTransmitPower: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.74.
    package static let definition = command(.leReadTransmitPower, "", Self.init) { _ in }

    package init() {}

    package struct ReturnParameters: HCIParameters {
        /// The fields in the order of the wire.
        package static let layout = HCILayout("Min_TX_Power, Max_TX_Power", Self.init) {
            ($0.minimum, $0.maximum)
        }
        package static let packetName = "transmit power"

        /// The minimum power in dBm, -127 to 20.
        package var minimum: Int8
        /// The maximum power in dBm, -127 to 20.
        package var maximum: Int8

        package init(minimum: Int8, maximum: Int8) { (self.minimum, self.maximum) = (minimum, maximum) }
    }
}

/// Reads the antenna features of the controller.
package struct LEReadAntennaInformation: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.87.
    package static let definition = command(.leReadAntennaInformation, "", Self.init) { _ in }

    package init() {}

    package struct ReturnParameters: HCIParameters {
        /// The fields in the order of the wire.
        package static let layout = HCILayout(
            "Supported_Switching_Sampling_Rates, Num_Antennae, Max_Switching_Pattern_Length, Max_CTE_Length",
            Self.init
        ) {
            ($0.samplingRates, $0.antennas, $0.maxPatternLength, $0.maxCTELength)
        }
        package static let packetName = "antenna information"

        /// The supported rates: bit 0 is 1 us switching while sending, bit 1 is 1 us sampling, bit 2 is both
        /// while receiving.
        package var samplingRates: UInt8
        /// The number of antennas, 1 to 75.
        package var antennas: UInt8
        /// The maximum length of a switching pattern, 2 to 75.
        package var maxPatternLength: UInt8
        /// The maximum length of a constant tone extension in units of 8 us, 2 to 20.
        package var maxCTELength: UInt8

        package init(samplingRates: UInt8, antennas: UInt8, maxPatternLength: UInt8, maxCTELength: UInt8) {
            (self.samplingRates, self.antennas) = (samplingRates, antennas)
            (self.maxPatternLength, self.maxCTELength) = (maxPatternLength, maxCTELength)
        }
    }
}
