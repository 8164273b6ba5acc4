import BLECore
import HCISocket

/// What a kernel adapter has that others have not: management, and listeners of the kernel's L2CAP.
/// Confined to its adapter, but for `management`.
final class KernelControl: Sendable {
    let kernel: any Kernel
    let index: UInt16
    let management: KernelManagement
    /// Whether this process powered the adapter on, and so powers it off again.
    let wasOff: Bool
    /// Records the adapter's packets, where that is wanted.
    let capture: KernelCapture?
    private let listener = Lock<(any KernelListener)?>(nil)

    init(
        of kernel: any Kernel, index: UInt16, management: KernelManagement, wasOff: Bool,
        capture: KernelCapture?
    ) {
        self.kernel = kernel
        self.index = index
        self.management = management
        self.wasOff = wasOff
        self.capture = capture
    }

    /// Takes links of centrals at `address` from now on.
    func listen(
        at address: DeviceAddress, on loop: EventLoop, accepted: @escaping @Sendable (L2CAPChannel) -> Void,
        failed: @escaping @Sendable (PortError) -> Void
    ) throws(PortError) {
        guard listener.withLock({ $0 == nil }) else { return }
        let new = try kernel.listen(at: address, on: loop, accepted: accepted, failed: failed)
        listener.withLock { $0 = new }
    }

    /// Whether links of centrals are taken.
    var isListening: Bool { listener.withLock { $0 != nil } }

    /// Takes no links any more.
    func close() { listener.withLock { $0.take() }?.close() }

    /// Leaves the adapter as it was found.
    func restore() async {
        if wasOff {
            _ = try? await management.request(
                .setPowered(false), index: index, operation: "powering hci\(index) off")
        }
        await management.close()
    }
}
