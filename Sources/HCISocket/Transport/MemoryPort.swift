import BLECore

/// A port whose other end is another port of the same process and loop: a host and a simulated controller
/// connected without a descriptor. A port receives what the other one sends in the loop's next turn.
package final class MemoryPort: PacketPort, @unchecked Sendable {
    // Sendable: accessed only on the loop.
    private let loop: EventLoop
    private weak var other: MemoryPort?
    private var handlers: PacketPortHandlers?
    private var waiting: [[UInt8]] = []
    /// The number of octets in `waiting`.
    private var waitingCount = 0
    private var ended = false

    /// The number of octets that wait at the other end from which `isWritable` is false, as with a stream.
    private static let highWater = 1 << 16

    private init(on loop: EventLoop) { self.loop = loop }

    deinit {
        if !ended, let other { loop.execute { other.otherClosed() } }
    }

    /// Creates two connected ports. Each stores what it receives before it is started.
    package static func pair(on loop: EventLoop) -> (MemoryPort, MemoryPort) {
        let (left, right) = (MemoryPort(on: loop), MemoryPort(on: loop))
        left.other = right
        right.other = left
        return (left, right)
    }

    package var isWritable: Bool { !ended && !isFull(other) }

    package func start(_ handlers: PacketPortHandlers) throws(PortError) {
        self.handlers = handlers
        loop.execute { self.deliver() }
    }

    /// Sends one packet to the other end.
    package func send(_ packet: Span<UInt8>) {
        guard !ended, let other else { return }
        let isFirst = other.waiting.isEmpty
        other.waiting.append([UInt8](copying: packet))
        other.waitingCount += packet.count
        // Packets that are sent until then are delivered in the same call.
        if isFirst { loop.execute { other.deliver() } }
    }

    package func close() {
        guard !ended else { return }
        ended = true
        handlers = nil
        if let other { loop.execute { other.otherClosed() } }
    }

    private func deliver() {
        guard handlers != nil else { return }
        let packets = waiting
        let wasFull = isFull(self)
        waiting.removeAll()
        waitingCount = 0
        for packet in packets { handlers?.receive(packet.span) }
        if wasFull { other?.handlers?.writable() }
    }

    private func isFull(_ end: MemoryPort?) -> Bool { (end?.waitingCount ?? 0) >= Self.highWater }

    private func otherClosed() {
        guard !ended else { return }
        ended = true
        let closed = handlers?.closed
        handlers = nil
        closed?(.ended)
    }
}
