import ATT
import BLECore
import GATTServer
import HCI
import HCISocket
import Logging
import SystemPackage

/// One radio and everything that happens on it: scans, advertising, links, and the GATT server and
/// clients on those links. Managers are views of it; a process opens an adapter once and shares it.
///
/// ```swift
/// let adapter = try await Adapter.open(.virtual(name: "kitchen"))
/// let central = CentralManager(adapter)
/// for try await found in central.scan() { print(found.name ?? "-", found.rssi ?? 0) }
/// ```
///
/// It lives on an event loop: packets reach the code that handles them without changing threads. Closing
/// it, or letting it go, ends what this process started on the radio and nothing else.
public actor Adapter {
    /// The loop that the adapter lives on.
    public nonisolated let loop: EventLoop
    /// What was asked for when it was opened.
    public nonisolated let specification: AdapterSpecification
    /// The adapter's name in messages: `hci0`, `virtual:kitchen`.
    public nonisolated let name: String

    /// The loop, as executor of this actor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let port: any PacketPort
    let kernel: KernelControl?
    let log: Logger

    // The machines.
    var commands: CommandQueue
    var acl: ACLFlow
    var timer: LoopTimer?
    /// The look at what is left of a scan once others have done with the radio.
    var settling: LoopTimer?
    /// Where packets are written before they go; kept, so that a packet costs no allocation.
    private var scratch: [UInt8] = []

    // Who waits for what.
    let answers = Waiters<CommandQueue.Ticket, [UInt8]>()
    let transactions = Waiters<TransactionKey, ATTResponse>()
    let confirmations = Waiters<TransactionKey, Void>()
    let connects = Waiters<ConnectAttempt, LinkID>()
    let endings = Waiters<EndingKey, DisconnectReason>()
    let idle = Waiters<UInt64, Void>()
    var nextIdle: UInt64 = 0

    // What goes on.
    var identity: DeviceAddress
    var capabilities = ControllerCapabilities()
    var scanning = ScanState()
    var advertising = AdvertisingState()
    var connecting = ConnectState()
    var links: [LinkID: Link] = [:]
    var linkOfHandle: [ConnectionHandle: LinkID] = [:]
    var nextLink = LinkID(number: 1)
    var nextEnding: UInt64 = 0
    /// The largest ATT packet that new links take.
    var mtu = ATTMTU.maximum
    /// What the raw socket told of links that the kernel has.
    var kernelLinks: [ConnectionHandle: (timing: LinkParameters.Timing, phys: LinkParameters.PHYs)] = [:]
    var kernelReasons: [ConnectionHandle: HCIStatus] = [:]
    var server = ServerState()
    var clients = ClientMemory()
    var end: BLEError?
    var capture: CaptureSink?

    init(
        on loop: EventLoop, _ specification: AdapterSpecification, name: String, port: any PacketPort,
        kernel: KernelControl?, identity: DeviceAddress, capture: CaptureSink?
    ) {
        self.loop = loop
        self.specification = specification
        self.name = name
        self.port = port
        self.kernel = kernel
        self.identity = identity
        self.capture = capture
        log = Logger(label: "ble.\(name)")
        commands = CommandQueue(kernel == nil ? .exclusive : .shared)
        acl = ACLFlow()
    }

    /// The address by which other devices know this adapter.
    public var address: DeviceAddress { identity }

    /// What the controller is and can.
    public var controller: ControllerCapabilities { capabilities }
}

// MARK: - Packets

extension Adapter {
    /// Starts to take packets from the port.
    func start() throws(BLEError) {
        timer = LoopTimer(on: loop) { [weak self] in self?.assumeIsolated { $0.expire() } }
        do throws(PortError) {
            try kernel?.capture?.start(log)
            try port.start(
                PacketPortHandlers(
                    receive: { [weak self] packet in self?.assumeIsolated { $0.receive(packet) } },
                    writable: { [weak self] in self?.assumeIsolated { $0.pump() } },
                    closed: { [weak self] error in self?.assumeIsolated { $0.portClosed(error) } }))
        } catch {
            throw .port(error)
        }
    }

    /// Takes one packet from the controller: the type octet, then the packet.
    private func receive(_ packet: Span<UInt8>) {
        capture?(.controllerToHost, packet)
        commands.receive(packet, at: loop.now)
        do throws(DecodeError) {
            try dispatch(packet)
        } catch {
            log.warning("ignoring a packet from the controller: \(error)")
        }
        pump()
    }

    private func dispatch(_ packet: Span<UInt8>) throws(DecodeError) {
        var reader = ByteReader(packet, of: HCIPacket.packetName)
        switch HCIPacketType(rawValue: try reader.u8("type")) {
        case .event:
            // Advertising is most of what comes: it does not take the long way.
            if try hearReports(packet) { return }
            receive(try HCIEvent(reader.restInPlace()))
        case .acl: receive(try ACLPacket(reader.restInPlace()))
        case .command: noteForeign(reader.restInPlace())
        // Voice and isochronous data are nobody's here; on a shared socket other programs' packets pass by.
        default: break
        }
    }

    /// Sends what all machines have to say, and sets the timer for what they wait for.
    func pump() {
        while port.isWritable, sendFrame({ commands.nextFrame(into: &$0) }) {}
        while let event = commands.nextEvent() { handle(event) }
        for link in links.values { flush(link) }
        sendData()
        rearm()
    }

    /// Sends data for which the controller has buffers.
    func sendData() {
        while port.isWritable, sendFrame({ acl.nextPacket(into: &$0) }) {}
    }

    /// Sends what `write` writes; false when that is nothing.
    private func sendFrame(_ write: (inout OutputSpan<UInt8>) -> Bool) -> Bool {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(addingCapacity: max(CommandQueue.maximumFrameLength, acl.maximumPacketLength)) {
            _ = write(&$0)
        }
        guard !scratch.isEmpty else { return false }
        capture?(.hostToController, scratch.span)
        port.send(scratch.span)
        return true
    }

    /// Sends what a link has to say in the loop's next turn.
    func pumpSoon(_ link: Link) {
        let id = link.id
        loop.execute { [weak self] in
            self?.assumeIsolated { adapter in
                if let link = adapter.links[id] { adapter.pump(link) }
            }
        }
    }

    func rearm() {
        var deadline = commands.deadline
        for link in links.values { deadline = earlier(deadline, link.deadline) }
        timer?.set(deadline)
    }

    private func expire() {
        let now = loop.now
        commands.expire(at: now)
        for link in links.values { expire(link, at: now) }
        pump()
    }

    private func portClosed(_ error: PortError) {
        log.info("the port ended: \(error)")
        switch error.errno {
        case .notPermitted?, .permissionDenied?:
            // A raw socket opens for anybody; its first command says that it may not.
            shutDown(.permission(capability: "CAP_NET_RAW", operation: "sending commands to \(name)"))
        default: shutDown(.adapter(.removed))
        }
    }

    /// Ends everything with `reason`: whoever waits hears it.
    func shutDown(_ reason: BLEError) {
        guard end == nil else { return }
        end = reason
        port.close()
        kernel?.close()
        timer?.set(nil)
        settling?.set(nil)
        for link in Array(links.values) { drop(link, .unknown) }
        answers.resumeAll(with: .failure(reason))
        connects.resumeAll(with: .failure(reason))
        scanning.finishAll(.failure(reason))
        idle.resumeAll(with: .success(()))
        advertising.started.resumeAll(with: .failure(reason))
        advertising.ended.resumeAll(with: .failure(reason))
        for attempt in connecting.kernel.values { attempt.cancel() }
        server.finish(.failure(reason))
    }
}
