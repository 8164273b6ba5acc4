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
    /// - Parameters:
    ///   - central: one of a peripheral manager of the same adapter.
    ///   - options: what is brought about on the link; how it is made is ignored.
    /// - Throws: `BLEError.disconnected` when its link has ended; `BLEError.invalidRequest` for a central of another
    ///   adapter; what `connect` throws for the options.
    public func peripheral(
        of central: Central, options: ConnectionOptions = .init()
    ) async throws(BLEError) -> Peripheral {
        let user = try await adapter.join(central, options)
        return Peripheral(adapter, user, await adapter.peer(of: user.link) ?? central.address)
    }
}

extension Adapter {
    /// Joins the link that a central has made.
    fileprivate func join(
        _ central: Central, _ options: ConnectionOptions
    ) async throws(BLEError) -> LinkUser {
        try check(options)
        let link = try linkThatTakes(central.link)
        // Adapters count their links alike.
        guard link.peer == central.address else {
            throw .invalidRequest(.foreignCentral(central))
        }
        let user = link.join(connecting.nextTicket())
        try await prepare(user, options)
        noteConnected(user)
        return user
    }
}
