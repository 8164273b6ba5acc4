import ATT
import BLECore
import GATTServer
import HCI
import HCISocket
import Logging

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

    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let port: any PacketPort
    let kernel: KernelControl?
    let log: Logger

    // The machines.
    var commands: CommandQueue
    var acl: ACLFlow
    var timer: LoopTimer?

    // Who waits for what.
    let answers = Waiters<CommandQueue.Ticket, [UInt8]>()
    let transactions = Waiters<TransactionKey, ATTResponse>()
    let confirmations = Waiters<TransactionKey, Void>()
    let connects = Waiters<ConnectAttempt, LinkID>()
    let endings = Waiters<EndingKey, DisconnectReason>()

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
    var kernelParameters: [ConnectionHandle: ConnectionParameters] = [:]
    var kernelReasons: [ConnectionHandle: HCIStatus] = [:]
    var server = ServerState()
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
        commands = CommandQueue(isShared: kernel != nil)
        acl = ACLFlow()
    }

    deinit { port.close() }

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
        capture?(.received, packet)
        do throws(DecodeError) {
            switch try HCIPacket(packet) {
            case .event(let event): receive(event)
            case .acl(let data): receive(data)
            // LE audio and voice are nobody's here; on a shared socket other processes' commands pass by.
            case .synchronous, .iso, .command: break
            }
        } catch {
            log.warning("ignoring a packet from the controller: \(error)")
        }
        pump()
    }

    func transmit(_ packet: Span<UInt8>) {
        capture?(.sent, packet)
        port.send(packet)
    }

    /// Sends what all machines have to say, and sets the timer for what they wait for.
    func pump() {
        let now = loop.now
        while port.isWritable, let packet = commands.nextPacket(at: now) {
            transmit(HCIPacket.command(packet).encoded.span)
        }
        while let event = commands.nextEvent() { handle(event) }
        for link in links.values { flush(link) }
        sendData()
        rearm()
    }

    /// Sends data for which the controller has buffers.
    func sendData() {
        while port.isWritable, let packet = acl.nextPacket() { transmit(HCIPacket.acl(packet).encoded.span) }
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
        shutDown(.adapter(.removed))
    }

    /// Ends everything with `reason`: whoever waits hears it.
    func shutDown(_ reason: BLEError) {
        guard end == nil else { return }
        end = reason
        port.close()
        kernel?.close()
        timer?.set(nil)
        for link in Array(links.values) { drop(link, .unknown) }
        answers.resumeAll(with: .failure(reason))
        connects.resumeAll(with: .failure(reason))
        scanning.finishAll(.failure(reason))
        server.finish(.failure(reason))
    }
}
