import BLE
import BLECore
import Glibc
import HCISocket

/// A kernel whose one adapter has a controller of a virtual air, and whose links are socket pairs of this program: a
/// host on it is the one that ships, without Bluetooth in the operating system.
final class SocketKernel: Kernel, @unchecked Sendable {
    // Sendable: accessed only on the loop.

    static let index: UInt16 = 60_001
    private static let address = DeviceAddress(0x00aa_0100_0001, type: .public)

    private let controller: any PacketPort
    private var accept: (@Sendable (L2CAPChannel) -> Void)?
    private var managers: [MemoryPort] = []

    init(_ controller: any PacketPort) { self.controller = controller }

    /// Passes the host the link of a central, whose packets go through the descriptor.
    func connect(_ descriptor: CInt, on loop: EventLoop) {
        let socket = PacketSocket(descriptor, on: loop, maximumPacket: 672)
        guard let accept else { preconditionFailure("the host does not listen") }
        accept(L2CAPChannel(port: socket, peer: DeviceAddress(0xc0_0000_0000_01, type: .random)))
    }

    // MARK: Kernel

    var files: SystemFiles { SystemFiles(root: "/nonexistent") }
    func bluetoothDaemon() -> Int32? { nil }

    func raw(_ index: UInt16, on loop: EventLoop) -> any PacketPort { controller }

    func management(on loop: EventLoop) throws(PortError) -> any PacketPort {
        let (near, far) = MemoryPort.pair(on: loop)
        managers.append(far)
        try far.start(
            PacketPortHandlers(
                receive: { [weak far] frame in
                    guard let request = try? Management.Packet(frame) else { return }
                    far?.send(Self.response(to: request).encoded.span)
                }, writable: {}, closed: { _ in }))
        return near
    }

    /// Returns the Command Complete event for a command, which is successful.
    private static func response(to request: Management.Packet) -> Management.Packet {
        let code = [UInt8(request.code & 0xff), UInt8(request.code >> 8)]
        let settings: [UInt8] = [0x01, 0x02, 0, 0]  // Powered, Low Energy
        let answer: [UInt8] =
            switch request.code {
            case 0x0003: [1, 0, UInt8(index & 0xff), UInt8(index >> 8)]  // Read Controller Index List
            case 0x0004:  // Read Controller Information
                (0..<6).map { UInt8(truncatingIfNeeded: address.value >> (8 * $0)) } + [12, 0xff, 0xff]
                    + settings + settings + [UInt8](repeating: 0, count: 3 + 249 + 11)
            case 0x0015: [0, 0]  // Get Connections
            default: []
            }
        return Management.Packet(code: 0x0001, index: request.index, parameters: code + [0] + answer)
    }

    func listen(
        at address: DeviceAddress, on loop: EventLoop, accepted: @escaping @Sendable (L2CAPChannel) -> Void,
        failed: @escaping @Sendable (PortError) -> Void
    ) -> any KernelListener {
        accept = accepted
        return Listening()
    }

    private struct Listening: KernelListener {
        func close() {}
    }

    func claim(_ name: String) -> (any Sendable)? { name }
    func claim(_ name: String, within limit: Duration, on loop: EventLoop) -> (any Sendable)? { name }
    func claims(beginningWith prefix: String) -> [String] { [] }

    func device(_ index: UInt16) -> HCIDeviceState { HCIDeviceState(address: Self.address.value, isUp: true) }

    func user(_ index: UInt16, on loop: EventLoop) throws(PortError) -> any PacketPort { throw Self.unused }
    func monitor(on loop: EventLoop) throws(PortError) -> any PacketPort { throw Self.unused }
    func connect(
        from local: DeviceAddress, to peer: DeviceAddress, on loop: EventLoop,
        done: @escaping @Sendable (Result<L2CAPChannel, PortError>) -> Void
    ) throws(PortError) -> any KernelAttempt { throw Self.unused }

    /// What the benchmark does not use is closed.
    private static let unused = PortError.ended
}
