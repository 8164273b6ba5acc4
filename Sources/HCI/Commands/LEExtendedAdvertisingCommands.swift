import BLECore

/// Sets the random address of an advertising set.
package struct LESetAdvertisingSetRandomAddress: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.52.
    package static let definition = command(
        .leSetAdvertisingSetRandomAddress, "Advertising_Handle, Random_Address",
        { (set, bare: BareAddress) in Self(set: set, address: bare.random) }
    ) {
        ($0.set, BareAddress($0.address))
    }

    package var set: AdvertisingHandle
    package var address: DeviceAddress

    /// Creates a command that sets the address of `set`.
    package init(set: AdvertisingHandle, address: DeviceAddress) { (self.set, self.address) = (set, address) }
}

/// Creates an advertising set, or changes its parameters.
package struct LESetExtendedAdvertisingParameters: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.53.
    package static let definition = command(
        .leSetExtendedAdvertisingParameters,
        """
        Advertising_Handle, Advertising_Event_Properties, Primary_Advertising_Interval_Min, \
        Primary_Advertising_Interval_Max, Primary_Advertising_Channel_Map, Own_Address_Type, Peer_Address, \
        Advertising_Filter_Policy, Advertising_TX_Power, Primary_Advertising_PHY, \
        Secondary_Advertising_Max_Skip, Secondary_Advertising_PHY, Advertising_SID, \
        Scan_Request_Notification_Enable
        """, Self.init
    ) {
        (
            $0.set, $0.properties, $0.intervalMin, $0.intervalMax, $0.channels, $0.ownAddressType, $0.peer,
            $0.filterPolicy, $0.txPower, $0.primaryPHY, $0.secondaryMaxSkip, $0.secondaryPHY, $0.sid,
            $0.notifiesScanRequests
        )
    }
    /// The transmit power that the controller selected, in dBm, -127 to 20.
    package typealias ReturnParameters = Returned<Int8>

    /// The kind of advertising.
    package struct Properties: OptionSet, HCICode {
        package let rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The advertiser accepts connection requests.
        package static let connectable = Properties(rawValue: 1 << 0)
        /// The advertiser answers scan requests.
        package static let scannable = Properties(rawValue: 1 << 1)
        /// The advertising is directed at one device.
        package static let directed = Properties(rawValue: 1 << 2)
        /// The advertising is directed and as fast as possible, for at most 1.28 s.
        package static let highDutyCycle = Properties(rawValue: 1 << 3)
        /// The advertisement uses legacy packets.
        package static let legacy = Properties(rawValue: 1 << 4)
        /// The packets carry no advertiser address.
        package static let anonymous = Properties(rawValue: 1 << 5)
        /// The packets contain the transmit power.
        package static let includesTxPower = Properties(rawValue: 1 << 6)
    }

    package var set: AdvertisingHandle
    /// The kind of advertising.
    package var properties: Properties
    /// The minimum time between advertising events, at least 20 ms.
    package var intervalMin: LongSlots
    /// The maximum time between advertising events.
    package var intervalMax: LongSlots
    package var channels: AdvertisingChannels
    /// The address that the packets carry.
    package var ownAddressType: OwnAddressType
    /// The target of directed advertising, or the peer whose resolving list entry provides the own address.
    package var peer: HCIAddress
    /// The devices whose scan and connection requests are accepted.
    package var filterPolicy: AdvertisingFilterPolicy
    /// The maximum transmit power in dBm, -127 to 20; with 127 the controller selects it.
    package var txPower: Int8
    /// The PHY of the primary channels: LE 1M or LE Coded.
    package var primaryPHY: PHY
    /// The number of advertising events that can pass before the data is sent on the secondary channel.
    package var secondaryMaxSkip: UInt8
    /// The PHY of the auxiliary packets, which carry the data.
    package var secondaryPHY: PHY
    /// The advertising set identifier (SID) in the packets, 0x00 to 0x0f.
    package var sid: UInt8
    /// Whether the controller sends LE Scan Request Received.
    package var notifiesScanRequests: HCIFlag

    package init(
        set: AdvertisingHandle, properties: Properties, intervalMin: LongSlots, intervalMax: LongSlots,
        channels: AdvertisingChannels = .all, ownAddressType: OwnAddressType = .public,
        peer: HCIAddress = HCIAddress(0, type: .public), filterPolicy: AdvertisingFilterPolicy = [],
        txPower: Int8 = 127, primaryPHY: PHY = .le1M, secondaryMaxSkip: UInt8 = 0,
        secondaryPHY: PHY = .le1M, sid: UInt8 = 0, notifiesScanRequests: HCIFlag = false
    ) {
        (self.set, self.properties) = (set, properties)
        (self.intervalMin, self.intervalMax, self.channels) = (intervalMin, intervalMax, channels)
        (self.ownAddressType, self.peer, self.filterPolicy) = (ownAddressType, peer, filterPolicy)
        (self.txPower, self.primaryPHY, self.secondaryMaxSkip) = (txPower, primaryPHY, secondaryMaxSkip)
        (self.secondaryPHY, self.sid, self.notifiesScanRequests) = (secondaryPHY, sid, notifiesScanRequests)
    }
}

