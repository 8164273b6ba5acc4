import BLECore
import DequeModule
import Glibc
import HCI
import HCISocket
import SystemPackage

@testable import BLE

/// A fake kernel that behaves as Linux 6.1, with one working adapter around a controller of the virtual air.
/// It has management sockets for power and pairing, raw sockets that receive each other's commands and all
/// events, and L2CAP channels for ATT. It runs under virtual time. Switching power takes one second.
final class FakeKernel: Kernel, @unchecked Sendable {
    // Sendable: accessed only on the loop.

    /// The default index, which no adapter of this machine has.
    static let index: UInt16 = 60_001
    /// The default address of a kernel.
    static let address = DeviceAddress(0x00aa_0100_0001, type: .public)

    let index: UInt16
    let address: DeviceAddress

    let loop: EventLoop
    private let controller: any PacketPort
    private let isExtended: Bool

    // Settings of the test.
    /// Functions that return the status with which management refuses a command, or nil.
    var refusals: [(ManagementCommand) -> ManagementStatus?] = []
    /// The durations of commands that the kernel cannot complete at once.
    var delays: [ManagementCommand: Duration] = [:]
    /// Whether management lists the adapter.
    var isListed = true
    /// Other adapters that management lists, with their addresses. They answer only Read Controller Information.
    var neighbors: [UInt16: DeviceAddress] = [:]
    /// Other adapters that management does not list, with their states in the kernel's own table.
    var unlisted: [UInt16: HCIDeviceState] = [:]
    /// The error with which raw sockets fail to open; nil when they open.
    var rawRefusal: PortError?
    /// A function that wraps each raw socket before its owner receives it.
    var wrapping: (any PacketPort) -> any PacketPort = { $0 }
    /// Whether the buffers of management sockets are full, so that the kernel drops packets to them.
    var isOverflowing = false { didSet { for socket in overflowing { socket.isFull = isOverflowing } } }
    /// The time between the connection of a link and the report of its channel.
    var acceptDelay = Duration.zero
    /// The number of channels, beginning with the next one, that fail to start.
    var brokenChannels = 0
    /// Whether a connection attempt of the kernel disables all advertising. The kernel resumes only its own
    /// advertising, and has none.
    var pausesAdvertising = true
    /// The devices to which other programs have links.
    var othersLinks: [DeviceAddress] = []
    /// Whether raw sockets miss Disconnection Complete events, as when their buffers are full.
    var missesDisconnections = false

    /// The number of open management, raw and monitor sockets.
    var openSockets: Int { managers.count + raws.count + monitors.count }
    /// The number of open ATT channels.
    var openChannels: Int { links.values.count { $0.socket != nil } }
    /// The number of reads of the kernel's own table of adapters.
    private(set) var deviceReads = 0
    /// The number of connection attempts in progress.
    var openAttempts: Int { attempts.count }

    // Management.
    private var managers: [MemoryPort] = []
    private var overflowing: [OverflowingPort] = []
    var settings: Management.Settings = [.lowEnergy, .powered]
    private(set) var commands: [ManagementCommand] = []
    private var powering: Task<Void, Never>?
    private let asks = AsyncStream<ManagementCommand>.makeStream()

    // Names that processes have claimed.
    private var claimed: Set<String> = []
    private var claimants: Deque<(name: String, free: () -> Void)> = []

    // The commands to the controller, which are sent one at a time.
    private struct Queued {
        let command: HCICommandPacket
        /// The raw socket that sent the command; nil for the kernel or another program.
        let sender: Int?
        var answered: ((HCIStatus) -> Void)?
    }
    private var queue: Deque<Queued> = []
    private var current: Queued?
    private var raws: [(id: Int, port: MemoryPort)] = []
    private var nextRaw = 0
    private var monitors: [MemoryPort] = []
    private var isAdvertising = false

    // Links.
    private final class KernelLink {
        let number: Int
        let peer: DeviceAddress
        var reassembler = ACLReassembler()
        var socket: KernelSocket?

        init(_ number: Int, _ peer: DeviceAddress) { (self.number, self.peer) = (number, peer) }
    }
    private var links: [ConnectionHandle: KernelLink] = [:]
    private var linkCount = 0
    private var flow = ACLFlow()
    private var listeners: [FakeListener] = []
    private var attempts: [FakeAttempt] = []

