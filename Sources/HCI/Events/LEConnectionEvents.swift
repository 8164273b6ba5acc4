import BLECore

/// A connection was created, or the attempt failed.
package struct LEConnectionComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.1.
    package static let definition = event(
        .connectionComplete,
        """
        Status, Connection_Handle, Role, Peer_Address, Connection_Interval, Peripheral_Latency, \
        Supervision_Timeout, Central_Clock_Accuracy
        """, Self.init
    ) {
        (
            $0.status, $0.connection, $0.role, $0.peer, $0.interval, $0.latency, $0.supervisionTimeout,
            $0.clockAccuracy
        )
    }

    /// The status of the connection attempt; after a failure the other fields are not meaningful.
    package var status: HCIStatus
    package var connection: ConnectionHandle
    /// The role of this device.
    package var role: ConnectionRole
    package var peer: HCIAddress
    package var interval: ConnectionInterval
    /// The number of connection events that the peripheral can skip.
    package var latency: UInt16
    /// The supervision timeout of the connection.
    package var supervisionTimeout: Centiseconds
    /// The accuracy of the central's clock, for peripherals: 500, 250, 150, 100, 75, 50, 30 or 20 ppm for 0
    /// to 7.
    package var clockAccuracy: UInt8

    package init(
        status: HCIStatus = .success, connection: ConnectionHandle, role: ConnectionRole, peer: HCIAddress,
        interval: ConnectionInterval, latency: UInt16, supervisionTimeout: Centiseconds,
        clockAccuracy: UInt8 = 0
    ) {
        (self.status, self.connection, self.role, self.peer) = (status, connection, role, peer)
        (self.interval, self.latency) = (interval, latency)
        (self.supervisionTimeout, self.clockAccuracy) = (supervisionTimeout, clockAccuracy)
    }
}

/// Replaces `LEConnectionComplete` in controllers that resolve addresses, and includes the private addresses
/// in use.
package struct LEEnhancedConnectionComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.10.
    package static let definition = event(
        .enhancedConnectionComplete,
        """
        Status, Connection_Handle, Role, Peer_Address, Local_Resolvable_Private_Address, \
        Peer_Resolvable_Private_Address, Connection_Interval, Peripheral_Latency, Supervision_Timeout, \
        Central_Clock_Accuracy
        """,
        {
            (
                status, connection, role, peer, local: BareAddress, remote: BareAddress, interval, latency,
                timeout, clock
            ) in
            Self(
                status: status, connection: connection, role: role, peer: peer, localResolvable: local.random,
                peerResolvable: remote.random, interval: interval, latency: latency,
                supervisionTimeout: timeout, clockAccuracy: clock)
        }
    ) {
        (
            $0.status, $0.connection, $0.role, $0.peer, BareAddress($0.localResolvable),
            BareAddress($0.peerResolvable), $0.interval, $0.latency, $0.supervisionTimeout, $0.clockAccuracy
        )
    }

    /// The status of the connection attempt; after a failure the other fields are not meaningful.
    package var status: HCIStatus
    package var connection: ConnectionHandle
    /// The role of this device.
    package var role: ConnectionRole
    /// The peer; its identity address if the controller resolved its private address.
    package var peer: HCIAddress
    /// The private address that this device used, or all zeros.
    package var localResolvable: DeviceAddress
    /// The private address that the peer used, or all zeros.
    package var peerResolvable: DeviceAddress
    package var interval: ConnectionInterval
    /// The number of connection events that the peripheral can skip.
    package var latency: UInt16
    /// The supervision timeout of the connection.
    package var supervisionTimeout: Centiseconds
    /// The central's clock accuracy, encoded as in `LEConnectionComplete`.
    package var clockAccuracy: UInt8

    package init(
        status: HCIStatus = .success, connection: ConnectionHandle, role: ConnectionRole, peer: HCIAddress,
        localResolvable: DeviceAddress = DeviceAddress(0, type: .random),
        peerResolvable: DeviceAddress = DeviceAddress(0, type: .random), interval: ConnectionInterval,
        latency: UInt16, supervisionTimeout: Centiseconds, clockAccuracy: UInt8 = 0
    ) {
        (self.status, self.connection, self.role, self.peer) = (status, connection, role, peer)
        (self.localResolvable, self.peerResolvable) = (localResolvable, peerResolvable)
        (self.interval, self.latency) = (interval, latency)
        (self.supervisionTimeout, self.clockAccuracy) = (supervisionTimeout, clockAccuracy)
    }
}

/// The parameters of a connection have changed, or the change has failed.
package struct LEConnectionUpdateComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.3.
    package static let definition = event(
        .connectionUpdateComplete,
        "Status, Connection_Handle, Connection_Interval, Peripheral_Latency, Supervision_Timeout", Self.init
    ) {
        ($0.status, $0.connection, $0.interval, $0.latency, $0.supervisionTimeout)
    }

    package var status: HCIStatus
    package var connection: ConnectionHandle
    package var interval: ConnectionInterval
    /// The number of connection events that the peripheral can skip.
    package var latency: UInt16
    /// The supervision timeout of the connection.
    package var supervisionTimeout: Centiseconds

    package init(
        status: HCIStatus = .success, connection: ConnectionHandle, interval: ConnectionInterval,
        latency: UInt16, supervisionTimeout: Centiseconds
    ) {
        (self.status, self.connection, self.interval) = (status, connection, interval)
        (self.latency, self.supervisionTimeout) = (latency, supervisionTimeout)
    }
}

