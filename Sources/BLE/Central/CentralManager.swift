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
    /// What is kept for the next process; nil: nothing.
    let restoration: CentralRestoration?

    /// The central role of `adapter`, which is powered on: it would not be open otherwise.
    public init(_ adapter: Adapter) {
        self.adapter = adapter
        restoration = nil
    }

    /// Advertisements nearby. The stream owns the scan: leaving its loop, or cancelling it, stops the
    /// radio. Of a slow consumer's waiting advertisements the oldest are dropped and counted.
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

    /// How full the memory of devices is that all scans of the adapter share.
    public var scanStatistics: ScanStatistics {
        get async { await adapter.scanStatistics }
    }

    /// A scan for something that is taken once, so that the next process has no use for it. Each packet
    /// counts, whatever `options` says of repeats: one that a filter refused may be wanted when it comes
    /// nearer, or takes connections.
    func search(_ options: ScanOptions) -> BoundedStream<Advertisement> {
        var options = options
        options.repeats = .all
        return scan(options, keepingIt: false)
    }

    /// The first advertisement within `limit` that `isWanted` takes; it is asked about each packet.
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

    /// Connects to a device. Without a time limit it waits until the device comes, as Apple's does, while
    /// others connect and scans go on; after half a minute it listens as `ConnectionOptions.background` says. On
    /// kernel adapters the kernel gives up after its own 20 to 40 s and is asked again.
    ///
    /// A second connect to the same device joins the first, or the link that is there, whichever side made it:
    /// each needs its `disconnect`. What `options` says of the link is then brought about on that one.
    public func connect(
        to address: DeviceAddress, timeout: Duration? = .seconds(20), options: ConnectionOptions = .init()
    ) async throws(BLEError) -> Peripheral {
        if let restoration {
            let id = await adapter.identifier(of: address)
            let request = try await restoration.request(for: id, options)
            return try await connect(request, to: address, timeout: timeout, options: options)
        }
        let timedOut = BLEError.timedOut(.connecting, after: timeout ?? .zero)
        do throws(BLEError) {
            let user = try await withDeadline(timeout, on: adapter.loop, orThrow: timedOut) {
                [adapter] () throws(BLEError) in
                try await adapter.connect(to: address, options, isPatient: timeout == nil)
            }
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

    /// Connects, runs `body` and disconnects, however `body` ends. When it succeeds, what it has written without
    /// response leaves before, or the error is `BLEError.unsent`.
    public func withConnection<Result: Sendable>(
        to address: DeviceAddress, timeout: Duration? = .seconds(20), options: ConnectionOptions = .init(),
        _ body: (Peripheral) async throws -> Result
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
    /// The GATT server of a central that has connected to this host: on a link each side can be both client and server,
    /// as Apple's Notification Center Service needs it.
    ///
    /// ```swift
    /// for try await case .connected(let central, _) in peripherals.events() {
    ///     let phone = try await centrals.peripheral(of: central)
    ///     print(try await phone.read(.batteryLevel))
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

extension CentralManager {
    /// Holds back what this manager, and its copies, report: scans, connection events, states. The radio goes on, and
    /// so do links and the values that they bring, which have buffers of their own. For a gateway that has something
    /// more urgent to do than to process every packet.
    ///
    /// Meanwhile what comes is merged: of each advertising set the last packet is kept, of each device the last
    /// connection event, and the last state, in the order in which they came. When there is more than a stream's buffer
    /// holds, its policy counts, as ever: of advertisements the oldest go, and `dropped` counts them.
    ///
    /// What was reported before can still be taken.
    public func suspend() { suspension.set(true) }

    /// Hands over what came meanwhile, and goes on. Does nothing when it is not suspended.
    public func resume() { suspension.set(false) }

    /// Whether the manager holds its events back.
    public var isSuspended: Bool { suspension.isSuspended }
}

extension CentralManager {
    /// What an advertiser's periodic train says, event by event. The stream owns the synchronization: leaving
    /// its loop, or cancelling it, ends that. Several streams of one train share it, with the options of the
    /// first.
    ///
    /// It ends with `BLEError.syncLost` when the train falls silent, and with `BLEError.timedOut` when it is
    /// not found.
    /// ```swift
    /// for try await said in central.periodicAdvertising(of: address, set: 1) {
    ///     print(said.fields.serviceData)
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
