import BLECore
import HCISocket

/// The parts that this host uses of an operating system's kernel with Bluetooth: its sockets, and its files.
/// `LinuxKernel` is the real one; tests and the benchmark provide their own.
package protocol Kernel: Sendable {
    /// The files of /sys and /proc.
    var files: SystemFiles { get }
    /// Returns the process number of bluetoothd, BlueZ's daemon, which shares kernel adapters with this host;
    /// nil when it does not run.
    func bluetoothDaemon() async -> Int32?

    /// Opens the kernel's Bluetooth management socket.
    func management(on loop: EventLoop) throws(PortError) -> any PacketPort
    /// Opens a raw socket on adapter `index`, beside the kernel's own use. The socket carries this host's
    /// commands, and the events of all users.
    func raw(_ index: UInt16, on loop: EventLoop) throws(PortError) -> any PacketPort
    /// Opens the user channel of adapter `index`, which gives this process exclusive use of the controller.
    func user(_ index: UInt16, on loop: EventLoop) throws(PortError) -> any PacketPort
    /// Opens the monitor channel, which reports all packets of all adapters.
    func monitor(on loop: EventLoop) throws(PortError) -> any PacketPort
    /// Returns the state of adapter `index` in the kernel's own table, also while management does not list
    /// it.
    func device(_ index: UInt16) throws(PortError) -> HCIDeviceState

    /// Claims a name that one process at a time can hold, until the result is released; nil when another
    /// process holds it.
    func claim(_ name: String) throws(PortError) -> (any Sendable)?
    /// Claims a name once the process that holds it has released it; nil when that takes longer than `limit`.
    func claim(
        _ name: String, within limit: Duration, on loop: EventLoop
    ) async throws(PortError) -> (any Sendable)?
    /// Returns the names that processes hold and that begin with `prefix`.
    func claims(beginningWith prefix: String) -> [String]

    /// Accepts the ATT channels of the links that centrals make to the adapter at `address`. Calls `failed`
    /// when no more can be accepted. Called on the loop only.
    func listen(
        at address: DeviceAddress, on loop: EventLoop, accepted: @escaping @Sendable (L2CAPChannel) -> Void,
        failed: @escaping @Sendable (PortError) -> Void
    ) throws(PortError) -> any KernelListener
    /// Connects from the adapter at `local` to `peer`. Called on the loop only.
    func connect(
        from local: DeviceAddress, to peer: DeviceAddress, on loop: EventLoop,
        done: @escaping @Sendable (Result<L2CAPChannel, PortError>) -> Void
    ) throws(PortError) -> any KernelAttempt
}

package protocol KernelListener: Sendable {
    /// Stops listening. Further calls do nothing.
    func close()
}

/// A connection that the kernel is trying to establish.
package protocol KernelAttempt: Sendable {
    /// Cancels the attempt without calling `done`.
    func cancel()
}

struct LinuxKernel: Kernel {
    var files = SystemFiles()

    func bluetoothDaemon() async -> Int32? { await files.bluetoothDaemonElsewhere() }

    func management(on loop: EventLoop) throws(PortError) -> any PacketPort {
        try HCISockets.control(on: loop)
    }

    func raw(_ index: UInt16, on loop: EventLoop) throws(PortError) -> any PacketPort {
        try HCISockets.raw(index, on: loop)
    }

    func user(_ index: UInt16, on loop: EventLoop) throws(PortError) -> any PacketPort {
        try HCISockets.user(index, on: loop)
    }

    func monitor(on loop: EventLoop) throws(PortError) -> any PacketPort {
        try HCISockets.monitor(on: loop)
    }

    func device(_ index: UInt16) throws(PortError) -> HCIDeviceState { try HCISockets.device(index) }

    func claim(_ name: String) throws(PortError) -> (any Sendable)? { try NameClaim(name) }

    func claim(
        _ name: String, within limit: Duration, on loop: EventLoop
    ) async throws(PortError) -> (any Sendable)? {
        try await NameClaim.take(name, within: limit, on: loop)
    }

    func claims(beginningWith prefix: String) -> [String] {
        NameClaim.names(beginningWith: prefix, in: files.text("/proc/net/unix") ?? "")
    }

    func listen(
        at address: DeviceAddress, on loop: EventLoop, accepted: @escaping @Sendable (L2CAPChannel) -> Void,
        failed: @escaping @Sendable (PortError) -> Void
    ) throws(PortError) -> any KernelListener {
        let listener = try L2CAPSockets.listen(at: address, on: loop, accepted: accepted)
        try listener.start(failed: failed)
        return listener
    }

    func connect(
        from local: DeviceAddress, to peer: DeviceAddress, on loop: EventLoop,
        done: @escaping @Sendable (Result<L2CAPChannel, PortError>) -> Void
    ) throws(PortError) -> any KernelAttempt {
        try L2CAPSockets.connect(from: local, to: peer, on: loop, done: done)
    }
}

extension Listener: KernelListener {}
extension PendingConnection: KernelAttempt {}