/// The features that a peer's controller supports.
package struct LEReadRemoteFeaturesComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.4.
    package static let definition = event(
        .readRemoteFeaturesComplete, "Status, Connection_Handle, LE_Features", Self.init
    ) {
        ($0.status, $0.connection, $0.features)
    }

    package var status: HCIStatus
    package var connection: ConnectionHandle
    /// The features that both controllers support, and some of the peer's own.
    package var features: LEFeatures

    package init(status: HCIStatus = .success, connection: ConnectionHandle, features: LEFeatures) {
        (self.status, self.connection, self.features) = (status, connection, features)
    }
}

/// The central starts encryption; the host must respond with the long term key.
package struct LELongTermKeyRequest: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.5.
    package static let definition = event(
        .longTermKeyRequest, "Connection_Handle, Random_Number, Encrypted_Diversifier", Self.init
    ) {
        ($0.connection, $0.random, $0.diversifier)
    }

    package var connection: ConnectionHandle
    /// The random number that identifies the key together with `diversifier`; zero for an LE Secure
    /// Connections key.
    package var random: UInt64
    /// The diversifier that identifies the key together with `random`; zero for an LE Secure Connections key.
    package var diversifier: UInt16

    package init(connection: ConnectionHandle, random: UInt64 = 0, diversifier: UInt16 = 0) {
        (self.connection, self.random, self.diversifier) = (connection, random, diversifier)
    }
}

/// A peer requests new connection parameters, which the host accepts or rejects.
package struct LERemoteConnectionParameterRequest: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.6.
    package static let definition = event(
        .remoteConnectionParameterRequest,
        "Connection_Handle, Interval_Min, Interval_Max, Max_Latency, Timeout", Self.init
    ) {
        ($0.connection, $0.intervalMin, $0.intervalMax, $0.latency, $0.supervisionTimeout)
    }

    package var connection: ConnectionHandle
    /// The minimum interval that the peer requests.
    package var intervalMin: ConnectionInterval
    /// The maximum interval that the peer requests.
    package var intervalMax: ConnectionInterval
    /// The requested latency, in connection events.
    package var latency: UInt16
    /// The supervision timeout that the peer requests.
    package var supervisionTimeout: Centiseconds

    package init(
        connection: ConnectionHandle, intervalMin: ConnectionInterval, intervalMax: ConnectionInterval,
        latency: UInt16, supervisionTimeout: Centiseconds
    ) {
        (self.connection, self.intervalMin, self.intervalMax) = (connection, intervalMin, intervalMax)
        (self.latency, self.supervisionTimeout) = (latency, supervisionTimeout)
    }
}

/// The maximum length of a connection's packets has changed.
package struct LEDataLengthChange: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.7.
    package static let definition = event(
        .dataLengthChange, "Connection_Handle, Max_TX_Octets, Max_RX_Octets", Self.init
    ) {
        ($0.connection, $0.transmit, $0.receive)
    }

    package var connection: ConnectionHandle
    /// The maximum length and time of packets that this side sends.
    package var transmit: DataLength
    /// The maximum length and time of packets that the peer sends.
    package var receive: DataLength

    package init(connection: ConnectionHandle, transmit: DataLength, receive: DataLength) {
        (self.connection, self.transmit, self.receive) = (connection, transmit, receive)
    }
}

/// The PHYs of a connection have changed, or the change has failed.
package struct LEPHYUpdateComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.12.
    package static let definition = event(
        .phyUpdateComplete, "Status, Connection_Handle, TX_PHY, RX_PHY", Self.init
    ) {
        ($0.status, $0.connection, $0.transmit, $0.receive)
    }

    package var status: HCIStatus
    package var connection: ConnectionHandle
    /// The PHY on which this device sends.
    package var transmit: PHY
    /// The PHY on which this device receives.
    package var receive: PHY

    package init(status: HCIStatus = .success, connection: ConnectionHandle, transmit: PHY, receive: PHY) {
        (self.status, self.connection, self.transmit, self.receive) = (status, connection, transmit, receive)
    }
}

/// The channel selection algorithm of a connection.
package struct LEChannelSelectionAlgorithm: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.20.
    package static let definition = event(
        .channelSelectionAlgorithm, "Connection_Handle, Channel_Selection_Algorithm", Self.init
    ) {
        ($0.connection, $0.algorithm)
    }

    package var connection: ConnectionHandle
    /// The algorithm: 0 for #1, 1 for #2.
    package var algorithm: UInt8

    package init(connection: ConnectionHandle, algorithm: UInt8) {
        (self.connection, self.algorithm) = (connection, algorithm)
    }
}
