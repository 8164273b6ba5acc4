import BLECore
import HCISocket

/// A host's port on which a test can read, drop, change and add packets. The peer receives the changed packets,
/// so the port simulates servers that are silent, hostile or ahead of the specification.
///
/// The port handles the ATT frames of one link, each in one ACL packet.
final class AlteringPort: PacketPort, @unchecked Sendable {
    // Sendable: accessed only on the loop, except `shared`.
    private let inner: any PacketPort
    private let loop: EventLoop
    private let shared = Lock(Shared())

    private struct Shared {
        var rule: (@Sendable ([UInt8]) -> [[UInt8]])?
        var handle: (UInt8, UInt8)?
        var sent: [[UInt8]] = []
        var received: [[UInt8]] = []
    }

    init(_ inner: any PacketPort, on loop: EventLoop) {
        self.inner = inner
        self.loop = loop
    }

    /// The ATT frames that the host has sent since the last `forget`.
    var sent: [[UInt8]] { shared.withLock { $0.sent } }
    /// The ATT frames that the host has received since then.
    var received: [[UInt8]] { shared.withLock { $0.received } }

    func forget() {
        shared.withLock {
            $0.sent = []
            $0.received = []
        }
    }

    /// Replaces each ATT frame that the host sends from now on with those that `rule` returns; nil: no change.
    func alter(_ rule: (@Sendable ([UInt8]) -> [[UInt8]])?) { shared.withLock { $0.rule = rule } }

    /// Returns whether the host has received a frame that begins with `start`.
    func hasReceived(_ start: [UInt8]) -> Bool { received.contains { $0.starts(with: start) } }

    /// Sends the peer an ATT frame in the host's place. Does nothing before the first frame on a link.
    func inject(_ frame: [UInt8]) {
        loop.execute { [self] in
            guard let handle = shared.withLock({ $0.handle }) else { return }
            forward(frame, handle)
        }
    }

    var isWritable: Bool { inner.isWritable }

    func start(_ handlers: PacketPortHandlers) throws(PortError) {
        var mine = handlers
        mine.receive = { [shared] packet in
            if let frame = Self.frame(packet) {
                let handle = (packet[1], packet[2])
                shared.withLock {
                    $0.handle = handle
                    $0.received.append(frame)
                }
            }
            handlers.receive(packet)
        }
        try inner.start(mine)
    }

    func send(_ packet: Span<UInt8>) {
        guard let frame = Self.frame(packet) else { return inner.send(packet) }
        let handle = (packet[1], packet[2])
        let frames = shared.withLock { shared in
            shared.handle = handle
            shared.sent.append(frame)
            return shared.rule?(frame) ?? [frame]
        }
        for each in frames { forward(each, handle) }
    }

    func close() { inner.close() }

    private func forward(_ frame: [UInt8], _ handle: (UInt8, UInt8)) {
        let octets: [UInt8] =
            [2, handle.0, handle.1 & 0x0f, UInt8(frame.count + 4), 0, UInt8(frame.count), 0, 4, 0] + frame
        inner.send(octets.span)
    }

    /// Returns the ATT frame of an ACL packet; nil for other packets.
    private static func frame(_ packet: Span<UInt8>) -> [UInt8]? {
        guard packet.count > 9, packet[0] == 2, packet[7] == 4, packet[8] == 0 else { return nil }
        return (9..<packet.count).map { packet[$0] }
    }
}
