import BLECore
import Glibc
import HCISocket

/// The parts that only a kernel adapter has: management, and listeners of the kernel's L2CAP. Confined to its
/// adapter, except for `management`.
final class KernelControl: Sendable {
    let kernel: any Kernel
    let management: KernelManagement
    /// The use of the adapter, which is shared with other processes.
    let lease: KernelLease
    /// Records the adapter's packets, if requested.
    let capture: KernelCapture?
    var index: UInt16 { lease.index }
    /// The listener, and the claimed names that show other processes that there is one.
    private let listener = Lock<(listener: any KernelListener, claims: [any Sendable])?>(nil)

    init(
        of kernel: any Kernel, _ lease: KernelLease, management: KernelManagement, capture: KernelCapture?
    ) {
        self.kernel = kernel
        self.lease = lease
        self.management = management
        self.capture = capture
    }

    /// Accepts links of centrals at `address` from now on. The kernel gives all of them to the newest
    /// listener, so only one of the programs that use this library can listen on an adapter at a time.
    func listen(
        at address: DeviceAddress, on loop: EventLoop, accepted: @escaping @Sendable (L2CAPChannel) -> Void,
        failed: @escaping @Sendable (PortError) -> Void
    ) throws(BLEError) {
        guard listener.withLock({ $0 == nil }) else { return }
        let name = "bletool/hci\(index)/server"
        let (claim, new): ((any Sendable)?, (any KernelListener)?)
        do throws(PortError) {
            claim = try kernel.claim(name)
            new =
                claim == nil
                ? nil : try kernel.listen(at: address, on: loop, accepted: accepted, failed: failed)
        } catch {
            throw .kernel(error, operation: .listen, kernel.files)
        }
        guard let claim, let new else {
            let holder = kernel.claims(beginningWith: "\(name)/").first?.split(separator: "/").last
            throw .adapter(.inUse(.server(process: holder.flatMap { Int32($0) })))
        }
        let shown = try? kernel.claim("\(name)/\(getpid())")
        listener.withLock { $0 = (new, [claim, shown].compactMap { $0 }) }
    }

    /// Whether links of centrals are accepted.
    var isListening: Bool { listener.withLock { $0 != nil } }

    /// Stops accepting links of centrals.
    func close() { listener.withLock { $0.take() }?.listener.close() }

    /// Ends the use of the adapter. The last process restores the state in which the first one found it.
    /// Before that, sends `settings`, which restore what this process changed, unless bluetoothd has been
    /// started since: then the settings are those of bluetoothd.
    func restore(_ settings: [ManagementCommand] = []) async {
        let isOurs = settings.isEmpty ? false : await kernel.bluetoothDaemon() == nil
        for command in settings where isOurs {
            _ = try? await management.request(
                command, index: index, operation: .restorePairing(index))
        }
        await lease.giveBack()
        await management.close()
    }
}
