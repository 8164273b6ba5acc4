import BLECore

/// Transfers the synchronization with a train to a connected peer, so that the peer does not need to scan for
/// it.
package struct LEPeriodicAdvertisingSyncTransfer: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.89.
    package static let definition = command(
        .lePeriodicAdvertisingSyncTransfer, "Connection_Handle, Service_Data, Sync_Handle", Self.init
    ) {
        ($0.connection, $0.serviceData, $0.sync)
    }
    package typealias ReturnParameters = Returned<ConnectionHandle>

    package var connection: ConnectionHandle
    /// A number for the peer's host, which the controller passes on without interpreting it.
    package var serviceData: UInt16
    package var sync: SyncHandle

    /// Creates a command that transfers the train `sync` to the peer of `connection`.
    package init(connection: ConnectionHandle, serviceData: UInt16 = 0, sync: SyncHandle) {
        (self.connection, self.serviceData, self.sync) = (connection, serviceData, sync)
    }
}

/// Transfers to a connected peer the synchronization with a train that this device sends, so that the peer
/// does not need to scan for it.
package struct LEPeriodicAdvertisingSetInfoTransfer: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.90.
    package static let definition = command(
        .lePeriodicAdvertisingSetInfoTransfer,
        "Connection_Handle, Service_Data, Advertising_Handle", Self.init
    ) {
        ($0.connection, $0.serviceData, $0.set)
    }
    package typealias ReturnParameters = Returned<ConnectionHandle>

    package var connection: ConnectionHandle
    /// A number for the peer's host, which the controller passes on without interpreting it.
    package var serviceData: UInt16
    package var set: AdvertisingHandle

    /// Creates a command that transfers the train of `set` to the peer of `connection`.
    package init(connection: ConnectionHandle, serviceData: UInt16 = 0, set: AdvertisingHandle) {
        (self.connection, self.serviceData, self.set) = (connection, serviceData, set)
    }
}

/// Sets how to handle trains that the peer of a connection transfers.
package struct LESetPeriodicAdvertisingSyncTransferParameters: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.91.
    package static let definition = command(
        .leSetPeriodicAdvertisingSyncTransferParameters, "Connection_Handle, Mode", Self.init
    ) {
        ($0.connection, $0.parameters)
    }
    package typealias ReturnParameters = Returned<ConnectionHandle>

    package var connection: ConnectionHandle
    package var parameters: SyncTransferParameters

    package init(connection: ConnectionHandle, parameters: SyncTransferParameters) {
        (self.connection, self.parameters) = (connection, parameters)
    }
}

/// Sets how to handle trains that the peers of later connections transfer.
package struct LESetDefaultPeriodicAdvertisingSyncTransferParameters: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.92.
    package static let definition = command(
        .leSetDefaultPeriodicAdvertisingSyncTransferParameters, "Mode", Self.init
    ) {
        $0.parameters
    }

    package var parameters: SyncTransferParameters

    /// Creates a command that sets `parameters` for all later connections.
    package init(parameters: SyncTransferParameters) { self.parameters = parameters }
}
