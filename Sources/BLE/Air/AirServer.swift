import BLECore
import HCI
import HCISocket
import VirtualController

/// The virtual air as a service: simulated controllers that hear each other, each joined to a host by a
/// port. Every H4 connection that is accepted is one controller.
///
/// ```swift
/// let air = AirServer(on: loop)
/// let one = try await Adapter.open(on: await air.attach(), loop: loop)
/// let two = try await Adapter.open(on: await air.attach(), loop: loop)
/// ```
public actor AirServer {
    /// The loop that the air lives on.
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var air: VirtualAir
    private var ports: [VirtualAir.ControllerID: any PacketPort] = [:]
    private var listeners: [Listener] = []
    private var timer: LoopTimer?
    private var whenEmpty: (@Sendable () -> Void)?

    /// An air without controllers. The seed decides on everything random in it.
    public init(on loop: EventLoop, seed: UInt64 = .random(in: .min ... .max)) {
        self.loop = loop
        air = VirtualAir(seed: seed)
    }

    /// Airs that live as long as the process.
    private static let kept = Lock<[AirServer]>([])

    static func keep(_ air: AirServer) { kept.withLock { $0.append(air) } }

    /// The number of controllers on the air.
    public var population: Int { ports.count }

    /// Accepts controllers at `address`; returns where, with the port that a TCP port 0 became.
    public func listen(at address: StreamAddress) throws(BLEError) -> StreamAddress {
        do throws(PortError) {
            let (listener, bound) = try StreamSockets.listen(at: address, on: loop) {
                [weak self] descriptor in
                self?.assumeIsolated { $0.accept(descriptor) }
            }
            try listener.start { _ in }
            listeners.append(listener)
            return bound
        } catch {
            throw .port(error)
        }
    }

    /// Joins a controller within this process; the port is the host's end.
    public func attach() -> any PacketPort {
        let (host, controller) = MemoryPort.pair(on: loop)
        join(controller, process: nil)
        return host
    }

    /// Calls `action` whenever the last controller has left.
    public func onEmpty(_ action: @escaping @Sendable () -> Void) { whenEmpty = action }

    /// Ends the air: every host's port ends.
    public func close() {
        for listener in listeners { listener.close() }
        for port in ports.values { port.close() }
        listeners.removeAll()
        ports.removeAll()
        timer?.set(nil)
    }

    private func accept(_ descriptor: CInt) {
        join(H4Port(descriptor, on: loop), process: StreamSockets.peerProcess(descriptor))
    }

    private func join(_ port: any PacketPort, process: Int32?) {
        let id = air.add(processID: process.map { UInt32(bitPattern: $0) })
        ports[id] = port
        do throws(PortError) {
            try port.start(
                PacketPortHandlers(
                    receive: { [weak self] packet in
                        self?.assumeIsolated { $0.receive(packet, from: id) }
                    },
                    writable: { [weak self] in self?.assumeIsolated { $0.pump() } },
                    closed: { [weak self] _ in self?.assumeIsolated { $0.leave(id) } }))
        } catch {
            leave(id)
        }
    }

    private func leave(_ id: VirtualAir.ControllerID) {
        guard let port = ports.removeValue(forKey: id) else { return }
        port.close()
        air.remove(id, at: loop.now)
        pump()
        if ports.isEmpty { whenEmpty?() }
    }

    private func receive(_ packet: Span<UInt8>, from id: VirtualAir.ControllerID) {
        air.receive(packet, from: id, at: loop.now)
        pump()
    }

    private func expire() {
        air.expire(at: loop.now)
        pump()
    }

    private func pump() {
        while let (id, packet) = air.nextPacket() { ports[id]?.send(packet.span) }
        if timer == nil {
            timer = LoopTimer(on: loop) { [weak self] in self?.assumeIsolated { $0.expire() } }
        }
        timer?.set(air.deadline)
    }
}
