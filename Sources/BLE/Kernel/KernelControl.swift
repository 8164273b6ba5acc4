import BLECore
import HCISocket

/// What a kernel adapter has that others have not: management, and listeners of the kernel's L2CAP.
/// Confined to its adapter, but for `management`.
final class KernelControl: Sendable {
    let kernel: any Kernel
    let management: KernelManagement
    /// The use of the adapter, which is shared with other processes.
    let lease: KernelLease
    /// Records the adapter's packets, where that is wanted.
    let capture: KernelCapture?
    var index: UInt16 { lease.index }
    private let listener = Lock<(any KernelListener)?>(nil)

    init(
        of kernel: any Kernel, _ lease: KernelLease, management: KernelManagement, capture: KernelCapture?
    ) {
        self.kernel = kernel
        self.lease = lease
        self.management = management
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

    /// Ends the use of the adapter: the last one leaves it as the first one has found it.
    /// `settings`: what this process has to set back first.
    func restore(_ settings: [ManagementCommand] = []) async {
        for command in settings {
            _ = try? await management.request(
                command, index: index, operation: .restorePairing(index))
        }
        await lease.giveBack()
        await management.close()
    }
}