    /// The time limit of a connection attempt from its turn on, and the limit of the socket in all.
    private static let (connectLimit, socketLimit) = (Duration.seconds(20), Duration.seconds(40))
    /// The time after which a link without a channel is disconnected.
    private static let linger = Duration.seconds(2)

    /// Creates a kernel with `controller`, whose public address is `address`.
    init(
        _ controller: any PacketPort, on loop: EventLoop, extended: Bool, isOff: Bool,
        index: UInt16 = FakeKernel.index, address: DeviceAddress = FakeKernel.address
    ) throws {
        (self.loop, self.controller, isExtended) = (loop, controller, extended)
        (self.index, self.address, identity) = (index, address, address)
        if isOff { settings.remove(.powered) }
        flow.configure(packetLength: 251, packets: 8)
        try controller.start(
            PacketPortHandlers(
                receive: { [weak self] in self?.receive($0) }, writable: {}, closed: { _ in }))
        if !isOff { setUp() }
    }

    /// The system files of the kernel. There are none unless a test sets them.
    var files = SystemFiles(root: "/nonexistent")
    /// The address of the kernel's links. Only a listener that is bound to it receives those of centrals.
    var identity: DeviceAddress
    /// The addresses of the open listeners.
    var listening: [DeviceAddress] { listeners.filter(\.isOpen).map(\.address) }
    /// The process ID of a running bluetoothd; nil when none runs.
    var daemon: Int32?

    func bluetoothDaemon() -> Int32? { daemon }

    func device(_ index: UInt16) throws(PortError) -> HCIDeviceState {
        deviceReads += 1
        if let state = unlisted[index] { return state }
        guard index == self.index else {
            throw .system(Errno(rawValue: ENODEV), during: "ioctl HCIGETDEVINFO")
        }
        return HCIDeviceState(address: address.value, isUp: settings.contains(.powered))
    }

    func user(_ index: UInt16, on loop: EventLoop) throws(PortError) -> any PacketPort {
        throw .system(.resourceBusy, during: "bind")
    }

}

// MARK: - Monitor

extension FakeKernel {
    func monitor(on loop: EventLoop) throws(PortError) -> any PacketPort {
        let (near, far) = MemoryPort.pair(on: loop)
        monitors.append(far)
        try far.start(
            PacketPortHandlers(
                receive: { _ in }, writable: {},
                closed: { [weak self, weak far] _ in self?.monitors.removeAll { $0 === far } }))
        return near
    }

    /// Sends the monitors a packet between the kernel and its controller.
    private func record(_ opcode: MonitorOpcode, _ packet: [UInt8]) {
        let body = packet.dropFirst()
        let header = [opcode.rawValue, index, UInt16(body.count)].flatMap {
            [UInt8($0 & 0xff), UInt8($0 >> 8)]
        }
        let octets = header + body
        for monitor in monitors { monitor.send(octets.span) }
    }
}

// MARK: - Names

extension FakeKernel {
    private final class Claim: Sendable {
        let name: String
        let ended: @Sendable (String) -> Void

        init(_ name: String, _ ended: @escaping @Sendable (String) -> Void) {
            (self.name, self.ended) = (name, ended)
        }

        deinit { ended(name) }
    }

    func claim(_ name: String) -> (any Sendable)? {
        guard claimed.insert(name).inserted else { return nil }
        return Claim(name) { [weak self] name in self?.free(name) }
    }

    func claim(_ name: String, within limit: Duration, on loop: EventLoop) async -> (any Sendable)? {
        while true {
            if let claim = claim(name) { return claim }
            await withCheckedContinuation { waiting in
                claimants.append((name, { waiting.resume() }))
            }
        }
    }

    func claims(beginningWith prefix: String) -> [String] {
        claimed.filter { $0.hasPrefix(prefix) }.sorted()
    }

    private func free(_ name: String) {
        claimed.remove(name)
        guard let next = claimants.firstIndex(where: { $0.name == name }) else { return }
        claimants.remove(at: next).free()
    }
}

// MARK: - Management

