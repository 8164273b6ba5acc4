import BLECore
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

    /// A scan for something that is taken once, so that the next process has no use for it. Each packet counts, whatever
    /// `options` says of repeats: one that a filter refused may be wanted when it comes nearer, or takes connections.
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
            let wish = try await restoration.wish(for: id, options)
            return try await connect(wish, to: address, timeout: timeout, options: options)
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

    /// Connects for a `LinkWish`, which the next process can restore.
    private func connect(
        _ wish: LinkWish, to address: DeviceAddress, timeout: Duration?, options: ConnectionOptions
    ) async throws(BLEError) -> Peripheral {
        do throws(BLEError) {
            return try await wish.connect(to: address, timeout: timeout, options: options)
        } catch {
            // The end of the adapter does not withdraw the request.
            if await adapter.end == nil {
                wish.end()
                await wish.save()
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
