import BLECore

/// Transfers to a connected peer a train that this device follows, so that the peer need not scan for it.
package struct LEPeriodicAdvertisingSyncTransfer: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.89.
    package static let definition = command(
        .lePeriodicAdvertisingSyncTransfer, "Connection_Handle, Service_Data, Sync_Handle", Self.init
    ) {
        ($0.connection, $0.serviceData, $0.sync)
    }
    package typealias ReturnParameters = Returned<ConnectionHandle>

    package var connection: ConnectionHandle
    /// A number for the peer's host, of which the controller makes nothing.
    package var serviceData: UInt16
    package var sync: SyncHandle

    /// Transfers the train `sync` to the peer of `connection`.
    package init(connection: ConnectionHandle, serviceData: UInt16 = 0, sync: SyncHandle) {
        (self.connection, self.serviceData, self.sync) = (connection, serviceData, sync)
    }
}

/// Transfers to a connected peer a train that this device sends, so that the peer need not scan for it.
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
    /// A number for the peer's host, of which the controller makes nothing.
    package var serviceData: UInt16
    package var set: AdvertisingHandle

    /// Transfers the train of `set` to the peer of `connection`.
    package init(connection: ConnectionHandle, serviceData: UInt16 = 0, set: AdvertisingHandle) {
        (self.connection, self.serviceData, self.set) = (connection, serviceData, set)
    }
}

/// Sets what to do with a train that the peer of a connection transfers.
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

/// Sets what to do with a train that the peer of a later connection transfers.
package struct LESetDefaultPeriodicAdvertisingSyncTransferParameters: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.92.
    package static let definition = command(
        .leSetDefaultPeriodicAdvertisingSyncTransferParameters, "Mode", Self.init
    ) {
        $0.parameters
    }

    package var parameters: SyncTransferParameters

    /// `parameters` for every connection from now on.
    package init(parameters: SyncTransferParameters) { self.parameters = parameters }
}
