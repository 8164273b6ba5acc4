import BLECore

/// Sets the advertising parameters. Rejected while advertising is enabled.
package struct LESetAdvertisingParameters: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.5.
    package static let definition = command(
        .leSetAdvertisingParameters,
        """
        Advertising_Interval_Min, Advertising_Interval_Max, Advertising_Type, Own_Address_Type, \
        Peer_Address, Advertising_Channel_Map, Advertising_Filter_Policy
        """, Self.init
    ) {
        ($0.intervalMin, $0.intervalMax, $0.type, $0.ownAddressType, $0.peer, $0.channels, $0.filterPolicy)
    }

    /// The minimum time between advertising events, 20 ms to 10.24 s (0x0020 to 0x4000).
    package var intervalMin: Slots
    /// The maximum time between advertising events, 20 ms to 10.24 s.
    package var intervalMax: Slots
    /// The kind of advertising.
    package var type: AdvertisingType
    /// The address that the packets carry.
    package var ownAddressType: OwnAddressType
    /// The target of directed advertising, or the peer whose resolving list entry provides the own address.
    package var peer: HCIAddress
    package var channels: AdvertisingChannels
    /// The devices whose scan and connection requests are accepted.
    package var filterPolicy: AdvertisingFilterPolicy

    package init(
        intervalMin: Slots, intervalMax: Slots, type: AdvertisingType = .connectable,
        ownAddressType: OwnAddressType = .public, peer: HCIAddress = HCIAddress(0, type: .public),
        channels: AdvertisingChannels = .all, filterPolicy: AdvertisingFilterPolicy = []
    ) {
        (self.intervalMin, self.intervalMax, self.type) = (intervalMin, intervalMax, type)
        (self.ownAddressType, self.peer) = (ownAddressType, peer)
        (self.channels, self.filterPolicy) = (channels, filterPolicy)
    }
}

/// Reads the transmit power of legacy advertising.
package struct LEReadAdvertisingPhysicalChannelTxPower: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.6.
    package static let definition = command(.leReadAdvertisingPhysicalChannelTxPower, "", Self.init) { _ in }
    /// The power in dBm, -127 to 20.
    package typealias ReturnParameters = Returned<Int8>

    package init() {}
}

/// Sets the advertising data of legacy advertising.
package struct LESetAdvertisingData: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.7.
    package static let definition = command(.leSetAdvertisingData, "Advertising_Data", Self.init) { $0.data }

    package var data: LegacyAdvertisingData

    package init(data: LegacyAdvertisingData) { self.data = data }
}

/// Sets the scan response data of legacy advertising.
package struct LESetScanResponseData: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.8.
    package static let definition = command(.leSetScanResponseData, "Scan_Response_Data", Self.init) {
        $0.data
    }

    package var data: LegacyAdvertisingData

    package init(data: LegacyAdvertisingData) { self.data = data }
}

package struct LESetAdvertisingEnable: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.9.
    package static let definition = command(.leSetAdvertisingEnable, "Advertising_Enable", Self.init) {
        $0.enable
    }

    package var enable: HCIFlag

    package init(enable: HCIFlag) { self.enable = enable }
}
