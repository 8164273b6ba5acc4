import BLECore
import GATTServer
import HCI
import HCISocket

/// The central role of an adapter: finds devices and connects to them.
///
/// ```swift
/// let central = CentralManager(try await Adapter.open(.virtual(name: nil)))
/// let found = try await central.first(within: .seconds(5)) { $0.name == "Thermometer" }
/// guard let address = found.address else { return }
/// try await central.withConnection(to: address) { peripheral in
///     let database = try await peripheral.discover()
///     guard let temperature = database.characteristics(0x2a6e).first else { return }
///     print(try await peripheral.read(temperature))
/// }
/// ```
public struct CentralManager: Sendable {
    /// The adapter that the manager scans and connects with.
    public let adapter: Adapter
    let suspension = Suspension()
    /// The state that is kept for the next process; nil without restoration.
    let restoration: CentralRestoration?

    /// Creates a manager for the central role of `adapter`, without restoration. An adapter that could be opened
    /// is powered on.
    public init(_ adapter: Adapter) {
        self.adapter = adapter
        restoration = nil
    }

    /// Scans, and returns a stream of the advertisements that are received. The stream owns the scan, which ends
    /// when the consumer leaves its loop or is cancelled. When the consumer is slow, the oldest waiting
    /// advertisements are dropped, and `BoundedStream.dropped` counts them.
    public func scan(_ options: ScanOptions = ScanOptions()) -> BoundedStream<Advertisement> {
        if let restored = restoration?.takeScan(options) {
            suspension.adopt(restored.buffer)
            return restored
        }
        return scan(options, keepingIt: true)
    }

    private func scan(_ options: ScanOptions, keepingIt isKept: Bool) -> BoundedStream<Advertisement> {
        let buffer = StreamBuffer<Advertisement>(
            .newest(options.buffer), on: adapter.loop, merge: { AnyHashable(Sender($0)) })
        suspension.adopt(buffer)
        if isKept, let restoration {
            restoration.scan(options, into: buffer)
        } else {
            adapter.loop.execute { [adapter] in
                adapter.assumeIsolated { $0.startScan(options, into: buffer) }
            }
        }
        return BoundedStream(buffer)
    }

    /// Whether a scan of the adapter is under way, of any of its managers. A scan continues while the radio does not
    /// listen because of other work.
    public var isScanning: Bool {
        get async { await adapter.isScanning }
    }

    /// The statistics of all scans of the adapter, which share one memory of devices.
    public var scanStatistics: ScanStatistics {
        get async { await adapter.scanStatistics }
    }

    /// Starts a scan whose results are used only once, so that it is not kept for the next process. Every
    /// packet is reported, whatever `options.repeats` is: a device that a filter has rejected may
    /// pass it when it comes nearer, or when it accepts connections.
    func search(_ options: ScanOptions) -> BoundedStream<Advertisement> {
        var options = options
        options.repeats = .all
        return scan(options, keepingIt: false)
    }

    /// Scans until `isWanted` returns true for an advertisement, and returns that advertisement. `isWanted`
    /// is called for every packet that passes the filters of `options`. Throws `BLEError.notFound` when none
    /// is found within `limit`; nil sets no limit.
    public func first(
        _ options: ScanOptions = ScanOptions(), within limit: Duration?,
        where isWanted: @escaping @Sendable (Advertisement) -> Bool = { _ in true }
    ) async throws(BLEError) -> Advertisement {
        let timeout = BLEError.notFound(.device(within: limit))
        return try await withDeadline(limit, on: adapter.loop, orThrow: timeout) { () throws(BLEError) in
            for try await found in search(options) where isWanted(found) { return found }
            throw .cancelled
        }
    }

    /// Connects to a device. Without a time limit the request waits until the device is in range, as Core
    /// Bluetooth's does, while other requests and scans continue. After 30.72 s the radio listens for the
    /// device with the duty cycle of `ConnectionOptions.background`. On kernel adapters the kernel gives up
    /// after 20 to 40 s, and the request is then repeated.
    ///
    /// Some devices do not answer the exchange of the MTU, or end the link at it. They are connected once more without
    /// it, which is logged and remembered until this process ends.
    ///
    /// A second request for the same device joins the first one, or the existing link, whichever side
    /// established it. The settings in `options` are applied to the shared link.
    ///
    /// Each caller has to call `Peripheral.disconnect`: releasing the `Peripheral` does not end the link. `withConnection`
    /// does that, and `disconnect(_:reason:)` ends the link for all callers.
    public func connect(
        to address: DeviceAddress, timeout: Duration? = .seconds(20), options: ConnectionOptions = .init()
    ) async throws(BLEError) -> Peripheral {
        if let restoration {
            let id = await adapter.identifier(of: address)
            let request = try await restoration.request(for: id, options)
            return try await connect(request, to: address, timeout: timeout, options: options)
        }
        return try await connect(to: address, timeout: timeout, establishingWithin: nil, options: options)
    }

