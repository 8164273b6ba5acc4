import HCISocket

/// A named group of chains, for example those of one room or of one part of a program. A channel receives the
/// events of its own chains only.
///
/// ```swift
/// let kitchen = central.channel("kitchen")
/// let events = kitchen.events()
/// let level = try await kitchen.scan { $0.name = "Kitchen*" }.connect().read(.batteryLevel)
/// ```
public struct Channel: Sendable {
    /// The name of the channel in the errors of its chains.
    public let name: String
    /// The manager with which the channel scans and connects.
    public let central: CentralManager
    private let watchers: ChannelWatchers

    init(_ name: String, _ central: CentralManager) {
        self.name = name
        self.central = central
        watchers = ChannelWatchers()
    }

    /// Returns a stream of the events of the channel's chains from now on. The stream ends with
    /// `BLEError.overflow` when its consumer is more than 1,024 events behind.
    public func events() -> BoundedStream<ChainEvent> {
        let buffer = StreamBuffer<ChainEvent>(.overflow(limit: 1024))
        watchers.add(buffer)
        return BoundedStream(buffer)
    }

    func emit(_ event: ChainEvent) { watchers.emit(event) }

    /// Begins a chain with a scan; `change` sets the options of the scan.
    public func scan(_ change: (inout ScanOptions) -> Void = { _ in }) -> Chain {
        var options = ScanOptions()
        change(&options)
        return Chain(self, options)
    }

    /// Begins a chain to a known device, which is connected to without a scan. What concerns a scan, which is `where`,
    /// `within`, `onFound` and the filter of `connect`, applies only to `first` and `each`, which scan for this device.
    public func peripheral(_ id: Peripheral.Identifier) -> Chain { Chain(self, to: id) }
}

/// The consumers of a channel's events.
private final class ChannelWatchers: Sendable {
    private let watchers = Lock(Watchers<ChainEvent>())

    func add(_ buffer: StreamBuffer<ChainEvent>) {
        let number = watchers.withLock { $0.add(buffer) }
        buffer.onEnd { [weak self] in self?.watchers.withLock { $0.remove(number) } }
    }

    /// Emits outside of the lock, because a stream that ends takes the lock.
    func emit(_ event: ChainEvent) { watchers.withLock { $0 }.emit(event) }
}

extension CentralManager {
    /// Creates a channel with this name. Channels with the same name are independent of each other.
    public func channel(_ name: String) -> Channel { Channel(name, self) }

    /// Begins a chain with a scan, on a new channel without a name.
    ///
    /// ```swift
    /// let level = try await central.chain { $0.services = [.batteryService] }
    ///     .where { $0.rssi ?? -127 > -70 }.within(.seconds(5))
    ///     .connect(timeout: .seconds(10))
    ///     .read(.batteryLevel)
    /// ```
    public func chain(_ change: (inout ScanOptions) -> Void = { _ in }) -> Chain { channel("").scan(change) }

    /// Begins a chain to a known device, on a new channel without a name.
    ///
    /// ```swift
    /// let level = try await central.chain(to: id).connect(timeout: .seconds(10)).read(.batteryLevel)
    /// ```
    public func chain(to id: Peripheral.Identifier) -> Chain { channel("").peripheral(id) }
}
