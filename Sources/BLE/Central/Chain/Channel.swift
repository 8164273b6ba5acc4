import HCISocket

/// A name for what belongs together: a channel receives the events of its own chains, and of no others. A device of
/// another room, or another part of a program, has another channel.
///
/// ```swift
/// let kitchen = central.channel("kitchen")
/// let events = kitchen.events()
/// let level = try await kitchen.scan { $0.name = "Kitchen*" }.connect().read(.batteryLevel)
/// ```
public struct Channel: Sendable {
    /// The name, for events and errors of its chains.
    public let name: String
    /// The manager whose radio it uses.
    public let central: CentralManager
    private let watchers: ChannelWatchers

    init(_ name: String, _ central: CentralManager) {
        self.name = name
        self.central = central
        watchers = ChannelWatchers()
    }

    /// What the channel's chains do from now on. A consumer that is more than 1,024 events behind loses the
    /// stream, with `BLEError.overflow`.
    public func events() -> BoundedStream<ChainEvent> {
        let buffer = StreamBuffer<ChainEvent>(.overflow(limit: 1024))
        watchers.add(buffer)
        return BoundedStream(buffer)
    }

    func emit(_ event: ChainEvent) { watchers.emit(event) }

    /// A chain that begins with a scan for what `change` says.
    public func scan(_ change: (inout ScanOptions) -> Void = { _ in }) -> Chain {
        var options = ScanOptions()
        change(&options)
        return Chain(self, options)
    }
}

/// The consumers of a channel's events.
private final class ChannelWatchers: Sendable {
    private let watchers = Lock(Watchers<ChainEvent>())

    func add(_ buffer: StreamBuffer<ChainEvent>) {
        let number = watchers.withLock { $0.add(buffer) }
        buffer.onEnd { [weak self] in self?.watchers.withLock { $0.remove(number) } }
    }

    /// Outside of the lock, which a stream that ends asks for.
    func emit(_ event: ChainEvent) { watchers.withLock { $0 }.emit(event) }
}

extension CentralManager {
    /// A channel of that name. Two of one name are two.
    public func channel(_ name: String) -> Channel { Channel(name, self) }

    /// The beginning of a chain without a name: one expression from scan to value.
    ///
    /// ```swift
    /// let level = try await central.chain { $0.services = [.batteryService] }
    ///     .where { $0.rssi ?? -127 > -70 }.within(.seconds(5))
    ///     .connect(timeout: .seconds(10))
    ///     .read(.batteryLevel)
    /// ```
    public func chain(_ change: (inout ScanOptions) -> Void = { _ in }) -> Chain { channel("").scan(change) }
}