    /// As `connect`, but the link is not restored, and has another time limit for its establishment alone. What follows
    /// can take longer, because a person may have to enter a passkey.
    package func connect(
        to address: DeviceAddress, timeout: Duration?, establishingWithin limit: Duration?,
        options: ConnectionOptions
    ) async throws(BLEError) -> Peripheral {
        let stage = Lock(BLEError.Activity.connecting)
        do throws(BLEError) {
            let loop = adapter.loop
            let user = try await untilDeadline(timeout, on: loop) { [adapter] () throws(BLEError) in
                let user = try await untilDeadline(
                    limit, on: loop, applies: { stage.withLock { $0 } == .connecting }
                ) { () throws(BLEError) in
                    try await adapter.connect(
                        to: address, options, isPatient: timeout == nil && limit == nil, stage)
                }
                guard let user else { throw .timedOut(.connecting, after: limit ?? .zero) }
                return user
            }
            guard let user else { throw .timedOut(stage.withLock { $0 }, after: timeout ?? .zero) }
            return Peripheral(adapter, user, await adapter.peer(of: user.link) ?? address)
        } catch {
            if error != .cancelled { await adapter.noteFailure(to: address, error) }
            throw error
        }
    }

    /// Connects for a `LinkRequest`, which the next process can restore.
    private func connect(
        _ request: LinkRequest, to address: DeviceAddress, timeout: Duration?, options: ConnectionOptions
    ) async throws(BLEError) -> Peripheral {
        do throws(BLEError) {
            return try await request.connect(to: address, timeout: timeout, options: options)
        } catch {
            // The end of the adapter does not withdraw the request.
            if await adapter.end == nil {
                request.end()
                await request.save()
            }
            throw error
        }
    }

    /// Connects, runs `body` and disconnects, whether `body` returns or throws. When it returns, its writes
    /// without response are sent before the link ends; throws `BLEError.unsent` when they cannot be sent.
    /// `body` runs on the caller's actor.
    public nonisolated(nonsending) func withConnection<Result: Sendable>(
        to address: DeviceAddress, timeout: Duration? = .seconds(20), options: ConnectionOptions = .init(),
        _ body: nonisolated(nonsending) (Peripheral) async throws -> Result
    ) async throws -> Result {
        let peripheral = try await connect(to: address, timeout: timeout, options: options)
        do {
            let result = try await body(peripheral)
            try await peripheral.waitUntilSent()
            await peripheral.disconnect()
            return result
        } catch {
            await peripheral.disconnect()
            throw error
        }
    }
}

extension CentralManager {
    /// Returns the GATT server of a central that has connected to this host. On a link each side can be both
    /// client and server, as Apple's Notification Center Service requires.
    ///
    /// ```swift
    /// for try await case .connected(let central, _) in peripherals.events() {
    ///     let phone = try await centrals.peripheral(of: central)
    ///     print(try await phone.read(.batteryLevel))
    /// }
    /// ```
    ///
    /// The link belongs to the central: `Peripheral.disconnect` does not end it, `PeripheralManager.disconnect`
    /// does.
    ///
    /// - Parameters:
    ///   - central: a central of a peripheral manager of the same adapter.
    ///   - options: the settings to apply to the link; those that concern establishing a link are ignored.
    /// - Throws: `BLEError.disconnected` when the link of `central` has ended; `BLEError.invalidRequest` for
    ///   a central of another adapter; what `connect` throws for the options.
    public func peripheral(
        of central: Central, options: ConnectionOptions = .init()
    ) async throws(BLEError) -> Peripheral {
        let user = try await adapter.join(central, options)
        return Peripheral(adapter, user, await adapter.peer(of: user.link) ?? central.address)
    }
}

extension Adapter {
    /// Joins the link that a central has established.
    fileprivate func join(
        _ central: Central, _ options: ConnectionOptions
    ) async throws(BLEError) -> LinkUser {
        try check(options)
        let link = try linkThatTakes(central.link)
        // Different adapters use the same numbers for their links.
        guard link.peer == central.address else {
            throw .invalidRequest(.foreignCentral(central))
        }
        let user = link.join(radio.nextTicket())
        try await prepare(user, options)
        noteConnected(user)
        return user
    }
}

extension CentralManager {
    /// Returns the identifier of the device that uses `address`. The private address of a bonded device gives the
    /// identifier of its identity address.
    public func identifier(of address: DeviceAddress) async -> Peripheral.Identifier {
        await adapter.identifier(of: address)
    }

