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
    /// The adapter.
    public let adapter: Adapter

    /// The central role of `adapter`, which is powered on: it would not be open otherwise.
    public init(_ adapter: Adapter) { self.adapter = adapter }

    /// Advertisements nearby. The stream owns the scan: leaving its loop, or cancelling it, stops the
    /// radio. Of a slow consumer's waiting advertisements the oldest are dropped and counted.
    public func scan(_ options: ScanOptions = ScanOptions()) -> BoundedStream<Advertisement> {
        let buffer = StreamBuffer<Advertisement>(.newest(options.buffer))
        adapter.loop.execute { [adapter] in
            adapter.assumeIsolated { $0.startScan(options, into: buffer) }
        }
        return BoundedStream(buffer)
    }

    /// The first advertisement within `limit` that `isWanted` takes.
    public func first(
        _ options: ScanOptions = ScanOptions(), within limit: Duration?,
        where isWanted: @escaping @Sendable (Advertisement) -> Bool = { _ in true }
    ) async throws(BLEError) -> Advertisement {
        let timeout = BLEError.notFound("no device was found within \(limit ?? .zero)")
        return try await withDeadline(limit, on: adapter.loop, orThrow: timeout) { () throws(BLEError) in
            for try await found in scan(options) where isWanted(found) { return found }
            throw .cancelled
        }
    }

    /// Connects to a device. Without a time limit it waits until the device comes, as Apple's does, but on
    /// kernel adapters the kernel gives up after its own 20 to 40 s and is asked again.
    public func connect(
        to address: DeviceAddress, timeout: Duration? = .seconds(20), options: ConnectionOptions = .init()
    ) async throws(BLEError) -> Peripheral {
        let timedOut = BLEError.timedOut("connecting", after: timeout ?? .zero)
        let link = try await withDeadline(timeout, on: adapter.loop, orThrow: timedOut) {
            [adapter] () throws(BLEError) in
            try await adapter.connect(to: address, options)
        }
        return Peripheral(adapter, link, address)
    }

    /// Connects, runs `body` and disconnects, however `body` ends.
    public func withConnection<Result: Sendable>(
        to address: DeviceAddress, timeout: Duration? = .seconds(20), options: ConnectionOptions = .init(),
        _ body: (Peripheral) async throws -> Result
    ) async throws -> Result {
        let peripheral = try await connect(to: address, timeout: timeout, options: options)
        do {
            let result = try await body(peripheral)
            await peripheral.disconnect()
            return result
        } catch {
            await peripheral.disconnect()
            throw error
        }
    }
}