extension FakeKernel {
    func management(on loop: EventLoop) throws(PortError) -> any PacketPort {
        let (near, far) = MemoryPort.pair(on: loop)
        managers.append(far)
        try far.start(
            PacketPortHandlers(
                receive: { [weak self, weak far] frame in
                    guard let self, let far, let request = try? Management.Packet(frame),
                        let command = try? ManagementCommand(request)
                    else { return }
                    if let neighbor = neighbors[request.index] {
                        describe(neighbor, at: request.index, command, to: far)
                    } else {
                        carryOut(command, for: far)
                    }
                }, writable: {},
                closed: { [weak self, weak far] _ in self?.managers.removeAll { $0 === far } }))
        let socket = OverflowingPort(near)
        overflowing.append(socket)
        return socket
    }

    /// Returns the next command other than those that read information. Each command is returned once.
    func nextCommand() async -> ManagementCommand? {
        for await command in asks.stream { return command }
        return nil
    }

    private func carryOut(_ command: ManagementCommand, for port: MemoryPort) {
        for refusal in refusals {
            guard let status = refusal(command) else { continue }
            return answer(command, [], status, to: port)
        }
        switch command {
        case .readIndexList:
            let indices = neighbors.keys.sorted() + (isListed ? [index] : [])
            let list = ([UInt16(indices.count)] + indices).flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
            return answer(command, list, to: port)
        case .readInformation: return answer(command, information(address, settings), to: port)
        case .getConnections: return answer(command, connections, to: port)
        default:
            commands.append(command)
            asks.continuation.yield(command)
        }
        switch command {
        case .setPowered(let isOn):
            // Power changes run one at a time, in order.
            powering = Task(executorPreference: loop) { [self, powering] in
                await powering?.value
                _ = await loop.sleep(for: delays[command] ?? .seconds(1))
                power(isOn) { [self] in
                    answer(command, settings.octets, to: port)
                    reportSettings(except: port)
                }
            }
        case .setLowEnergy(let isOn):
            if isOn { settings.insert(.lowEnergy) } else { settings.remove(.lowEnergy) }
            answer(command, settings.octets, to: port)
        default: answer(command, [], to: port)
        }
    }

    /// Answers a command for another adapter. All but Read Controller Information are refused.
    private func describe(
        _ address: DeviceAddress, at index: UInt16, _ command: ManagementCommand, to port: MemoryPort
    ) {
        guard command == .readInformation else {
            return answer(command, [], .invalidIndex, of: index, to: port)
        }
        answer(command, information(address, [.lowEnergy, .powered]), of: index, to: port)
    }

    private func power(_ isOn: Bool, _ done: @escaping () -> Void) {
        if isOn { settings.insert(.powered) } else { settings.remove(.powered) }
        guard isOn else {
            emit(Reset()) { _ in done() }
            return
        }
        setUp(done)
    }

    /// Switches the adapter on or off, as another program does.
    func switchPower(_ isOn: Bool) {
        power(isOn) { [self] in reportSettings(except: nil) }
    }

    /// Removes the adapter, as when it is unplugged.
    func unplug() {
        emit(0x0005, [])
        for handle in links.keys.sorted(by: { $0.rawValue < $1.rawValue }) { drop(handle) }
        controller.close()
        let sockets = raws
        raws = []
        for socket in sockets { socket.port.close() }
    }

    private func reportSettings(except port: MemoryPort?) {
        for manager in managers where manager !== port { send(0x0006, settings.octets, to: manager) }
    }

    /// Sends all management sockets an event of the adapter.
    func emit(_ code: UInt16, _ parameters: [UInt8]) {
        for manager in managers { send(code, parameters, to: manager) }
    }

    private func answer(
        _ command: ManagementCommand, _ octets: [UInt8], _ status: ManagementStatus = .success,
        of index: UInt16? = nil, to port: MemoryPort
    ) {
        let code = command.opcode.rawValue
        let index = command == .readIndexList ? Management.Packet.noIndex : index ?? self.index
        let header = [UInt8(code & 0xff), UInt8(code >> 8), status.rawValue]
        send(1, header + octets, index: index, to: port)
    }

    private func send(
        _ code: UInt16, _ parameters: [UInt8], index: UInt16? = nil, to port: MemoryPort
    ) {
        let packet = Management.Packet(code: code, index: index ?? self.index, parameters: parameters)
        port.send(packet.encoded.span)
    }

    /// The parameters of the response to Get Connections.
    private var connections: [UInt8] {
        let peers = othersLinks + links.values.map(\.peer).sorted { $0.value < $1.value }
        return [UInt8(peers.count), 0] + peers.flatMap(\.managementOctets)
    }

