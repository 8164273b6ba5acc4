import BLECore

/// Connects to an advertiser. LE Connection Complete follows when the connection is created or the host
/// cancels.
package struct LECreateConnection: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.12.
    package static let definition = command(
        .leCreateConnection,
        """
        LE_Scan_Interval, LE_Scan_Window, Initiator_Filter_Policy, Peer_Address, Own_Address_Type, \
        Connection_Interval_Min
        """, Self.init
    ) {
        ($0.scanInterval, $0.scanWindow, $0.filterPolicy, $0.peer, $0.ownAddressType, $0.parameters)
    }
    /// LE Connection Complete follows.
    package static let answer = HCIAnswer.status

    /// The time from the start of one scan window to the start of the next, 2.5 ms to 10.24 s (0x0004 to
    /// 0x4000).
    package var scanInterval: Slots
    /// The duration of a scan window, at most `scanInterval`.
    package var scanWindow: Slots
    /// Whether to connect to `peer`, or to any device of the filter accept list.
    package var filterPolicy: InitiatorFilterPolicy
    /// The advertiser; ignored when the accept list is used.
    package var peer: HCIAddress
    /// The address that the packets carry.
    package var ownAddressType: OwnAddressType
    /// The requested connection parameters.
    package var parameters: LEConnectionParameters

    package init(
        scanInterval: Slots, scanWindow: Slots, filterPolicy: InitiatorFilterPolicy = .peer, peer: HCIAddress,
        ownAddressType: OwnAddressType = .public, parameters: LEConnectionParameters
    ) {
        (self.scanInterval, self.scanWindow) = (scanInterval, scanWindow)
        (self.filterPolicy, self.peer) = (filterPolicy, peer)
        (self.ownAddressType, self.parameters) = (ownAddressType, parameters)
    }
}

/// Cancels the creation of a connection. LE Connection Complete with status 0x02 follows.
package struct LECreateConnectionCancel: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.13.
    package static let definition = command(.leCreateConnectionCancel, "", Self.init) { _ in }

    package init() {}
}

/// Changes the parameters of a connection. LE Connection Update Complete follows.
package struct LEConnectionUpdate: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.18.
    package static let definition = command(
        .leConnectionUpdate, "Connection_Handle, Connection_Interval_Min", Self.init
    ) {
        ($0.connection, $0.parameters)
    }
    /// LE Connection Update Complete follows.
    package static let answer = HCIAnswer.status

    package var connection: ConnectionHandle
    /// The interval, latency and timeout that are requested.
    package var parameters: LEConnectionParameters

    package init(connection: ConnectionHandle, parameters: LEConnectionParameters) {
        (self.connection, self.parameters) = (connection, parameters)
    }
}

/// Reports to the controller which data channels are known to be bad.
package struct LESetHostChannelClassification: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.19.
    package static let definition = command(.leSetHostChannelClassification, "Channel_Map", Self.init) {
        $0.channels
    }

    /// The channels that are not known to be bad, at least one.
    package var channels: ChannelMap

    /// Creates a command that marks all other channels as bad.
    package init(channels: ChannelMap) { self.channels = channels }
}

/// Reads the data channels that a connection uses.
package struct LEReadChannelMap: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.20.
    package static let definition = command(.leReadChannelMap, "Connection_Handle", Self.init) {
        $0.connection
    }
    package typealias ReturnParameters = ReturnedForConnection<ChannelMap>

    package var connection: ConnectionHandle

    package init(connection: ConnectionHandle) { self.connection = connection }
}

/// Reads the features of a peer's controller. LE Read Remote Features Complete follows.
package struct LEReadRemoteFeatures: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.21.
    package static let definition = command(.leReadRemoteFeatures, "Connection_Handle", Self.init) {
        $0.connection
    }
    /// LE Read Remote Features Complete follows.
    package static let answer = HCIAnswer.status

    package var connection: ConnectionHandle

    package init(connection: ConnectionHandle) { self.connection = connection }
}

/// Accepts the connection parameters that a peer requested.
package struct LERemoteConnectionParameterRequestReply: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.31.
    package static let definition = command(
        .leRemoteConnectionParameterRequestReply, "Connection_Handle, Interval_Min", Self.init
    ) {
        ($0.connection, $0.parameters)
    }
    package typealias ReturnParameters = Returned<ConnectionHandle>

    package var connection: ConnectionHandle
    /// The interval, latency and timeout that are accepted.
    package var parameters: LEConnectionParameters

    package init(connection: ConnectionHandle, parameters: LEConnectionParameters) {
        (self.connection, self.parameters) = (connection, parameters)
    }
}

/// Rejects the connection parameters that a peer requested.
package struct LERemoteConnectionParameterRequestNegativeReply: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.32.
    package static let definition = command(
        .leRemoteConnectionParameterRequestNegativeReply, "Connection_Handle, Reason", Self.init
    ) {
        ($0.connection, $0.reason)
    }
    package typealias ReturnParameters = Returned<ConnectionHandle>

    package var connection: ConnectionHandle
    /// The reason that the peer receives.
    package var reason: HCIStatus

    package init(connection: ConnectionHandle, reason: HCIStatus = .unacceptableConnectionParameters) {
        (self.connection, self.reason) = (connection, reason)
    }
}
