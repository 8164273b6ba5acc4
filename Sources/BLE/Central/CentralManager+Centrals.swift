import BLECore
import GATTServer

extension CentralManager {
    /// The GATT server of a central that has connected to this host: on a link each side can be both client and server,
    /// as Apple's Notification Center Service needs it.
    ///
    /// ```swift
    /// for try await case .connected(let central, _) in peripherals.events() {
    ///     let phone = try await centrals.peripheral(of: central)
    ///     let level = try await phone.read(.batteryLevel)
    /// }
    /// ```
    ///
    /// The link is the central's: `disconnect` leaves it, and does not end it. `PeripheralManager.disconnect` ends it.
    ///
    /// - Parameter central: one of a peripheral manager of the same adapter.
    /// - Throws: `BLEError.disconnected` when its link has ended; what `connect` throws for the options.
    public func peripheral(
        of central: Central, options: ConnectionOptions = .init()
    ) async throws(BLEError) -> Peripheral {
        Peripheral(adapter, try await adapter.join(central.link, options), central.address)
    }
}

extension Adapter {
    /// Joins a link that is there.
    fileprivate func join(_ id: LinkID, _ options: ConnectionOptions) async throws(BLEError) -> LinkUser {
        try check(options)
        connecting.nextTicket += 1
        let user = try linkThatTakes(id).join(ConnectTicket(number: connecting.nextTicket))
        try await prepare(user, options)
        noteConnected(user)
        return user
    }
}