    /// Returns the parameters of the response to Read Controller Information for an adapter that supports LE
    /// and BR/EDR, of which `settings` are on.
    private func information(_ address: DeviceAddress, _ settings: Management.Settings) -> [UInt8] {
        Array(address.managementOctets.dropLast()) + [12, 0xff, 0xff]
            + Management.Settings(rawValue: 0x7fff).octets + settings.octets
            + [UInt8](repeating: 0, count: 3 + 249 + 11)
    }
}

extension Management.Settings {
    fileprivate var octets: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: rawValue >> (8 * $0)) } }
}

extension DeviceAddress {
    /// The address and its type as management encodes them.
    fileprivate var managementOctets: [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } + [type.rawValue + 1]
    }
}

// MARK: - Commands and events

extension FakeKernel {
    func raw(_ index: UInt16, on loop: EventLoop) throws(PortError) -> any PacketPort {
        guard index == self.index else { throw .system(Errno(rawValue: ENODEV), during: "bind") }
        if let rawRefusal { throw rawRefusal }
        let (near, far) = MemoryPort.pair(on: loop)
        nextRaw += 1
        let id = nextRaw
        raws.append((id, far))
        try far.start(
            PacketPortHandlers(
                receive: { [weak self] packet in
                    guard let packet = try? HCIPacket([UInt8](copying: packet)),
                        case .command(let command) = packet
                    else { return }
                    self?.submit(Queued(command: command, sender: id))
                }, writable: {}, closed: { [weak self] _ in self?.raws.removeAll { $0.id == id } }))
        return wrapping(near)
    }

    /// Sends the controller a command of the kernel or of another program. All raw sockets receive it too.
    func emit(_ command: some HCICommand, _ answered: ((HCIStatus) -> Void)? = nil) {
        submit(Queued(command: command.packet, sender: nil, answered: answered))
    }

    /// Sends all raw sockets an event that the controller has not sent.
    func emit(_ event: HCIEventPacket) {
        for raw in raws { raw.port.send(HCIPacket.event(event).encoded.span) }
    }

    /// Sets the controller up as the kernel does.
    private func setUp(_ done: @escaping () -> Void = {}) {
        emit(Reset())
        emit(SetEventMask(mask: .host))
        emit(LESetEventMask(mask: .host(LEFeatures(rawValue: ~0)))) { _ in done() }
    }

    private func submit(_ command: Queued) {
        // Commands of raw sockets are dropped while the adapter is off.
        guard settings.contains(.powered) || command.sender == nil else { return }
        queue.append(command)
        sendNext()
    }

    private func sendNext() {
        guard current == nil, let next = queue.popFirst() else { return }
        current = next
        let packet = HCIPacket.command(next.command).encoded
        controller.send(packet.span)
        record(.command, packet)
        for raw in raws where raw.id != next.sender { raw.port.send(packet.span) }
    }

    private func receive(_ packet: Span<UInt8>) {
        let octets = [UInt8](copying: packet)
        switch try? HCIPacket(octets) {
        case .event(let packet):
            record(.event, octets)
            let event = try? HCIEvent(packet)
            var isMissed = false
            if missesDisconnections, case .disconnectionComplete? = event { isMissed = true }
            if !isMissed {
                for raw in raws { raw.port.send(octets.span) }
            }
            if let event { handle(event) }
        case .acl(let data): receive(data)
        default: break
        }
    }

    private func handle(_ event: HCIEvent) {
        switch event {
        case .commandComplete(let event): answered(event.opcode, event.status ?? .success)
        case .commandStatus(let event): answered(event.opcode, event.status)
        case .disconnectionComplete(let event):
            if event.status == .success { disconnected(event) }
        case .numberOfCompletedPackets(let event):
            for each in event.completed { try? flow.complete(each) }
            sendData()
        case .leMeta(.connectionComplete(let event)):
            connected(event.status, event.connection, event.peer.deviceAddress, event.role)
        case .leMeta(.enhancedConnectionComplete(let event)):
            connected(event.status, event.connection, event.peer.deviceAddress, event.role)
        default: break
        }
    }

    private func answered(_ opcode: HCIOpcode, _ status: HCIStatus) {
        guard let command = current, command.command.opcode == opcode else { return }
        current = nil
        if status == .success { note(command.command) }
        command.answered?(status)
        sendNext()
    }

