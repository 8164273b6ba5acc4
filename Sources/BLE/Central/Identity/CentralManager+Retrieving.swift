import BLECore

extension CentralManager {
    /// The identifier of the device that uses `address`: of a bonded one's private address that of its identity.
    public func identifier(of address: DeviceAddress) async -> Peripheral.Identifier {
        await adapter.identifier(of: address)
    }

    /// How a device is connected to this process.
    public func state(of id: Peripheral.Identifier) async -> PeripheralState { await adapter.state(of: id) }

    /// The devices of these identifiers that may be reached, in that order: all lasting ones, since their identifier
    /// says where they are; of others those that have a link or that a request waits for.
    public func retrievePeripherals(
        withIdentifiers ids: [Peripheral.Identifier]
    ) async -> [KnownPeripheral] {
        await adapter.known(ids)
    }

    /// The devices with a link to this host that have one of these services; all of them when there are none. The
    /// services of a device of this process are discovered if they are not known yet.
    ///
    /// On kernel adapters the links of other programs are returned as well, whatever their services, which cannot be
    /// discovered. The kernel lists them only to a process with CAP_NET_ADMIN; else they are left out.
    public func retrieveConnectedPeripherals(
        withServices services: [BluetoothUUID] = []
    ) async throws(BLEError) -> [KnownPeripheral] {
        try await adapter.connected(with: services)
    }
}

extension CentralManager {
    /// Connects to a device by its identifier, as `connect(to:timeout:options:)` does by its address.
    public func connect(
        to id: Peripheral.Identifier, timeout: Duration? = .seconds(20), options: ConnectionOptions = .init()
    ) async throws(BLEError) -> Peripheral {
        try await connect(to: id.address, timeout: timeout, options: options)
    }

    /// Connects, runs `body` and disconnects, however `body` ends.
    public func withConnection<Result: Sendable>(
        to id: Peripheral.Identifier, timeout: Duration? = .seconds(20), options: ConnectionOptions = .init(),
        _ body: (Peripheral) async throws -> Result
    ) async throws -> Result {
        try await withConnection(to: id.address, timeout: timeout, options: options, body)
    }
}

extension Peripheral {
    /// Names the device: of a bonded one its identity.
    public var id: Identifier {
        get async { await adapter.identifier(of: address) }
    }

    /// How the device is connected to who holds this: after `disconnect` not at all, though others may share the link
    /// still.
    public var state: PeripheralState {
        get async { await adapter.state(of: user) }
    }
}
