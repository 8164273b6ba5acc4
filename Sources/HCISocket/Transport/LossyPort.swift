import BLECore
import HCI

/// A port that wraps another port and loses packets, the same ones for the same seed. For tests.
package final class LossyPort: PacketPort, @unchecked Sendable {
    // Sendable: `random` and `lost` are accessed only on the loop, like every call of a port.
    private let inner: any PacketPort
    private let probability: Double
    private let isLosable: @Sendable (HCIDirection, Span<UInt8>) -> Bool
    private var random: any RandomNumberGenerator
    /// The number of packets lost so far.
    package private(set) var lost = 0

    /// Creates a port that takes ownership of `inner` and loses packets for which `isLosable` is true with
    /// `probability`, 0 to 1.
    package init(
        _ inner: any PacketPort, probability: Double, random: some RandomNumberGenerator & Sendable,
        where isLosable: @escaping @Sendable (HCIDirection, Span<UInt8>) -> Bool = { _, _ in true }
    ) {
        self.inner = inner
        self.probability = probability
        self.random = random
        self.isLosable = isLosable
    }

    package var isWritable: Bool { inner.isWritable }

    package func start(_ handlers: PacketPortHandlers) throws(PortError) {
        var mine = handlers
        mine.receive = { [weak self] packet in
            guard let self, !loses(.controllerToHost, packet) else { return }
            handlers.receive(packet)
        }
        try inner.start(mine)
    }

    /// Sends one packet, or loses it.
    package func send(_ packet: Span<UInt8>) {
        if !loses(.hostToController, packet) { inner.send(packet) }
    }

    package func close() { inner.close() }

    private func loses(_ direction: HCIDirection, _ packet: Span<UInt8>) -> Bool {
        guard isLosable(direction, packet) else { return false }
        let isLost = Double(random.next() >> 11) / Double(1 << 53) < probability
        if isLost { lost += 1 }
        return isLost
    }
}
