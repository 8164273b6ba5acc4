import BLECore

/// Ends a connection. Disconnection Complete follows when it is gone.
public struct Disconnect: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.1.6.
    public static let definition = command(.disconnect, "handle, reason", Self.init) {
        ($0.connection, $0.reason)
    }
    /// Disconnection Complete follows.
    public static let answer = HCIAnswer.status

    /// The connection.
    public var connection: ConnectionHandle
    /// What the peer is told. Seven reasons are allowed: 0x05, 0x13, 0x14, 0x15, 0x1a, 0x29 and 0x3b.
    public var reason: HCIStatus

    /// Ends `connection`.
    public init(connection: ConnectionHandle, reason: HCIStatus = .remoteUserTerminatedConnection) {
        (self.connection, self.reason) = (connection, reason)
    }
}

/// Asks a peer's controller for version and maker.
public struct ReadRemoteVersionInformation: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.1.23.
    public static let definition = command(.readRemoteVersionInformation, "handle", Self.init) {
        $0.connection
    }
    /// Read Remote Version Information Complete follows.
    public static let answer = HCIAnswer.status

    /// The connection.
    public var connection: ConnectionHandle

    /// Asks the peer of `connection`.
    public init(connection: ConnectionHandle) { self.connection = connection }
}

/// Asks how strong the peer's packets arrive.
public struct ReadRSSI: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.5.4.
    public static let definition = command(.readRSSI, "handle", Self.init) { $0.connection }
    /// dBm, -127 to 20; 127 when it is not known.
    public typealias ReturnParameters = ReturnedForConnection<Int8>

    /// The connection.
    public var connection: ConnectionHandle

    /// Asks for `connection`.
    public init(connection: ConnectionHandle) { self.connection = connection }
}

/// Asks how strong packets are sent.
public struct ReadTransmitPowerLevel: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.35.
    public static let definition = command(.readTransmitPowerLevel, "handle, kind", Self.init) {
        ($0.connection, $0.kind)
    }
    /// dBm, -30 to 20.
    public typealias ReturnParameters = ReturnedForConnection<Int8>

    /// Which level.
    public struct Kind: HCICode {
        /// The octet.
        public let rawValue: UInt8

        /// The kind of that octet.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The level now.
        public static let current = Kind(rawValue: 0x00)
        /// The greatest level.
        public static let maximum = Kind(rawValue: 0x01)
    }

    /// The connection.
    public var connection: ConnectionHandle
    /// Which level.
    public var kind: Kind

    /// Asks for the level of `connection`.
    public init(connection: ConnectionHandle, kind: Kind = .current) {
        (self.connection, self.kind) = (connection, kind)
    }
}
