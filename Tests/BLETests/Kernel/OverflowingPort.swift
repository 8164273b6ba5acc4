import HCISocket

/// A port that drops what it receives while its buffer is full, as a kernel socket does.
final class OverflowingPort: PacketPort, @unchecked Sendable {
    // Sendable: accessed only on the loop.
    private let inner: any PacketPort
    private var handlers: PacketPortHandlers?
    private var dropped = 0

    init(_ inner: any PacketPort) { self.inner = inner }

    /// Whether the buffer is full. The number of packets that were dropped is reported when it is not full
    /// any more.
    var isFull = false {
        didSet {
            guard !isFull, dropped > 0 else { return }
            handlers?.lost(dropped)
            dropped = 0
        }
    }

    /// Reports that packets were dropped.
    func lose(_ count: Int) { handlers?.lost(count) }

    var isWritable: Bool { inner.isWritable }

    func start(_ handlers: PacketPortHandlers) throws(PortError) {
        self.handlers = handlers
        var filtered = handlers
        filtered.receive = { [weak self] packet in
            guard let self else { return }
            if isFull { dropped += 1 } else { handlers.receive(packet) }
        }
        try inner.start(filtered)
    }

    func send(_ packet: Span<UInt8>) { inner.send(packet) }

    func close() {
        handlers = nil
        inner.close()
    }
}
