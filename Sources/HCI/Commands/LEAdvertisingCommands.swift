import BLECore

/// Says how to advertise. Refused while advertising.
public struct LESetAdvertisingParameters: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.5.
    public static let definition = command(
        .leSetAdvertisingParameters,
        "interval min, interval max, type, own address type, peer address, channels, filter policy", Self.init
    ) {
        ($0.intervalMin, $0.intervalMax, $0.type, $0.ownAddressType, $0.peer, $0.channels, $0.filterPolicy)
    }

    /// The least time between advertising events, 20 ms to 10.24 s (0x0020 to 0x4000).
    public var intervalMin: Slots
    /// The greatest time between advertising events, 20 ms to 10.24 s.
    public var intervalMax: Slots
    /// What kind of advertising it is.
    public var type: AdvertisingType
    /// Whose address to use.
    public var ownAddressType: OwnAddressType
    /// At whom directed advertising is directed, or whose keys make the own address.
    public var peer: HCIAddress
    /// Where to advertise.
    public var channels: AdvertisingChannels
    /// Whose requests to answer.
    public var filterPolicy: AdvertisingFilterPolicy

    /// Those parameters.
    public init(
        intervalMin: Slots, intervalMax: Slots, type: AdvertisingType = .connectable,
        ownAddressType: OwnAddressType = .public, peer: HCIAddress = HCIAddress(0, type: .public),
        channels: AdvertisingChannels = .all, filterPolicy: AdvertisingFilterPolicy = []
    ) {
        (self.intervalMin, self.intervalMax, self.type) = (intervalMin, intervalMax, type)
        (self.ownAddressType, self.peer) = (ownAddressType, peer)
        (self.channels, self.filterPolicy) = (channels, filterPolicy)
    }
}

/// Asks how strong advertising is sent.
public struct LEReadAdvertisingPhysicalChannelTxPower: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.6.
    public static let definition = command(.leReadAdvertisingPhysicalChannelTxPower, "", Self.init) { _ in }
    /// dBm, -127 to 20.
    public typealias ReturnParameters = Returned<Int8>

    /// A question for it.
    public init() {}
}

/// Sets what advertising says.
public struct LESetAdvertisingData: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.7.
    public static let definition = command(.leSetAdvertisingData, "advertising data", Self.init) { $0.data }

    /// The data.
    public var data: LegacyAdvertisingData

    /// Advertises `data`.
    public init(data: LegacyAdvertisingData) { self.data = data }
}

/// Sets what scanners get who ask.
public struct LESetScanResponseData: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.8.
    public static let definition = command(.leSetScanResponseData, "scan response data", Self.init) {
        $0.data
    }

    /// The data.
    public var data: LegacyAdvertisingData

    /// Answers scanners with `data`.
    public init(data: LegacyAdvertisingData) { self.data = data }
}

/// Starts or stops advertising.
public struct LESetAdvertisingEnable: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.9.
    public static let definition = command(.leSetAdvertisingEnable, "enable", Self.init) { $0.enable }

    /// Whether to advertise.
    public var enable: HCIFlag

    /// Starts or stops.
    public init(enable: HCIFlag) { self.enable = enable }
}
