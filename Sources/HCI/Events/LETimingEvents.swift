import BLECore

/// The accuracy of a peer's sleep clock.
package struct LERequestPeerSCAComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.31.
    package static let definition = event(
        .requestPeerSCAComplete, "Status, Connection_Handle, Peer_Clock_Accuracy", Self.init
    ) {
        ($0.status, $0.connection, $0.clockAccuracy)
    }

    package var status: HCIStatus
    package var connection: ConnectionHandle
    /// The peer's clock accuracy, encoded as in `LEConnectionComplete`.
    package var clockAccuracy: UInt8

    package init(status: HCIStatus = .success, connection: ConnectionHandle, clockAccuracy: UInt8) {
        (self.status, self.connection, self.clockAccuracy) = (status, connection, clockAccuracy)
    }
}

/// The subrating parameters of a connection have changed, or the change has failed.
package struct LESubrateChange: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.35.
    package static let definition = event(
        .subrateChange,
        """
        Status, Connection_Handle, Subrate_Factor, Peripheral_Latency, Continuation_Number, \
        Supervision_Timeout
        """, Self.init
    ) {
        ($0.status, $0.connection, $0.factor, $0.latency, $0.continuation, $0.supervisionTimeout)
    }

    package var status: HCIStatus
    package var connection: ConnectionHandle
    /// The subrate factor, 1 to 500: one of that many connection events is used.
    package var factor: UInt16
    /// The number of subrated events that the peripheral can skip, 0 to 499.
    package var latency: UInt16
    /// The number of events that are used after one with data, 0 to 499.
    package var continuation: UInt16
    /// The supervision timeout of the connection.
    package var supervisionTimeout: Centiseconds

    package init(
        status: HCIStatus = .success, connection: ConnectionHandle, factor: UInt16, latency: UInt16 = 0,
        continuation: UInt16 = 0, supervisionTimeout: Centiseconds
    ) {
        (self.status, self.connection, self.factor) = (status, connection, factor)
        (self.latency, self.continuation) = (latency, continuation)
        self.supervisionTimeout = supervisionTimeout
    }
}
