import HCISocket

/// A port that is not writable while it is stalled, as when its buffer is full.
final class StallingPort: PacketPort, Sendable {
    private let inner: any PacketPort
    private let shared = Lock(Shared())

    private struct Shared {
        var isStalled = false
        var writable: (@Sendable () -> Void)?
    }

    init(_ inner: any PacketPort) { self.inner = inner }

    var isWritable: Bool { inner.isWritable && !shared.withLock { $0.isStalled } }

    func stall() { shared.withLock { $0.isStalled = true } }

    /// Makes the port writable again and reports that. Must be called on the loop.
    func resume() {
        shared.withLock { shared in
            shared.isStalled = false
            return shared.writable
        }?()
    }

    func start(_ handlers: PacketPortHandlers) throws(PortError) {
        shared.withLock { $0.writable = handlers.writable }
        try inner.start(handlers)
    }

    func send(_ packet: Span<UInt8>) { inner.send(packet) }
    func close() { inner.close() }
}
