import BLECore

/// Ends a connection. Disconnection Complete follows when the connection has ended.
package struct Disconnect: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.1.6.
    package static let definition = command(.disconnect, "Connection_Handle, Reason", Self.init) {
        ($0.connection, $0.reason)
    }
    /// Command Status, then Disconnection Complete when the connection has ended.
    package static let answer = HCIAnswer.status

    package var connection: ConnectionHandle
    /// The reason that the peer receives. Seven are allowed: 0x05, 0x13, 0x14, 0x15, 0x1a, 0x29 and 0x3b.
    package var reason: HCIStatus

    package init(connection: ConnectionHandle, reason: HCIStatus = .remoteUserTerminatedConnection) {
        (self.connection, self.reason) = (connection, reason)
    }
}

/// Reads the version and the manufacturer of a peer's controller.
package struct ReadRemoteVersionInformation: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.1.23.
    package static let definition = command(.readRemoteVersionInformation, "Connection_Handle", Self.init) {
        $0.connection
    }
    /// Read Remote Version Information Complete follows.
    package static let answer = HCIAnswer.status

    package var connection: ConnectionHandle

    package init(connection: ConnectionHandle) { self.connection = connection }
}

/// Reads the signal strength of the packets from the peer.
package struct ReadRSSI: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.5.4.
    package static let definition = command(.readRSSI, "Handle", Self.init) { $0.connection }
    /// The RSSI in dBm, -127 to 20; 127 if it is not available.
    package typealias ReturnParameters = ReturnedForConnection<Int8>

    package var connection: ConnectionHandle

    package init(connection: ConnectionHandle) { self.connection = connection }
}

/// Reads the transmit power of a connection.
package struct ReadTransmitPowerLevel: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.3.35.
    package static let definition = command(.readTransmitPowerLevel, "Connection_Handle, Type", Self.init) {
        ($0.connection, $0.kind)
    }
    /// The power in dBm, -30 to 20.
    package typealias ReturnParameters = ReturnedForConnection<Int8>

    package struct Kind: HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let current = Kind(rawValue: 0x00)
        package static let maximum = Kind(rawValue: 0x01)
    }

    package var connection: ConnectionHandle
    package var kind: Kind

    /// Creates a command that reads the level of `connection`.
    package init(connection: ConnectionHandle, kind: Kind = .current) {
        (self.connection, self.kind) = (connection, kind)
    }
}
