import BLECore

/// A connection has ended.
package struct DisconnectionComplete: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.5.
    package static let definition = event(
        .disconnectionComplete, "Status, Connection_Handle, Reason", Self.init
    ) {
        ($0.status, $0.connection, $0.reason)
    }

    /// Success, or the reason why the connection has not ended.
    package var status: HCIStatus
    package var connection: ConnectionHandle
    /// Why the connection ended.
    package var reason: HCIStatus

    package init(status: HCIStatus = .success, connection: ConnectionHandle, reason: HCIStatus) {
        (self.status, self.connection, self.reason) = (status, connection, reason)
    }
}

/// Whether a connection is encrypted (Core Specification 5.4, Vol 4, Part E, 7.7.8).
package struct EncryptionMode: HCICode {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let off = EncryptionMode(rawValue: 0x00)
    /// The connection is encrypted: with AES-CCM on Low Energy, with E0 on BR/EDR.
    package static let on = EncryptionMode(rawValue: 0x01)
    /// The connection is encrypted with AES-CCM on BR/EDR.
    package static let aesCCM = EncryptionMode(rawValue: 0x02)
}

/// Encryption of a connection was enabled or disabled, or the change failed.
package struct EncryptionChange: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.8.
    package static let definition = event(
        .encryptionChange, "Status, Connection_Handle, Encryption_Enabled", Self.init
    ) {
        ($0.status, $0.connection, $0.mode)
    }

    package var status: HCIStatus
    package var connection: ConnectionHandle
    /// Encryption_Enabled: whether and how the connection is encrypted.
    package var mode: EncryptionMode

    package init(status: HCIStatus = .success, connection: ConnectionHandle, mode: EncryptionMode) {
        (self.status, self.connection, self.mode) = (status, connection, mode)
    }
}

/// The same as `EncryptionChange`, with the size of the key.
package struct EncryptionChangeV2: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.8.
    package static let definition = event(
        .encryptionChangeV2, "Status, Connection_Handle, Encryption_Enabled, Encryption_Key_Size", Self.init
    ) {
        ($0.status, $0.connection, $0.mode, $0.keySize)
    }

    package var status: HCIStatus
    package var connection: ConnectionHandle
    /// Encryption_Enabled: whether and how the connection is encrypted.
    package var mode: EncryptionMode
    /// The size of the key in octets. On Low Energy it is meaningless, because a controller does not know
    /// which size a key had before the host padded it with zeros.
    package var keySize: UInt8

    package init(
        status: HCIStatus = .success, connection: ConnectionHandle, mode: EncryptionMode, keySize: UInt8
    ) {
        (self.status, self.connection, self.mode, self.keySize) = (status, connection, mode, keySize)
    }
}

/// An encrypted connection has a new key.
package struct EncryptionKeyRefreshComplete: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.39.
    package static let definition = event(
        .encryptionKeyRefreshComplete, "Status, Connection_Handle", Self.init
    ) {
        ($0.status, $0.connection)
    }

    package var status: HCIStatus
    package var connection: ConnectionHandle

    package init(status: HCIStatus = .success, connection: ConnectionHandle) {
        (self.status, self.connection) = (status, connection)
    }
}

/// The version and manufacturer of a peer's controller.
package struct ReadRemoteVersionInformationComplete: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.12.
    package static let definition = event(
        .readRemoteVersionInformationComplete,
        "Status, Connection_Handle, Version, Company_Identifier, Subversion", Self.init
    ) {
        ($0.status, $0.connection, $0.version, $0.company, $0.subversion)
    }

    package var status: HCIStatus
    package var connection: ConnectionHandle
    /// The version of the Core Specification that the peer's link layer complies with.
    package var version: CoreVersion
    /// The manufacturer's company identifier, assigned by the SIG.
    package var company: UInt16
    /// The revision of the peer's controller, which its manufacturer defines.
    package var subversion: UInt16

    package init(
        status: HCIStatus = .success, connection: ConnectionHandle, version: CoreVersion, company: UInt16,
        subversion: UInt16
    ) {
        (self.status, self.connection, self.version) = (status, connection, version)
        (self.company, self.subversion) = (company, subversion)
    }
}

/// The authenticated payload timeout of a connection has expired: no packet with a valid message integrity
/// check was received in time.
package struct AuthenticatedPayloadTimeoutExpired: HCIEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.75.
    package static let definition = event(
        .authenticatedPayloadTimeoutExpired, "Connection_Handle", Self.init
    ) {
        $0.connection
    }

    package var connection: ConnectionHandle

    package init(connection: ConnectionHandle) { self.connection = connection }
}
