import BLECore

/// Asks how long an encrypted connection may be without a packet that proves its key.
public struct ReadAuthenticatedPayloadTimeout: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.93.
    public static let definition = command(.readAuthenticatedPayloadTimeout, "handle", Self.init) {
        $0.connection
    }
    /// 10 ms to 655.35 s.
    public typealias ReturnParameters = ReturnedForConnection<Centiseconds>

    /// The connection.
    public var connection: ConnectionHandle

    /// Asks for `connection`.
    public init(connection: ConnectionHandle) { self.connection = connection }
}

/// Says how long an encrypted connection may be without a packet that proves its key, before Authenticated
/// Payload Timeout Expired comes.
public struct WriteAuthenticatedPayloadTimeout: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.94.
    public static let definition = command(
        .writeAuthenticatedPayloadTimeout, "handle, timeout", Self.init
    ) {
        ($0.connection, $0.timeout)
    }
    /// The connection.
    public typealias ReturnParameters = Returned<ConnectionHandle>

    /// The connection.
    public var connection: ConnectionHandle
    /// 10 ms to 655.35 s, and no less than the connection's interval times one more than its latency.
    public var timeout: Centiseconds

    /// `timeout` for `connection`.
    public init(connection: ConnectionHandle, timeout: Centiseconds) {
        (self.connection, self.timeout) = (connection, timeout)
    }
}

/// Asks how long the key of an encrypted connection is.
public struct ReadEncryptionKeySize: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.5.7.
    public static let definition = command(.readEncryptionKeySize, "handle", Self.init) { $0.connection }
    /// Octets, 7 to 16 on Low Energy.
    public typealias ReturnParameters = ReturnedForConnection<UInt8>

    /// The connection.
    public var connection: ConnectionHandle

    /// Asks for `connection`.
    public init(connection: ConnectionHandle) { self.connection = connection }
}
