import BLECore
import HCI
import HCISocket
import Logging
import VirtualController

/// The virtual air as a service: simulated controllers that receive each other, each joined to a host by a
/// port. Every accepted H4 connection has a controller of its own.
///
/// ```swift
/// let air = AirServer(on: loop)
/// let options = AdapterOptions(loop: loop)
/// let one = try await Adapter.open(on: await air.attach(), options: options)
/// let two = try await Adapter.open(on: await air.attach(), options: options)
/// ```
public actor AirServer {
    /// The event loop on which the air runs.
    public nonisolated let loop: EventLoop
    /// The loop, as executor of this actor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var air: VirtualAir
    private var ports: [VirtualAir.ControllerID: any PacketPort] = [:]
    private var listeners: [Listener] = []
    private var isClosed = false
    private var timer: LoopTimer?
    private var emptied: [Int: CheckedContinuation<Void, Never>] = [:]
    private var waits = 0
    private var joins = 0
    private let maximumControllers: Int?
    private let configuration: VirtualController.Configuration
    private let log = Logger(label: "ble.air")

    /// Creates an air without controllers. `seed` determines everything random on it. Connections beyond
    /// `maximumControllers` at a time are refused; nil sets no limit. Each connection gets a controller with
    /// `configuration`, by default one with all features, to whose packets `conditions` apply.
    public init(
        on loop: EventLoop, seed: UInt64 = .random(in: .min ... .max), maximumControllers: Int? = nil,
        configuration: VirtualController.Configuration = .init(extended: .init()),
        conditions: VirtualAir.Conditions = .init()
    ) {
        self.loop = loop
        self.maximumControllers = maximumControllers
        self.configuration = configuration
        air = VirtualAir(seed: seed, conditions: conditions)
    }

    /// The airs that exist for as long as the process.
    private static let kept = Lock<[AirServer]>([])

    static func keep(_ air: AirServer) { kept.withLock { $0.append(air) } }

    /// The number of controllers on the air.
    package var population: Int { ports.count }

    /// Accepts connections at `address`, each of which gets a controller. Returns the address, in which the
    /// chosen port replaces a TCP port of 0.
    public func listen(at address: StreamAddress) async throws(BLEError) -> StreamAddress {
        let folder: OpenFolder? = if case .unix(let path) = address { try AirPlace(path).folder } else { nil }
        do throws(PortError) {
            let (descriptor, bound) = try await StreamSockets.bind(to: address, in: folder)
            try listen(on: descriptor, in: folder)
            return bound
        } catch .held where Task.isCancelled {
            throw .cancelled
        } catch {
            throw .port(error)
        }
    }

    /// Takes ownership of a stream socket that already listens, and accepts connections on it. `folder` is the
    /// one in which a Unix socket was bound. Closes the socket, and throws, if the air has ended.
    package func listen(on descriptor: CInt, in folder: OpenFolder? = nil) throws(PortError) {
        let listener = StreamSockets.listener(descriptor, in: folder, on: loop) { [weak self] connection in
            self?.assumeIsolated { $0.accept(connection) }
        }
        guard !isClosed else {
            listener.close()
            throw .ended
        }
        try listener.start { _ in }
        listeners.append(listener)
    }

    /// Adds a controller for a host in this process, and returns the host's end of its port. Nil gives the
    /// controller the configuration of the air.
    public func attach(_ configuration: VirtualController.Configuration? = nil) -> any PacketPort {
        let (host, controller) = MemoryPort.pair(on: loop)
        join(controller, process: nil, configuration ?? self.configuration)
        return host
    }

    /// Sets the strength at which two controllers receive each other, in dBm. Nil puts them out of range of each
    /// other: links between them end after their supervision timeout, unless a later call brings the controllers
    /// back into range before. Does nothing unless there is a controller with each of the addresses.
    public func setRSSI(_ rssi: Int8?, between one: DeviceAddress, and other: DeviceAddress) {
        guard let one = air.controller(with: one), let other = air.controller(with: other) else { return }
        air.setRSSI(rssi, between: one, and: other, at: loop.now)
        pump()
    }

    /// Sets the position of the controller with this address, if there is one.
    func setPosition(_ position: AirPosition, of address: DeviceAddress) {
        guard let id = air.controller(with: address) else { return }
        air.setPosition(position, of: id, at: loop.now)
        pump()
    }

    /// Returns whether a controller advertises, scans, connects, follows a periodic train or has links; false
    /// when there is none with this address.
    func isActive(_ address: DeviceAddress) -> Bool {
        guard let id = air.controller(with: address) else { return false }
        return air.controller(id)?.isActive ?? false
    }

    /// Waits until the air has been without controllers for `duration`, or the task is cancelled.
    package func idle(for duration: Duration) async {
        while true {
            await untilEmpty()
            let before = joins
            guard await loop.sleep(for: duration), ports.isEmpty == false || joins != before else { return }
        }
    }

    private func untilEmpty() async {
        guard !ports.isEmpty else { return }
        waits += 1
        let wait = waits
        await withTaskCancellationHandler {
            await withCheckedContinuation { emptied[wait] = $0 }
        } onCancel: {
            // Runs in a later turn of the loop than the one in which the wait begins.
            loop.execute { self.assumeIsolated { $0.emptied.removeValue(forKey: wait)?.resume() } }
        }
    }

    /// Ends the air and with it the port of every host. A `listen` that is under way throws `PortError.ended`.
    public func close() {
        isClosed = true
        for listener in listeners { listener.close() }
        for (_, port) in ports.sorted(by: { $0.key.number < $1.key.number }) { port.close() }
        listeners.removeAll()
        ports.removeAll()
        timer?.set(nil)
    }

    private func accept(_ descriptor: CInt) {
        let port = H4Port(descriptor, on: loop, pausesWhileFull: true)
        if let maximumControllers, ports.count >= maximumControllers {
            log.warning("the air is full: another controller is refused, \(maximumControllers) have joined")
            return port.close()
        }
        join(port, process: StreamSockets.peerProcess(descriptor), configuration)
    }

    /// Adds a controller whose host is at the other end of `port`.
    func join(
        _ port: any PacketPort, process: Int32?, _ configuration: VirtualController.Configuration
    ) {
        let id = air.add(configuration, processID: process.map { UInt32(bitPattern: $0) })
        ports[id] = port
        joins += 1
        do throws(PortError) {
            try port.start(
                PacketPortHandlers(
                    receive: { [weak self] packet in
                        self?.assumeIsolated { $0.receive(packet, from: id) }
                    },
                    writable: { [weak self] in self?.assumeIsolated { $0.resume(id) } },
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
        guard ports.isEmpty else { return }
        let waiting = emptied
        emptied.removeAll()
        for (_, continuation) in waiting.sorted(by: { $0.key < $1.key }) { continuation.resume() }
    }

    private func receive(_ packet: Span<UInt8>, from id: VirtualAir.ControllerID) {
        air.receive(packet, from: id, at: loop.now)
        pump()
    }

    private func resume(_ id: VirtualAir.ControllerID) {
        air.resume(id)
        pump()
    }

    private func expire() {
        air.expire(at: loop.now)
        pump()
    }

    private func pump() {
        // Packets that a host does not accept yet stay with its controller, which keeps a limited number of
        // them.
        while let (id, packet) = air.nextPacket(where: { ports[$0]?.isWritable ?? true }) {
            ports[id]?.send(packet.span)
        }
        if timer == nil {
            timer = LoopTimer(on: loop) { [weak self] in self?.assumeIsolated { $0.expire() } }
        }
        timer?.set(air.deadline)
    }
}
