import BLECore

/// Asks how long an encrypted connection may be without a packet that proves its key.
package struct ReadAuthenticatedPayloadTimeout: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.93.
    package static let definition = command(
        .readAuthenticatedPayloadTimeout, "Connection_Handle", Self.init
    ) {
        $0.connection
    }
    /// The timeout, from 10 ms to 655.35 s.
    package typealias ReturnParameters = ReturnedForConnection<Centiseconds>

    package var connection: ConnectionHandle

    package init(connection: ConnectionHandle) { self.connection = connection }
}

/// Says how long an encrypted connection may be without a packet that proves its key, before Authenticated
/// Payload Timeout Expired comes.
package struct WriteAuthenticatedPayloadTimeout: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.94.
    package static let definition = command(
        .writeAuthenticatedPayloadTimeout, "Connection_Handle, Authenticated_Payload_Timeout", Self.init
    ) {
        ($0.connection, $0.timeout)
    }
    package typealias ReturnParameters = Returned<ConnectionHandle>

    package var connection: ConnectionHandle
    /// 10 ms to 655.35 s, and no less than the connection's interval times one more than its latency.
    package var timeout: Centiseconds

    package init(connection: ConnectionHandle, timeout: Centiseconds) {
        (self.connection, self.timeout) = (connection, timeout)
    }
}

/// Asks how long the key of an encrypted connection is.
package struct ReadEncryptionKeySize: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.5.7.
    package static let definition = command(.readEncryptionKeySize, "Connection_Handle", Self.init) {
        $0.connection
    }
    /// Octets, 7 to 16 on Low Energy.
    package typealias ReturnParameters = ReturnedForConnection<UInt8>

    package var connection: ConnectionHandle

    package init(connection: ConnectionHandle) { self.connection = connection }
}
