import BLECore
import DequeModule
import HCI

/// A port that wraps another port and delays its packets in both directions, in order. The delays are the
/// same for the same seed. For tests.
package final class DelayedPort: PacketPort, @unchecked Sendable {
    // Sendable: all state is accessed only on the loop, like every call of a port.
    private let inner: any PacketPort
    private let loop: EventLoop
    private let delay: ClosedRange<Duration>
    private var random: any RandomNumberGenerator
    private var handlers: PacketPortHandlers?
    private var coming = Way()
    private var going = Way()
    private var timer: LoopTimer?

    /// The packets in transit in one direction.
    private struct Way {
        var packets: Deque<(due: Instant, octets: [UInt8])> = []

        mutating func add(_ packet: Span<UInt8>, at due: Instant) {
            // No packet overtakes another.
            packets.append((max(due, packets.last?.due ?? due), [UInt8](copying: packet)))
        }

        mutating func next(at now: Instant) -> [UInt8]? {
            guard let first = packets.first, first.due <= now else { return nil }
            packets.removeFirst()
            return first.octets
        }
    }

    /// The number of packets in transit from which `isWritable` is false.
    private static let highWater = 64

    /// Creates a port that takes ownership of `inner` and delays its packets by a time within `delay`.
    package init(
        _ inner: any PacketPort, on loop: EventLoop, delay: ClosedRange<Duration>,
        random: some RandomNumberGenerator & Sendable
    ) {
        self.inner = inner
        self.loop = loop
        self.delay = delay
        self.random = random
    }

    package var isWritable: Bool { inner.isWritable && going.packets.count < Self.highWater }

    package func start(_ handlers: PacketPortHandlers) throws(PortError) {
        self.handlers = handlers
        timer = LoopTimer(on: loop) { [weak self] in self?.move() }
        var mine = handlers
        mine.receive = { [weak self] packet in self?.received(packet) }
        mine.writable = { [weak self] in self?.move() }
        mine.closed = { [weak self] error in self?.ended(error) }
        mine.wasReset = { [weak self] in self?.wasReset() }
        try inner.start(mine)
    }

    /// Queues one packet, and sends it when its delay has passed.
    package func send(_ packet: Span<UInt8>) {
        going.add(packet, at: due)
        rearm()
    }

    /// Closes the port; packets in transit are lost.
    package func close() {
        handlers = nil
        timer?.set(nil)
        inner.close()
    }

    private var due: Instant {
        let span = (delay.upperBound - delay.lowerBound).nanoseconds
        let extra = span > 0 ? Int64(random.next() % UInt64(span)) : 0
        return loop.now + delay.lowerBound + .nanoseconds(extra)
    }

    private func received(_ packet: Span<UInt8>) {
        coming.add(packet, at: due)
        rearm()
    }

    /// Drops the packets in transit: they are from before the reset of the controller.
    private func wasReset() {
        let wasFull = !isWritable
        coming.packets = []
        going.packets = []
        rearm()
        handlers?.wasReset()
        if wasFull, isWritable { handlers?.writable() }
    }

    private func ended(_ error: PortError) {
        let closed = handlers?.closed
        close()
        closed?(error)
    }

    private func move() {
        let wasFull = !isWritable
        while inner.isWritable, let packet = going.next(at: loop.now) { inner.send(packet.span) }
        while let packet = coming.next(at: loop.now) { handlers?.receive(packet.span) }
        if wasFull, isWritable { handlers?.writable() }
        rearm()
    }

    private func rearm() {
        guard handlers != nil else { return }
        // A packet that waits for room is sent when the inner port becomes writable.
        timer?.set(earlier(coming.packets.first?.due, inner.isWritable ? going.packets.first?.due : nil))
    }
}
