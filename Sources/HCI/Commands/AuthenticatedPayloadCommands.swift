import BLECore

/// Reads the authenticated payload timeout of an encrypted connection.
package struct ReadAuthenticatedPayloadTimeout: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.93.
    package static let definition = command(
        .readAuthenticatedPayloadTimeout, "Connection_Handle", Self.init
    ) {
        $0.connection
    }
    /// The timeout, 10 ms to 655.35 s.
    package typealias ReturnParameters = ReturnedForConnection<Centiseconds>

    package var connection: ConnectionHandle

    package init(connection: ConnectionHandle) { self.connection = connection }
}

/// Sets the authenticated payload timeout of an encrypted connection: the maximum time without a packet that
/// proves possession of the key. After that time the controller sends Authenticated Payload Timeout Expired.
package struct WriteAuthenticatedPayloadTimeout: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.94.
    package static let definition = command(
        .writeAuthenticatedPayloadTimeout, "Connection_Handle, Authenticated_Payload_Timeout", Self.init
    ) {
        ($0.connection, $0.timeout)
    }
    package typealias ReturnParameters = Returned<ConnectionHandle>

    package var connection: ConnectionHandle
    /// The timeout, 10 ms to 655.35 s. It must not be less than the connection's interval times one more than
    /// its latency.
    package var timeout: Centiseconds

    package init(connection: ConnectionHandle, timeout: Centiseconds) {
        (self.connection, self.timeout) = (connection, timeout)
    }
}

/// Reads the size of an encrypted connection's key.
package struct ReadEncryptionKeySize: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.5.7.
    package static let definition = command(.readEncryptionKeySize, "Connection_Handle", Self.init) {
        $0.connection
    }
    /// The key size in octets, 7 to 16 on Low Energy.
    package typealias ReturnParameters = ReturnedForConnection<UInt8>

    package var connection: ConnectionHandle

    package init(connection: ConnectionHandle) { self.connection = connection }
}
