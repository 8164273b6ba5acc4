import BLECore

/// A connection was made, or was not.
public struct LEConnectionComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.1.
    public static let definition = event(
        .connectionComplete,
        "status, handle, role, peer address, interval, latency, supervision timeout, clock accuracy",
        Self.init
    ) {
        (
            $0.status, $0.connection, $0.role, $0.peer, $0.interval, $0.latency, $0.supervisionTimeout,
            $0.clockAccuracy
        )
    }

    /// How it went; after a failure the rest means nothing.
    public var status: HCIStatus
    /// The new connection.
    public var connection: ConnectionHandle
    /// Which side this device is.
    public var role: ConnectionRole
    /// The other side.
    public var peer: HCIAddress
    /// The time between connection events.
    public var interval: ConnectionInterval
    /// How many connection events the peripheral may skip.
    public var latency: UInt16
    /// How long the peer may be silent.
    public var supervisionTimeout: Centiseconds
    /// The central's clock, for peripherals: 500, 250, 150, 100, 75, 50, 30 or 20 ppm for 0 to 7.
    public var clockAccuracy: UInt8

    /// That connection.
    public init(
        status: HCIStatus = .success, connection: ConnectionHandle, role: ConnectionRole, peer: HCIAddress,
        interval: ConnectionInterval, latency: UInt16, supervisionTimeout: Centiseconds,
        clockAccuracy: UInt8 = 0
    ) {
        (self.status, self.connection, self.role, self.peer) = (status, connection, role, peer)
        (self.interval, self.latency) = (interval, latency)
        (self.supervisionTimeout, self.clockAccuracy) = (supervisionTimeout, clockAccuracy)
    }
}

