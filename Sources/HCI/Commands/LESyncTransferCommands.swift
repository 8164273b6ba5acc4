import BLECore

/// Tells a connected peer of a train that this device follows, so that it need not scan for it.
public struct LEPeriodicAdvertisingSyncTransfer: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.89.
    public static let definition = command(
        .lePeriodicAdvertisingSyncTransfer, "handle, service data, sync handle", Self.init
    ) {
        ($0.connection, $0.serviceData, $0.sync)
    }
    /// The connection.
    public typealias ReturnParameters = Returned<ConnectionHandle>

    /// The connection.
    public var connection: ConnectionHandle
    /// A number for the peer's host, of which the controller makes nothing.
    public var serviceData: UInt16
    /// The train.
    public var sync: SyncHandle

    /// Tells the peer of `connection` of the train `sync`.
    public init(connection: ConnectionHandle, serviceData: UInt16 = 0, sync: SyncHandle) {
        (self.connection, self.serviceData, self.sync) = (connection, serviceData, sync)
    }
}

/// Tells a connected peer of a train that this device sends, so that it need not scan for it.
public struct LEPeriodicAdvertisingSetInfoTransfer: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.90.
    public static let definition = command(
        .lePeriodicAdvertisingSetInfoTransfer, "handle, service data, advertising handle", Self.init
    ) {
        ($0.connection, $0.serviceData, $0.set)
    }
    /// The connection.
    public typealias ReturnParameters = Returned<ConnectionHandle>

    /// The connection.
    public var connection: ConnectionHandle
    /// A number for the peer's host, of which the controller makes nothing.
    public var serviceData: UInt16
    /// The advertising set.
    public var set: AdvertisingHandle

    /// Tells the peer of `connection` of the train of `set`.
    public init(connection: ConnectionHandle, serviceData: UInt16 = 0, set: AdvertisingHandle) {
        (self.connection, self.serviceData, self.set) = (connection, serviceData, set)
    }
}

/// Says what to do with a train of which the peer of a connection tells.
public struct LESetPeriodicAdvertisingSyncTransferParameters: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.91.
    public static let definition = command(
        .leSetPeriodicAdvertisingSyncTransferParameters, "handle, parameters", Self.init
    ) {
        ($0.connection, $0.parameters)
    }
    /// The connection.
    public typealias ReturnParameters = Returned<ConnectionHandle>

    /// The connection.
    public var connection: ConnectionHandle
    /// What to do.
    public var parameters: SyncTransferParameters

    /// `parameters` for `connection`.
    public init(connection: ConnectionHandle, parameters: SyncTransferParameters) {
        (self.connection, self.parameters) = (connection, parameters)
    }
}

/// Says what to do with a train of which the peer of a later connection tells.
public struct LESetDefaultPeriodicAdvertisingSyncTransferParameters: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.92.
    public static let definition = command(
        .leSetDefaultPeriodicAdvertisingSyncTransferParameters, "parameters", Self.init
    ) {
        $0.parameters
    }

    /// What to do.
    public var parameters: SyncTransferParameters

    /// `parameters` for every connection from now on.
    public init(parameters: SyncTransferParameters) { self.parameters = parameters }
}