    /// Follows whether the successful commands of all senders enable advertising, as the kernel does.
    private func note(_ command: HCICommandPacket) {
        switch command.opcode {
        case .leSetAdvertisingEnable, .leSetExtendedAdvertisingEnable:
            isAdvertising = command.parameters.first == 1
        case .reset: isAdvertising = false
        default: break
        }
    }
}

// MARK: - Links

extension FakeKernel {
    func listen(
        at address: DeviceAddress, on loop: EventLoop, accepted: @escaping @Sendable (L2CAPChannel) -> Void,
        failed: @escaping @Sendable (PortError) -> Void
    ) throws(PortError) -> any KernelListener {
        let listener = FakeListener(address, accepted)
        listeners.append(listener)
        return listener
    }

    func connect(
        from local: DeviceAddress, to peer: DeviceAddress, on loop: EventLoop,
        done: @escaping @Sendable (Result<L2CAPChannel, PortError>) -> Void
    ) throws(PortError) -> any KernelAttempt {
        let attempt = FakeAttempt(peer, done)
        if let (handle, link) = links.first(where: { $0.value.peer == peer }) {
            guard link.socket == nil else { throw .system(.resourceBusy, during: "connect") }
            loop.execute { [self] in attempt.end(.success(channel(on: handle))) }
            return attempt
        }
        attempts.append(attempt)
        attempt.cancelled = { [weak self, weak attempt] in self?.cancel(attempt) }
        if attempts.count == 1 { initiate() }
        end(attempt, after: Self.socketLimit, .connectionRefused)
        return attempt
    }

    /// Starts the first attempt in the queue. Its time limit begins now, so that one for an absent device does not keep
    /// others from their turn.
    private func initiate() {
        guard let attempt = attempts.first else { return }
        if pausesAdvertising, isAdvertising {
            if isExtended {
                emit(LESetExtendedAdvertisingEnable(enable: false))
            } else {
                emit(LESetAdvertisingEnable(enable: false))
            }
        }
        let (interval, window) = (Slots(rawValue: 96), Slots(rawValue: 48))
        let parameters = LEConnectionParameters.kernel
        if isExtended {
            emit(
                LEExtendedCreateConnection(
                    filterPolicy: .peer, ownAddressType: .public, peer: HCIAddress(attempt.peer),
                    phys: PerPHY(
                        le1M: .init(scanInterval: interval, scanWindow: window, parameters: parameters))))
        } else {
            emit(
                LECreateConnection(
                    scanInterval: interval, scanWindow: window, filterPolicy: .peer,
                    peer: HCIAddress(attempt.peer), ownAddressType: .public, parameters: parameters))
        }
        attempt.isInitiating = true
        end(attempt, after: Self.connectLimit, .timedOut)
    }

    private func end(_ attempt: FakeAttempt, after limit: Duration, _ error: Errno) {
        Task(executorPreference: loop) { [weak self, weak attempt, loop] in
            guard await loop.sleep(for: limit), let attempt else { return }
            self?.cancel(attempt)
            attempt.end(.failure(.system(error, during: "connect")))
        }
    }

    private func cancel(_ attempt: FakeAttempt?) {
        guard let attempt, let index = attempts.firstIndex(where: { $0 === attempt }) else { return }
        // The next attempt begins when the controller has ended this one.
        if attempt.isInitiating { emit(LECreateConnectionCancel()) } else { attempts.remove(at: index) }
    }

    private func connected(
        _ status: HCIStatus, _ handle: ConnectionHandle, _ peer: DeviceAddress?, _ role: ConnectionRole
    ) {
        guard status == .success, let peer else {
            if !attempts.isEmpty { attempts.removeFirst() }
            return initiate()
        }
        linkCount += 1
        let number = linkCount
        links[handle] = KernelLink(number, peer)
        flow.open(handle)
        let attempt = role == .central ? attempts.first : nil
        if attempt != nil { attempts.removeFirst() }
        let listener = listeners.last { $0.isOpen && $0.address == identity }
        if let attempt, !attempt.isOver {
            let channel = channel(on: handle)
            after(acceptDelay) { attempt.end(.success(channel)) }
        } else if let listener {
            let channel = channel(on: handle)
            after(acceptDelay) { listener.accepted(channel) }
        } else {
            leave(handle)
        }
        if role == .central { initiate() }
    }

