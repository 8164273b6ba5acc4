import ATT
import BLEAdvertising
import BLECore
import GATTServer
import HCISocket

/// The peripheral role of an adapter: publishes services, advertises them, and answers centrals.
///
/// ```swift
/// let peripheral = PeripheralManager(try await Adapter.open(.virtual(name: "kitchen")))
/// try await peripheral.publish([
///     GATTService(0x1809, characteristics: [GATTCharacteristic(0x2a6e, properties: [.read, .notify])])
/// ])
/// try await peripheral.withAdvertising(content) {
///     for try await event in peripheral.events() { print(event) }
/// }
/// ```
///
/// An adapter has one server. Several managers of one adapter publish into the same database, and each has all
/// events of all centrals. What one publishes anew takes the place of what another has published; with
/// `add(_:)` both stay.
public struct PeripheralManager: Sendable {
    /// The adapter that the manager serves and advertises with.
    public let adapter: Adapter

    /// What is kept for the next process; nil: nothing.
    let restoration: PeripheralRestoration?

    /// Creates a manager for the peripheral role of `adapter`, without restoration.
    public init(_ adapter: Adapter) {
        self.adapter = adapter
        restoration = nil
    }

    /// Publishes services beside the generic ones, which have the device's name: the one that is advertised, unless
    /// `generic` has another. With `generic` nil the database is exactly `services`. The first call may come while
    /// links are up, as those of a central manager of the same adapter: bonded peers have the subscriptions that they
    /// had, and those that asked for it receive Service Changed. A later call, in place of the services before, needs
    /// that no link is up. What cannot work is reported as `BLEError.database`.
    public func publish(
        _ services: [GATTService], generic: GenericServices? = GenericServices(),
        options: ServerOptions = ServerOptions()
    ) async throws(BLEError) {
        try await adapter.publish(services, generic, options)
        try await restoration?.published()
    }

    /// Publishes the services that statements list, as `publish(_:generic:options:)` does.
    public func publish(
        generic: GenericServices? = GenericServices(), options: ServerOptions = ServerOptions(),
        @GATTBuilder<GATTService> services: () -> [GATTService]
    ) async throws(BLEError) {
        try await publish(services(), generic: generic, options: options)
    }

    /// Publishes more services, also while centrals are connected: those that asked for it receive Service Changed.
    /// Gives the handles from the first to the last of their attributes; nil when there are no services. What cannot
    /// work is reported as `BLEError.database`, and nothing is published then.
    @discardableResult
    public func add(_ services: [GATTService]) async throws(BLEError) -> AttributeRange? {
        let range = try await adapter.add(services)
        try await restoration?.published()
        return range
    }

    /// Takes back the service that begins at `handle`, also while centrals are connected: subscriptions to its values
    /// end, and centrals that asked for it receive Service Changed.
    public func removeService(at handle: AttributeHandle) async throws(BLEError) {
        try await adapter.removeService(at: handle)
        try await adapter.saveServer()
    }

    /// What centrals do from now on. A consumer that is more than 4,096 events behind loses the stream,
    /// with `BLEError.overflow`, so that nothing is missed unnoticed.
    public func events() -> BoundedStream<PeripheralEvent> {
        let buffer = StreamBuffer<PeripheralEvent>(.overflow(limit: 4096), on: adapter.loop)
        adapter.loop.execute { [adapter] in adapter.assumeIsolated { $0.listen(into: buffer) } }
        return BoundedStream(buffer)
    }

    /// Advertises until the result is stopped or its limits end it; centrals can connect while fewer than
    /// `maximumLinks` of them are, whichever advertisement brought them. Returns when it is on air.
    ///
    /// Several advertisements are on air at once, each with data and parameters of its own: a beacon beside a
    /// connectable service. More than the controller has sets are `BLEError.limit`; controllers that know the
    /// legacy commands only have one. On kernel adapters the sets are shared with other programs.
    public func advertise(
        _ request: AdvertisingRequest, maximumLinks: Int = 1
    ) async throws(BLEError) -> Advertising {
        if let restoration {
            return try await restoration.advertise(
                RestoredAdvertising(request: request, maximumLinks: maximumLinks))
        }
        return Advertising(
            adapter: adapter, record: try await adapter.startAdvertising(request, maximumLinks: maximumLinks))
    }

    /// Advertises while `body` runs, and stops when it returns or throws.
    public func withAdvertising<Result: Sendable>(
        _ content: AdvertisingContent, kind: AdvertisingKind = .connectable,
        overflow: OverflowPolicy = .scanResponse, maximumLinks: Int = 1, _ body: () async throws -> Result
    ) async throws -> Result {
        let plan = try AdvertisingPlan(content, kind: kind, overflow: overflow)
        let advertising = try await advertise(
            AdvertisingRequest(plan, kind: kind), maximumLinks: maximumLinks)
        do {
            let result = try await body()
            await advertising.stop()
            return result
        } catch {
            await advertising.stop()
            throw error
        }
    }

    /// Stores a value and sends it to its subscribers, or to those of `centrals` among them; by indication
    /// to those who want that, whose confirmation is awaited. No central waits for another, and values for
    /// one leave in order. Returns whom it reached: a value over the MTU less 3 octets of a link is not sent
    /// on that, unless `truncating` says that its beginning will do, and is `BLEError.limit` where it has
    /// reached none.
    @discardableResult
    public func update(
        _ handle: AttributeHandle, to value: [UInt8], for centrals: [Central]? = nil, truncating: Bool = false
    ) async throws(BLEError) -> [Central] {
        try await adapter.update([(handle, value)], centrals: centrals, truncating: truncating)
    }

    /// Stores several values and sends them as `update(_:to:)` does; centrals that can take them get those
    /// by notification in one packet (Multiple Handle Value Notification).
    @discardableResult
    public func update(
        _ values: [(handle: AttributeHandle, value: [UInt8])], for centrals: [Central]? = nil,
        truncating: Bool = false
    ) async throws(BLEError) -> [Central] {
        try await adapter.update(values, centrals: centrals, truncating: truncating)
    }

    /// Gives the answer that a handler promised with `.later`: a value for reads, anything for writes.
    public func complete(_ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>) async {
        await adapter.complete(pending, with: result)
    }

    /// The handle of a characteristic's value, the first with that UUID.
    public func valueHandle(of characteristic: BluetoothUUID) async -> AttributeHandle? {
        await adapter.server.gatt.database.valueHandle(of: characteristic)
    }
}

extension PeripheralManager {
    /// Stores the value of the first characteristic of a key's type, and sends it to its subscribers, as
    /// `update(_:to:for:)` does.
    @discardableResult
    public func update<Value>(
        _ key: CharacteristicKey<Value>, to value: Value, for centrals: [Central]? = nil
    ) async throws(BLEError) -> [Central] {
        guard let handle = await valueHandle(of: key.characteristic) else {
            throw .notFound(.characteristic(key.characteristic, of: nil))
        }
        return try await update(handle, to: key.encode(value), for: centrals)
    }
}
