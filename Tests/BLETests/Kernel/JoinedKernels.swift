import BLECore
import Glibc
import HCISocket
import SystemPackage

@testable import BLE

/// The adapters of several fake kernels in one kernel, for a process that uses more than one of them.
final class JoinedKernels: Kernel, @unchecked Sendable {
    // Sendable: accessed only on the loop.
    let files = SystemFiles(root: "/nonexistent")
    private let kernels: [FakeKernel]
    /// The ends of the process's sockets that reach all adapters.
    private var ends: [MemoryPort] = []

    init(_ kernels: [FakeKernel]) { self.kernels = kernels }

    func bluetoothDaemon() -> Int32? { nil }

    func management(on loop: EventLoop) throws(PortError) -> any PacketPort {
        try socket(on: loop) { (kernel) throws(PortError) in try kernel.management(on: loop) }
    }

    func monitor(on loop: EventLoop) throws(PortError) -> any PacketPort {
        try socket(on: loop) { (kernel) throws(PortError) in try kernel.monitor(on: loop) }
    }

    /// Opens a socket of each kernel, and returns one that receives from all of them. Management commands go to
    /// the kernel with their index; Read Controller Index List is answered here.
    private func socket(
        on loop: EventLoop, _ open: (FakeKernel) throws(PortError) -> any PacketPort
    ) throws(PortError) -> any PacketPort {
        let (near, far) = MemoryPort.pair(on: loop)
        ends.append(far)
        var sockets: [UInt16: any PacketPort] = [:]
        for kernel in kernels {
            let socket = try open(kernel)
            sockets[kernel.index] = socket
            try socket.start(
                PacketPortHandlers(
                    receive: { [weak far] in far?.send($0) }, writable: {}, closed: { _ in }))
        }
        let indices = kernels.map(\.index)
        try far.start(
            PacketPortHandlers(
                receive: { [weak far, sockets] frame in
                    guard let request = try? Management.Packet(frame) else { return }
                    if request.code == ManagementCommand.readIndexList.opcode.rawValue {
                        far?.send(Self.indexList(indices, request.code).span)
                    } else {
                        sockets[request.index]?.send(frame)
                    }
                }, writable: {},
                closed: { [weak self, weak far, sockets] _ in
                    for socket in sockets.values { socket.close() }
                    self?.ends.removeAll { $0 === far }
                }))
        return near
    }

    /// Returns the response to Read Controller Index List, whose opcode is `opcode`.
    private static func indexList(_ indices: [UInt16], _ opcode: UInt16) -> [UInt8] {
        let list = ([UInt16(indices.count)] + indices).flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        let header = [UInt8(opcode & 0xff), UInt8(opcode >> 8), 0]
        return Management.Packet(code: 1, index: Management.Packet.noIndex, parameters: header + list).encoded
    }

    private func kernel(
        during call: String, where isMeant: (FakeKernel) -> Bool
    ) throws(PortError) -> FakeKernel {
        guard let found = kernels.first(where: isMeant) else {
            throw .system(Errno(rawValue: ENODEV), during: call)
        }
        return found
    }

    func raw(_ index: UInt16, on loop: EventLoop) throws(PortError) -> any PacketPort {
        try kernel(during: "bind") { $0.index == index }.raw(index, on: loop)
    }

    func user(_ index: UInt16, on loop: EventLoop) throws(PortError) -> any PacketPort {
        try kernel(during: "bind") { $0.index == index }.user(index, on: loop)
    }

    func device(_ index: UInt16) throws(PortError) -> HCIDeviceState {
        try kernel(during: "ioctl HCIGETDEVINFO") { $0.index == index }.device(index)
    }

    func claim(_ name: String) -> (any Sendable)? { kernels[0].claim(name) }

    func claim(_ name: String, within limit: Duration, on loop: EventLoop) async -> (any Sendable)? {
        await kernels[0].claim(name, within: limit, on: loop)
    }

    func claims(beginningWith prefix: String) -> [String] { kernels[0].claims(beginningWith: prefix) }

    func listen(
        at address: DeviceAddress, on loop: EventLoop, accepted: @escaping @Sendable (L2CAPChannel) -> Void,
        failed: @escaping @Sendable (PortError) -> Void
    ) throws(PortError) -> any KernelListener {
        try kernel(during: "bind") { $0.identity == address }
            .listen(at: address, on: loop, accepted: accepted, failed: failed)
    }

    func connect(
        from local: DeviceAddress, to peer: DeviceAddress, on loop: EventLoop,
        done: @escaping @Sendable (Result<L2CAPChannel, PortError>) -> Void
    ) throws(PortError) -> any KernelAttempt {
        try kernel(during: "bind") { $0.identity == local }
            .connect(from: local, to: peer, on: loop, done: done)
    }
}
