import BLECore

/// Connects to an advertiser. LE Connection Complete follows when it answers or the host cancels.
public struct LECreateConnection: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.12.
    public static let definition = command(
        .leCreateConnection,
        "scan interval, scan window, filter policy, peer address, own address type, parameters", Self.init
    ) {
        ($0.scanInterval, $0.scanWindow, $0.filterPolicy, $0.peer, $0.ownAddressType, $0.parameters)
    }
    /// LE Connection Complete follows.
    public static let answer = HCIAnswer.status

    /// From the start of one window to that of the next, 2.5 ms to 10.24 s (0x0004 to 0x4000).
    public var scanInterval: Slots
    /// How long to listen, at most `scanInterval`.
    public var scanWindow: Slots
    /// Whom to connect to.
    public var filterPolicy: InitiatorFilterPolicy
    /// The advertiser; not used with the accept list.
    public var peer: HCIAddress
    /// Whose address to use.
    public var ownAddressType: OwnAddressType
    /// What the connection should be like.
    public var parameters: ConnectionParameters

    /// Connects so.
    public init(
        scanInterval: Slots, scanWindow: Slots, filterPolicy: InitiatorFilterPolicy = .peer, peer: HCIAddress,
        ownAddressType: OwnAddressType = .public, parameters: ConnectionParameters
    ) {
        (self.scanInterval, self.scanWindow) = (scanInterval, scanWindow)
        (self.filterPolicy, self.peer) = (filterPolicy, peer)
        (self.ownAddressType, self.parameters) = (ownAddressType, parameters)
    }
}

/// Gives up connecting. LE Connection Complete with status 0x02 follows.
public struct LECreateConnectionCancel: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.13.
    public static let definition = command(.leCreateConnectionCancel, "", Self.init) { _ in }

    /// Gives up.
    public init() {}
}

/// Changes what a connection is like. LE Connection Update Complete follows.
public struct LEConnectionUpdate: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.18.
    public static let definition = command(.leConnectionUpdate, "handle, parameters", Self.init) {
        ($0.connection, $0.parameters)
    }
    /// LE Connection Update Complete follows.
    public static let answer = HCIAnswer.status

    /// The connection.
    public var connection: ConnectionHandle
    /// What it should be like.
    public var parameters: ConnectionParameters

    /// Changes `connection`.
    public init(connection: ConnectionHandle, parameters: ConnectionParameters) {
        (self.connection, self.parameters) = (connection, parameters)
    }
}

/// Tells the controller which data channels are known to be bad.
public struct LESetHostChannelClassification: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.19.
    public static let definition = command(.leSetHostChannelClassification, "channel map", Self.init) {
        $0.channels
    }

    /// The channels not known to be bad, one at least.
    public var channels: ChannelMap

    /// Leaves `channels` to be used.
    public init(channels: ChannelMap) { self.channels = channels }
}

/// Asks which data channels a connection uses.
public struct LEReadChannelMap: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.20.
    public static let definition = command(.leReadChannelMap, "handle", Self.init) { $0.connection }
    /// The channels in use.
    public typealias ReturnParameters = ReturnedForConnection<ChannelMap>

    /// The connection.
    public var connection: ConnectionHandle

    /// Asks for `connection`.
    public init(connection: ConnectionHandle) { self.connection = connection }
}

/// Asks what a peer's controller can do. LE Read Remote Features Complete follows.
public struct LEReadRemoteFeatures: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.21.
    public static let definition = command(.leReadRemoteFeatures, "handle", Self.init) { $0.connection }
    /// LE Read Remote Features Complete follows.
    public static let answer = HCIAnswer.status

    /// The connection.
    public var connection: ConnectionHandle

    /// Asks the peer of `connection`.
    public init(connection: ConnectionHandle) { self.connection = connection }
}

/// Accepts the parameters that a peer asked for.
public struct LERemoteConnectionParameterRequestReply: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.31.
    public static let definition = command(
        .leRemoteConnectionParameterRequestReply, "handle, parameters", Self.init
    ) {
        ($0.connection, $0.parameters)
    }
    /// The connection.
    public typealias ReturnParameters = Returned<ConnectionHandle>

    /// The connection.
    public var connection: ConnectionHandle
    /// What it should be like.
    public var parameters: ConnectionParameters

    /// Accepts `parameters`.
    public init(connection: ConnectionHandle, parameters: ConnectionParameters) {
        (self.connection, self.parameters) = (connection, parameters)
    }
}

/// Refuses the parameters that a peer asked for.
public struct LERemoteConnectionParameterRequestNegativeReply: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.32.
    public static let definition = command(
        .leRemoteConnectionParameterRequestNegativeReply, "handle, reason", Self.init
    ) {
        ($0.connection, $0.reason)
    }
    /// The connection.
    public typealias ReturnParameters = Returned<ConnectionHandle>

    /// The connection.
    public var connection: ConnectionHandle
    /// What the peer is told.
    public var reason: HCIStatus

    /// Refuses.
    public init(connection: ConnectionHandle, reason: HCIStatus = .unacceptableConnectionParameters) {
        (self.connection, self.reason) = (connection, reason)
    }
}