/// A fragment of the data of an advertising set.
package struct AdvertisingDataFragment: HCIParameters, HCIField {
    /// The fields in the order of the wire.
    package static let layout = HCILayout(
        "Advertising_Handle, Operation, Fragment_Preference, Advertising_Data",
        Self.init(set:operation:preference:data:)
    ) {
        ($0.set, $0.operation, $0.preference, $0.data)
    }
    package static let packetName = "advertising data fragment"
    /// The maximum number of data octets in one command.
    package static let capacity = 251

    /// The position of a fragment in the data.
    package struct Operation: HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A fragment that is neither the first nor the last.
        package static let intermediate = Operation(rawValue: 0x00)
        /// The first of several fragments.
        package static let first = Operation(rawValue: 0x01)
        /// The last of several fragments.
        package static let last = Operation(rawValue: 0x02)
        /// The only fragment, with all the data.
        package static let complete = Operation(rawValue: 0x03)
        /// No fragment: the data is unchanged, and only the identifier that the controller assigns to it
        /// (DID) changes.
        package static let unchanged = Operation(rawValue: 0x04)
    }

    /// Whether the controller is allowed to fragment the data.
    package struct Preference: HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The controller is allowed to fragment the data.
        package static let fragment = Preference(rawValue: 0x00)
        /// The controller should not fragment the data, or as little as possible.
        package static let keepWhole = Preference(rawValue: 0x01)
    }

    package let set: AdvertisingHandle
    /// The fragment's position in the data.
    package let operation: Operation
    /// Whether the controller is allowed to fragment the data further.
    package let preference: Preference
    package let data: [UInt8]

    /// Creates a fragment for `set`.
    /// - Throws: if there are more than 251 octets.
    package init(
        set: AdvertisingHandle, operation: Operation = .complete, preference: Preference = .keepWhole,
        _ data: [UInt8]
    ) throws(HCIParameterError) {
        guard data.count <= Self.capacity else {
            throw HCIParameterError(field: "Advertising_Data", value: data.count, limit: Self.capacity)
        }
        self.init(set: set, operation: operation, preference: preference, data: data)
    }

    private init(set: AdvertisingHandle, operation: Operation, preference: Preference, data: [UInt8]) {
        (self.set, self.operation, self.preference, self.data) = (set, operation, preference, data)
    }
}

/// Sets the advertising data of an advertising set.
package struct LESetExtendedAdvertisingData: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.54.
    package static let definition = command(.leSetExtendedAdvertisingData, "Advertising_Handle", Self.init) {
        $0.fragment
    }

    /// The data, or a fragment of it.
    package var fragment: AdvertisingDataFragment

    package init(fragment: AdvertisingDataFragment) { self.fragment = fragment }
}

/// Sets the scan response data of an advertising set.
package struct LESetExtendedScanResponseData: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.55.
    package static let definition = command(.leSetExtendedScanResponseData, "Advertising_Handle", Self.init) {
        $0.fragment
    }

    /// The data, or a fragment of it.
    package var fragment: AdvertisingDataFragment

    package init(fragment: AdvertisingDataFragment) { self.fragment = fragment }
}

package struct LESetExtendedAdvertisingEnable: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.56.
    package static let definition = command(.leSetExtendedAdvertisingEnable, "Enable, Num_Sets", Self.init) {
        ($0.enable, $0.sets)
    }

    /// A set, and how long to advertise it.
    package struct Entry: HCIParameters, HCIField {
        /// The fields in the order of the wire.
        package static let layout = HCILayout(
            "Advertising_Handle, Duration, Max_Extended_Advertising_Events", Self.init
        ) {
            ($0.set, $0.duration, $0.maxEvents)
        }
        package static let packetName = "advertising set"

        package var set: AdvertisingHandle
        /// The duration of advertising; zero for no limit.
        package var duration: Centiseconds
        /// The maximum number of extended advertising events; zero for no limit.
        package var maxEvents: UInt8

        package init(
            set: AdvertisingHandle, duration: Centiseconds = Centiseconds(rawValue: 0), maxEvents: UInt8 = 0
        ) {
            (self.set, self.duration, self.maxEvents) = (set, duration, maxEvents)
        }
    }

    package var enable: HCIFlag
    /// The sets to start or stop, at most 63; an empty list stops all sets.
    package var sets: [Entry]

    package init(enable: HCIFlag, sets: [Entry] = []) { (self.enable, self.sets) = (enable, sets) }
}

/// The parameters of the second version begin with those of the first.
extension LESetExtendedAdvertisingParameters: HCIField {}

/// Creates an advertising set or changes its parameters, including the coding on LE Coded.
package struct LESetExtendedAdvertisingParametersV2: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.53.
    package static let definition = command(
        .leSetExtendedAdvertisingParametersV2,
        "Advertising_Handle, Primary_Advertising_PHY_Options, Secondary_Advertising_PHY_Options", Self.init
    ) {
        ($0.parameters, $0.primaryCoding, $0.secondaryCoding)
    }
    /// The transmit power that the controller selected, in dBm, -127 to 20.
    package typealias ReturnParameters = Returned<Int8>

    /// The parameters that the first version also has.
    package var parameters: LESetExtendedAdvertisingParameters
    /// The coding on the primary channels.
    package var primaryCoding: AdvertisingCoding
    /// The coding on the secondary channels.
    package var secondaryCoding: AdvertisingCoding

    package init(
        parameters: LESetExtendedAdvertisingParameters, primaryCoding: AdvertisingCoding = .any,
        secondaryCoding: AdvertisingCoding = .any
    ) {
        (self.parameters, self.primaryCoding) = (parameters, primaryCoding)
        self.secondaryCoding = secondaryCoding
    }
}