    private func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) {
        Task(executorPreference: loop) { [loop] in
            if await loop.sleep(for: delay) { action() }
        }
    }

    /// Returns the ATT channel of a link, which keeps all data from now on, even before its owner starts it.
    private func channel(on handle: ConnectionHandle) -> L2CAPChannel {
        brokenChannels -= 1
        let failure = brokenChannels < 0 ? nil : PortError.system(.tooManyOpenFiles, during: "epoll_ctl")
        let socket = KernelSocket(on: loop, handle: handle, failing: failure)
        guard let link = links[handle] else { return L2CAPChannel(port: socket, peer: address) }
        link.socket = socket
        try? socket.peer.start(
            PacketPortHandlers(
                receive: { [weak self] frame in
                    try? self?.flow.enqueue(frame, on: .att, of: handle)
                    self?.sendData()
                }, writable: {},
                closed: { [weak self, weak socket] _ in
                    guard let self, let link = links[handle], link.socket === socket else { return }
                    link.socket = nil
                    leave(handle)
                }))
        return L2CAPChannel(port: socket, peer: link.peer)
    }

    /// Returns the socket of the link to `peer`, whose security the test sets.
    func socket(to peer: DeviceAddress) -> KernelSocket? {
        links.values.first { $0.peer == peer }?.socket
    }

    /// Disconnects a link that still has no channel after `linger`.
    private func leave(_ handle: ConnectionHandle) {
        guard let number = links[handle]?.number else { return }
        Task(executorPreference: loop) { [self] in
            guard await loop.sleep(for: Self.linger), let link = links[handle], link.number == number,
                link.socket == nil
            else { return }
            emit(Disconnect(connection: handle, reason: .remoteUserTerminatedConnection))
        }
    }

    private func disconnected(_ event: DisconnectionComplete) {
        guard let link = links[event.connection] else { return }
        emit(0x000c, link.peer.managementOctets + [event.reason == .connectionTimeout ? 1 : 3])
        drop(event.connection)
    }

    private func drop(_ handle: ConnectionHandle) {
        guard let link = links.removeValue(forKey: handle) else { return }
        flow.close(handle)
        // Raw sockets receive the controller's event before the channel ends.
        let socket = link.socket
        loop.execute { socket?.lose() }
    }

    private func receive(_ data: ACLPacket) {
        guard let link = links[data.handle] else { return }
        try? link.reassembler.receive(data.boundary, data.data.span) { channel, payload in
            if channel == .att { link.socket?.peer.send(payload) }
        }
    }

    private func sendData() {
        while true {
            let packet = [UInt8](capacity: flow.maximumPacketLength) { _ = flow.nextPacket(into: &$0) }
            guard !packet.isEmpty else { return }
            controller.send(packet.span)
        }
    }
}

extension LEConnectionParameters {
    /// The connection parameters that the kernel requests.
    fileprivate static let kernel = LEConnectionParameters(
        intervalMin: ConnectionInterval(rawValue: 24), intervalMax: ConnectionInterval(rawValue: 40),
        supervisionTimeout: Centiseconds(rawValue: 42))
}

/// A listener that accepts the links of centrals. It is confined to the loop.
private final class FakeListener: KernelListener, @unchecked Sendable {
    let address: DeviceAddress
    let accepted: @Sendable (L2CAPChannel) -> Void
    private(set) var isOpen = true

    init(_ address: DeviceAddress, _ accepted: @escaping @Sendable (L2CAPChannel) -> Void) {
        (self.address, self.accepted) = (address, accepted)
    }

    func close() { isOpen = false }
}

/// A connection attempt in progress. It is confined to the loop.
private final class FakeAttempt: KernelAttempt, @unchecked Sendable {
    let peer: DeviceAddress
    var isInitiating = false
    var cancelled: (() -> Void)?
    private var done: (@Sendable (Result<L2CAPChannel, PortError>) -> Void)?

    var isOver: Bool { done == nil }

    init(_ peer: DeviceAddress, _ done: @escaping @Sendable (Result<L2CAPChannel, PortError>) -> Void) {
        (self.peer, self.done) = (peer, done)
    }

    func end(_ result: Result<L2CAPChannel, PortError>) {
        let done = done
        self.done = nil
        done?(result)
    }

    func cancel() {
        done = nil
        cancelled?()
    }
}
