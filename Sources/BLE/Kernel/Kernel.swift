import BLECore
import HCISocket

/// What this host needs of an operating system's kernel that has Bluetooth: its sockets, and its files. `LinuxKernel`
/// is the real one; a test has one of its own.
protocol Kernel: Sendable {
    /// The files of /sys and /proc.
    var files: SystemFiles { get }
    /// BlueZ's daemon, which shares kernel adapters with us where it runs.
    func bluetoothDaemon() async -> Int32?

    /// Opens the kernel's Bluetooth management socket.
    func management(on loop: EventLoop) throws(PortError) -> any PacketPort
    /// A raw socket on adapter `index`, beside the kernel's own use: commands of ours, the events of all.
    func raw(_ index: UInt16, on loop: EventLoop) throws(PortError) -> any PacketPort
    /// The user channel of adapter `index`: the controller is this process' alone.
    func user(_ index: UInt16, on loop: EventLoop) throws(PortError) -> any PacketPort
    /// The monitor channel: all packets of all adapters.
    func monitor(on loop: EventLoop) throws(PortError) -> any PacketPort
    /// What the kernel's own table has of adapter `index`, also while management does not list it.
    func device(_ index: UInt16) throws(PortError) -> HCIDeviceState

    /// Has a name that one process at a time has, until the result ends; nil when another one has it.
    func claim(_ name: String) throws(PortError) -> (any Sendable)?
    /// The same when the other one lets it go; nil when that takes longer than `limit`.
    func claim(
        _ name: String, within limit: Duration, on loop: EventLoop
    ) async throws(PortError) -> (any Sendable)?
    /// The names that processes have and that begin with `prefix`.
    func claims(beginningWith prefix: String) -> [String]

    /// Takes the ATT channels of the links that centrals make to the adapter at `address`. `failed`: no more come. Only
    /// on the loop.
    func listen(
        at address: DeviceAddress, on loop: EventLoop, accepted: @escaping @Sendable (L2CAPChannel) -> Void,
        failed: @escaping @Sendable (PortError) -> Void
    ) throws(PortError) -> any KernelListener
    /// Connects from the adapter at `local` to `peer`. Only on the loop.
    func connect(
        from local: DeviceAddress, to peer: DeviceAddress, on loop: EventLoop,
        done: @escaping @Sendable (Result<L2CAPChannel, PortError>) -> Void
    ) throws(PortError) -> any KernelAttempt
}

protocol KernelListener: Sendable {
    /// Ends it. More calls do nothing.
    func close()
}

/// A connection that the kernel tries to make.
protocol KernelAttempt: Sendable {
    /// Gives up, without a call of `done`.
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
