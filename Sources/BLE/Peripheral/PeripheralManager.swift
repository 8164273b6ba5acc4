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
/// An adapter has one server. Several managers of one adapter publish into the same database, and each
/// receives all events of all centrals. `publish` replaces what another manager has published; `add(_:)`
/// keeps it.
public struct PeripheralManager: Sendable {
    /// The adapter that the manager serves and advertises with.
    public let adapter: Adapter

    /// The state that is kept for the next process; nil if none is kept.
    let restoration: PeripheralRestoration?

    /// Creates a manager for the peripheral role of `adapter`, without restoration.
    public init(_ adapter: Adapter) {
        self.adapter = adapter
        restoration = nil
    }

    /// Publishes services beside the generic ones, in place of those that were published before. The Device Name
    /// is the name that is advertised, unless `generic` has another. With `generic` nil the database is exactly
    /// `services`. The first call may come while links are up, for example those of a central manager of the same
    /// adapter: bonded peers keep the subscriptions that they had, and peers that have subscribed to Service
    /// Changed receive an indication. A later call throws `BLEError.invalidRequest` while a link is up. Throws
    /// `BLEError.database` when the services cannot be published.
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

    /// Publishes more services, also while centrals are connected; those that have subscribed to Service Changed
    /// receive an indication. Returns the range of handles of the new attributes; nil when `services` is empty.
    /// Throws `BLEError.database`, and publishes nothing, when the services cannot be published.
    @discardableResult
    public func add(_ services: [GATTService]) async throws(BLEError) -> AttributeRange? {
        let range = try await adapter.add(services)
        try await restoration?.published()
        return range
    }

    /// Removes the service that begins at `handle`, also while centrals are connected. Subscriptions to its
    /// values end, and centrals that have subscribed to Service Changed receive an indication.
    public func removeService(at handle: AttributeHandle) async throws(BLEError) {
        try await adapter.removeService(at: handle)
        try await adapter.saveServer()
    }

    /// Returns a stream of the events of all centrals from now on. The stream ends with `BLEError.overflow` when
    /// its consumer is more than 4,096 events behind, so that no event is lost unnoticed.
    public func events() -> BoundedStream<PeripheralEvent> {
        let buffer = StreamBuffer<PeripheralEvent>(.overflow(limit: 4096), on: adapter.loop)
        adapter.loop.execute { [adapter] in adapter.assumeIsolated { $0.listen(into: buffer) } }
        return BoundedStream(buffer)
    }

    /// Advertises until the returned advertisement is stopped, or ends by its own limits. Centrals can connect
    /// while fewer than `maximumLinks` of them are connected, whichever advertisement they answered. Returns when
    /// the advertisement is on air. Returns at once when all of its links are in use; it is then put on air as soon
    /// as one is free.
    ///
    /// Several advertisements can be on air at once, each with data and parameters of its own, for example a
    /// beacon beside a connectable service. Throws `BLEError.limit` when there are more than the controller has
    /// advertising sets; a controller with only the legacy commands has one. On kernel adapters the sets are
    /// shared with other programs.
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

    /// Whether the adapter advertises, or will as soon as a link is free, for any of its managers.
    public var isAdvertising: Bool {
        get async { await adapter.isAdvertising }
    }

    /// Advertises while `body` runs, and stops when it returns or throws. `body` runs on the caller's actor.
    public nonisolated(nonsending) func withAdvertising<Result: Sendable>(
        _ content: AdvertisingContent, kind: AdvertisingKind = .connectable,
        overflow: OverflowPolicy = .scanResponse, maximumLinks: Int = 1,
        _ body: nonisolated(nonsending) () async throws -> Result
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

    /// Stores a value and sends it to its subscribers, or to those of them in `centrals`. Subscribers to
    /// indications receive an indication, and the call waits for its confirmation. The centrals do not wait
    /// for each other, and the values for one central are sent in order. Returns the centrals that the value
    /// has reached. A value that is longer than a link's MTU minus 3 octets is not sent on that link; with
    /// `truncating` its beginning is sent. Throws `BLEError.limit` when a value was too long and reached no
    /// central.
    @discardableResult
    public func update(
        _ handle: AttributeHandle, to value: [UInt8], for centrals: [Central]? = nil, truncating: Bool = false
    ) async throws(BLEError) -> [Central] {
        try await adapter.update([(handle, value)], centrals: centrals, truncating: truncating)
    }

    /// Stores several values and sends them as `update(_:to:)` does. Centrals that support it receive the
    /// notifications in one packet (Multiple Handle Value Notification).
    @discardableResult
    public func update(
        _ values: [(handle: AttributeHandle, value: [UInt8])], for centrals: [Central]? = nil,
        truncating: Bool = false
    ) async throws(BLEError) -> [Central] {
        try await adapter.update(values, centrals: centrals, truncating: truncating)
    }

    /// Completes a request whose handler returned `.later`: a read with the value, a write with any octets.
    public func complete(_ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>) async {
        await adapter.complete(pending, with: result)
    }

    /// Returns the handle of the value of the first characteristic with this UUID.
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
            if let end = await adapter.end { throw end }
            throw .notFound(.characteristic(key.characteristic, of: nil))
        }
        return try await update(handle, to: key.encode(value), for: centrals)
    }
}