/// As `LEConnectionComplete`, with the private addresses in use; controllers that resolve addresses send
/// it instead.
public struct LEEnhancedConnectionComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.10.
    public static let definition = event(
        .enhancedConnectionComplete,
        """
        status, handle, role, peer address, local resolvable address, peer resolvable address, interval, \
        latency, supervision timeout, clock accuracy
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

    /// How it went; after a failure the rest means nothing.
    public var status: HCIStatus
    /// The new connection.
    public var connection: ConnectionHandle
    /// Which side this device is.
    public var role: ConnectionRole
    /// The other side; an identity when the controller resolved its address.
    public var peer: HCIAddress
    /// The private address this device used, or all zeros.
    public var localResolvable: DeviceAddress
    /// The private address the peer used, or all zeros.
    public var peerResolvable: DeviceAddress
    /// The time between connection events.
    public var interval: ConnectionInterval
    /// How many connection events the peripheral may skip.
    public var latency: UInt16
    /// How long the peer may be silent.
    public var supervisionTimeout: Centiseconds
    /// The central's clock, as in `LEConnectionComplete`.
    public var clockAccuracy: UInt8

    /// That connection.
    public init(
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

/// A connection has other parameters, or a change failed.
public struct LEConnectionUpdateComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.3.
    public static let definition = event(
        .connectionUpdateComplete, "status, handle, interval, latency, supervision timeout", Self.init
    ) {
        ($0.status, $0.connection, $0.interval, $0.latency, $0.supervisionTimeout)
    }

    /// How it went.
    public var status: HCIStatus
    /// The connection.
    public var connection: ConnectionHandle
    /// The time between connection events.
    public var interval: ConnectionInterval
    /// How many connection events the peripheral may skip.
    public var latency: UInt16
    /// How long the peer may be silent.
    public var supervisionTimeout: Centiseconds

    /// That change.
    public init(
        status: HCIStatus = .success, connection: ConnectionHandle, interval: ConnectionInterval,
        latency: UInt16, supervisionTimeout: Centiseconds
    ) {
        (self.status, self.connection, self.interval) = (status, connection, interval)
        (self.latency, self.supervisionTimeout) = (latency, supervisionTimeout)
    }
}

/// What a peer's controller can do.
public struct LEReadRemoteFeaturesComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.4.
    public static let definition = event(.readRemoteFeaturesComplete, "status, handle, features", Self.init) {
        ($0.status, $0.connection, $0.features)
    }

    /// How it went.
    public var status: HCIStatus
    /// The connection.
    public var connection: ConnectionHandle
    /// The features that both controllers have, and some of the peer's own.
    public var features: LEFeatures

    /// Those features.
    public init(status: HCIStatus = .success, connection: ConnectionHandle, features: LEFeatures) {
        (self.status, self.connection, self.features) = (status, connection, features)
    }
}

/// A central wants to encrypt: which key?
public struct LELongTermKeyRequest: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.5.
    public static let definition = event(
        .longTermKeyRequest, "handle, random number, encrypted diversifier", Self.init
    ) {
        ($0.connection, $0.random, $0.diversifier)
    }

    /// The connection.
    public var connection: ConnectionHandle
    /// Names the key together with `diversifier`; zero for a key of LE Secure Connections.
    public var random: UInt64
    /// Names the key together with `random`; zero for a key of LE Secure Connections.
    public var diversifier: UInt16

    /// That question.
    public init(connection: ConnectionHandle, random: UInt64 = 0, diversifier: UInt16 = 0) {
        (self.connection, self.random, self.diversifier) = (connection, random, diversifier)
    }
}

/// A peer wants other parameters: yes or no?
public struct LERemoteConnectionParameterRequest: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.6.
    public static let definition = event(
        .remoteConnectionParameterRequest, "handle, interval min, interval max, latency, timeout", Self.init
    ) {
        ($0.connection, $0.intervalMin, $0.intervalMax, $0.latency, $0.supervisionTimeout)
    }

    /// The connection.
    public var connection: ConnectionHandle
    /// The least interval that it wants.
    public var intervalMin: ConnectionInterval
    /// The greatest interval that it wants.
    public var intervalMax: ConnectionInterval
    /// The latency that it wants.
    public var latency: UInt16
    /// The supervision timeout that it wants.
    public var supervisionTimeout: Centiseconds

    /// That question.
    public init(
        connection: ConnectionHandle, intervalMin: ConnectionInterval, intervalMax: ConnectionInterval,
        latency: UInt16, supervisionTimeout: Centiseconds
    ) {
        (self.connection, self.intervalMin, self.intervalMax) = (connection, intervalMin, intervalMax)
        (self.latency, self.supervisionTimeout) = (latency, supervisionTimeout)
    }
}

/// The packets of a connection have another greatest length.
public struct LEDataLengthChange: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.7.
    public static let definition = event(.dataLengthChange, "handle, transmit, receive", Self.init) {
        ($0.connection, $0.transmit, $0.receive)
    }

    /// The connection.
    public var connection: ConnectionHandle
    /// Of what this side sends.
    public var transmit: DataLength
    /// Of what the peer sends.
    public var receive: DataLength

    /// That change.
    public init(connection: ConnectionHandle, transmit: DataLength, receive: DataLength) {
        (self.connection, self.transmit, self.receive) = (connection, transmit, receive)
    }
}

/// A connection has other PHYs, or a change failed.
public struct LEPHYUpdateComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.12.
    public static let definition = event(.phyUpdateComplete, "status, handle, TX PHY, RX PHY", Self.init) {
        ($0.status, $0.connection, $0.transmit, $0.receive)
    }

    /// How it went.
    public var status: HCIStatus
    /// The connection.
    public var connection: ConnectionHandle
    /// For sending.
    public var transmit: PHY
    /// For receiving.
    public var receive: PHY

    /// That change.
    public init(status: HCIStatus = .success, connection: ConnectionHandle, transmit: PHY, receive: PHY) {
        (self.status, self.connection, self.transmit, self.receive) = (status, connection, transmit, receive)
    }
}

/// How a connection hops over the channels.
public struct LEChannelSelectionAlgorithm: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.20.
    public static let definition = event(.channelSelectionAlgorithm, "handle, algorithm", Self.init) {
        ($0.connection, $0.algorithm)
    }

    /// The connection.
    public var connection: ConnectionHandle
    /// 0 for algorithm #1, 1 for algorithm #2.
    public var algorithm: UInt8

    /// That algorithm.
    public init(connection: ConnectionHandle, algorithm: UInt8) {
        (self.connection, self.algorithm) = (connection, algorithm)
    }
}