    /// Ends the link to a device for all its users in this process, also for those that have released their
    /// `Peripheral` without `disconnect`. Returns when it has ended; does nothing when there is none. Calls of
    /// `connect` that wait for the device go on. A link that the device established as central ends, too.
    public func disconnect(_ id: Peripheral.Identifier, reason: DisconnectCause = .userTerminated) async {
        await adapter.disconnect(id, reason)
    }

    /// Returns how a device is connected to this process.
    public func state(of id: Peripheral.Identifier) async -> PeripheralState { await adapter.state(of: id) }

    /// Returns the devices with these identifiers that can be connected to, in the same order. Devices with a
    /// lasting identifier are always included, since it contains their address; others only while they have a
    /// link or a request waits for them.
    public func retrievePeripherals(
        withIdentifiers ids: [Peripheral.Identifier]
    ) async -> [KnownPeripheral] {
        await adapter.known(ids)
    }

    /// Returns the devices with a link to this host that have one of `services`; all devices when the list is
    /// empty. The services of a device that this process is connected to are discovered if they are not known
    /// yet.
    ///
    /// On kernel adapters the links of other programs are returned as well, whatever their services, which
    /// cannot be discovered. The kernel lists them only to a process with CAP_NET_ADMIN; otherwise they are
    /// omitted.
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

    /// Connects, runs `body` and disconnects, whether `body` returns or throws. `body` runs on the caller's
    /// actor.
    public nonisolated(nonsending) func withConnection<Result: Sendable>(
        to id: Peripheral.Identifier, timeout: Duration? = .seconds(20), options: ConnectionOptions = .init(),
        _ body: nonisolated(nonsending) (Peripheral) async throws -> Result
    ) async throws -> Result {
        try await withConnection(to: id.address, timeout: timeout, options: options, body)
    }
}

extension Peripheral {
    /// The identifier of the device; for a bonded device, that of its identity address.
    public var id: Identifier {
        get async { await adapter.identifier(of: address) }
    }

    /// The name of the device as far as it is known without a request: one that it advertises, if this process
    /// has received it, otherwise that of its bond. The characteristic `0x2a00` has the name that the device reports.
    public var name: String? {
        get async { await adapter.name(of: address) }
    }

    /// Whether the device was of use on this link: it has sent a value to a subscriber, or answered a request other
    /// than the exchange of the MTU and discovery.
    var hasServed: Bool {
        get async { await adapter.hasServed(on: link) }
    }

    /// The state of the connection for this `Peripheral`: `disconnected` after its `disconnect`, even if other
    /// callers still use the link.
    public var state: PeripheralState {
        get async { await adapter.state(of: user) }
    }
}

extension CentralManager {
    /// Suspends the streams of this manager and its copies: scans, connection events, states. The radio and
    /// the links continue, and so do streams of values, which have buffers of their own. A gateway can call
    /// this while it has more urgent work than to process every packet.
    ///
    /// Events that occur meanwhile are merged: the last packet of each advertising set, the last connection event
    /// of each device and the last state are kept, in the order in which they occurred. When a stream's buffer is
    /// full, its policy applies as usual: the oldest advertisements are dropped, and `dropped` counts them.
    ///
    /// Events that were reported before can still be read.
    public func suspend() { suspension.set(true) }

    /// Delivers the events that were held back, and resumes the streams. Does nothing when the manager is not
    /// suspended.
    public func resume() { suspension.set(false) }

    /// Whether the manager is holding its events back.
    public var isSuspended: Bool { suspension.isSuspended }
}

extension CentralManager {
    /// Follows a periodic advertising train, and returns a stream of its data, event by event. The stream owns
    /// the synchronization, which ends when the consumer leaves its loop or is cancelled. Several streams of one
    /// train share a synchronization with the options of the first.
    ///
    /// The stream ends with `BLEError.syncLost` when the train is lost, and with `BLEError.timedOut` when it is
    /// not found.
    /// ```swift
    /// for try await report in central.periodicAdvertising(of: address, set: 1) {
    ///     print(report.fields.serviceData)
    /// }
    /// ```
    /// Core Specification 5.4, Vol 3, Part C, 9.5.
    public func periodicAdvertising(
        of advertiser: DeviceAddress, set: UInt8, options: PeriodicSyncOptions = PeriodicSyncOptions()
    ) -> BoundedStream<PeriodicAdvertisement> {
        let buffer = StreamBuffer<PeriodicAdvertisement>(.newest(options.buffer), on: adapter.loop)
        let train = PeriodicSynchronizer.Train(advertiser: advertiser, set: set)
        guard set <= 0x0f else {
            buffer.finish(.failure(.outOfRange(.advertisingSetID, allowed: 0...15, value: Int(set))))
            return BoundedStream(buffer)
        }
        adapter.loop.execute { [adapter] in
            adapter.assumeIsolated { $0.followTrain(train, options, into: buffer) }
        }
        return BoundedStream(buffer)
    }
}
