import ATT
import BLECore
import GATT
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
/// An adapter runs on an event loop: packets reach the code that handles them without changing threads. Closing
/// the adapter, or releasing the last reference to it, ends what this process started on the radio and nothing
/// else. Managers, links, advertisements and streams hold references to it. `close` waits for the controller;
/// releasing the last reference cannot wait.
public actor Adapter {
    /// The event loop on which the adapter runs.
    public nonisolated let loop: EventLoop
    /// The specification with which the adapter was opened; nil for an adapter on a port that the caller
    /// supplied.
    public nonisolated let specification: AdapterSpecification?
    /// The adapter's name in messages: `hci0`, `virtual:kitchen`.
    public nonisolated let name: String

    /// The loop, as executor of this actor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let port: any PacketPort
    let kernel: KernelControl?
    let userChannel: UserChannel?
    let log: Logger

    // The state machines.
    var commands: CommandQueue
    /// The machines' commands that are not answered yet.
    var owners: [CommandQueue.Ticket: (machine: HostMachine, command: MachineCommand)] = [:]
    var acl = ACLFlow()
    var timer: LoopTimer?
    /// The time that `timer` is set to; no later than any deadline.
    private var armed: Instant?
    /// The buffer in which packets are encoded; kept, so that a packet costs no allocation.
    private var scratch: [UInt8] = []

    // Waiting callers.
    let waits = Waits()
    private var lastNumber: UInt64 = 0

    // Current activity.
    var common: Common
    var radio: Radio
    var isSettling = false
    /// The streams that are open, and what belongs to the callers of each link.
    var callers = AdapterCallers()
    /// The advertisements and their updates, and what their callers are to be given.
    var advertising = AdvertisingState()
    var kernelAttempts = KernelAttempts()
    var links = LinkTable()
    /// How connection parameter requests of peers are handled.
    var parameterRequests = ParameterRequestPolicy.accept
    /// The maximum length of an ATT packet on new links, in octets.
    var mtu = ATTMTU.maximum
    /// What the raw socket reported about the kernel's links.
    var kernelLinks = KernelLinks()
    var security: SecurityState
    /// How the kernel pairs; nil unless this process takes part in it.
    var kernelPairing: KernelPairing?
    var server = ServerState()
    var clients = ClientMemory()
    var recovery: Recovery
    /// The task that finishes when a kernel adapter that was switched off is on again, or cannot be switched
    /// on.
    var powerCycle: Task<Result<Void, BLEError>, Never>?
    /// The clock for timestamps of bonds.
    nonisolated let bondClock: @Sendable () -> Timestamp
    /// Whether this program is about to end, so that what ends with it is to be restored at the next start.
    nonisolated let leaving = Lock(false)
    /// The state that managers report.
    nonisolated let observedState = ObservedValue(ManagerState.unknown)
    /// Whether the extended commands are used if the controller supports them.
    let usesExtendedCommands: Bool
    var end: BLEError?
    /// The actions that run when the adapter ends, or when its owner closes it, before anything else ends.
    private var endHandlers: [EndHandler] = []
    /// The work that the end handlers started; closing the adapter waits for it.
    var endWork: [Task<Void, Never>] = []
    /// The task that closes the adapter for its owner.
    var closing: Task<Void, Never>?
    var capture: CaptureSink?

    init(
        _ specification: AdapterSpecification?, name: String, port: any PacketPort,
        kernel: KernelControl?, userChannel: UserChannel? = nil, identity: DeviceAddress,
        capture: CaptureSink?, _ options: AdapterOptions
    ) {
        loop = options.loop
        self.specification = specification
        self.name = name
        self.port = port
        self.kernel = kernel
        self.userChannel = userChannel
        self.capture = capture
        common = Common(identity: identity, random: HostRandom(seed: options.seed))
        common.isShared = kernel != nil
        security = SecurityState(options.security)
        bondClock = options.security.bonds.clock
        // On kernel adapters, the kernel chooses.
        usesExtendedCommands = kernel != nil || options.usesExtendedCommands
        recovery = Recovery(isKernel: kernel != nil, costsLinks: options.recoversWithLinks)
        log = Logger(label: "ble.\(name)")
        commands = CommandQueue(kernel == nil ? .exclusive : .shared)
        radio = Radio(remembering: options.rememberedDevices, privacy: options.privacy)
    }

    /// Ends on the radio what this process has started there, without waiting for the controller's answers. No
    /// caller is left to notify: every manager, link, advertisement and stream holds the adapter.
    isolated deinit {
        kernelPairing?.close()
        let pairing = kernelPairing?.before.map {
            KernelPairingSettings(options: security.options, before: $0).tearDown
        }
        defer {
            // Closing a serial line discards unsent data, hence the delay. If the adapter has ended before,
            // nothing is sent here, and there is no delay.
            let hasEnded = end != nil
            Task(executorPreference: loop) { [port, loop, kernel, userChannel] in
                if !hasEnded { _ = await loop.sleep(for: .milliseconds(20)) }
                port.close()
                await kernel?.restore(pairing ?? [])
                await userChannel?.giveBack()
            }
        }
        guard end == nil else { return }
        if kernel == nil {
            sendLast(Reset().packet)
        } else {
            abandonRadio()
        }
        for link in links {
            if case .socket(let channel) = link.channel { channel.port.close() }
        }
        kernelAttempts.cancelAll()
        kernel?.close()
        kernel?.capture?.close()
        observedState.set(.unknown, end: .adapter(.closed))
    }

    /// Ends at once everything that is or may be on air.
    private func abandonRadio() {
        for command in radio.abandonment { sendLast(command) }
    }

    /// Sends a command at once and ignores its answer.
    private func sendLast(_ command: HCICommandPacket) {
        let packet = HCIPacket.command(command).encoded
        capture?(.hostToController, packet.span)
        if port.isWritable { port.send(packet.span) }
    }

    /// The error with which new operations fail; nil while the adapter accepts them.
    var refusal: BLEError? { end ?? (closing == nil ? nil : .adapter(.closed)) }

    /// Returns a number that no other wait has had.
    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// The address by which other devices know this adapter.
    public var address: DeviceAddress { identity }

    var identity: DeviceAddress { common.identity }

    /// The private address that the adapter uses on air in place of its identity address, and changes
    /// regularly; nil without privacy.
    public var privateAddress: DeviceAddress? { radio.privateAddress }

    /// The address that this adapter uses on air now.
    var addressOnAir: DeviceAddress { radio.privateAddress ?? identity }

    /// The features and limits that the controller reported when it was set up last: when the adapter was opened,
    /// or when the controller was recovered.
    public var controller: ControllerCapabilities { capabilities }

    var capabilities: ControllerCapabilities { common.controller }
}

// MARK: - Packets

extension Adapter {
    /// Starts to receive packets from the port.
    func start() throws(BLEError) {
        setIdentity(identity)
        timer = LoopTimer(on: loop) { [weak self] in self?.assumeIsolated { $0.expire() } }
        do throws(PortError) {
            try kernel?.capture?.start(log)
            try port.start(
                PacketPortHandlers(
                    receive: { [weak self] packet in self?.assumeIsolated { $0.receive(packet) } },
                    writable: { [weak self] in self?.assumeIsolated { $0.pumpController() } },
                    closed: { [weak self] error in self?.assumeIsolated { $0.portClosed(error) } },
                    wasReset: { [weak self] in self?.assumeIsolated { $0.handle(.lineLost) } },
                    lost: { [weak self] count in self?.assumeIsolated { $0.packetsWereLost(count) } }))
        } catch {
            throw .port(error)
        }
    }

    /// Handles one packet from the controller: the type octet, then the packet.
    private func receive(_ packet: Span<UInt8>) {
        capture?(.controllerToHost, packet)
        if recovery.listens { recovery.received(at: loop.now) }
        do throws(DecodeError) {
            // Most packets are advertising reports: they take a short path, and no command follows from them.
            if try receiveReports(packet) { return }
            commands.receive(packet, at: loop.now)
            var reader = ByteReader(packet, of: HCIPacket.packetName)
            switch HCIPacketType(rawValue: try reader.u8("type")) {
            case .event: receive(try HCIEvent(reader.restInPlace()))
            case .acl:
                let header = try ACLHeader(decoding: &reader)
                let data = try reader.span(header.dataLength, "Data")
                try reader.end()
                receive(data, header)
            // Synchronous and isochronous packets are not handled; a shared socket delivers those of other programs.
            default: break
            }
        } catch {
            log.warning("ignoring a packet from the controller: \(error)")
        }
        pumpController()
    }

    /// Records the effect of a command that another program, or the kernel, sent to a shared controller.
    func observeForeignCommand(_ command: Span<UInt8>) {
        radio.foreignCommand(command, isRecovering: recovery.isUnderWay, at: loop.now)
        settle()
    }

    /// Sends commands, and the data that links have queued for the controller. Does not poll the links, of
    /// which there can be many: whatever affects a link flushes it.
    func pumpController() {
        let now = loop.now
        while port.isWritable, sendFrame({ commands.nextFrame(into: &$0, at: now) }) {}
        while let event = commands.nextEvent() { handle(event) }
        sendData()
        wake(by: commands.deadline)
    }

    /// Sends commands in the loop's next turn.
    func pumpControllerSoon() {
        loop.execute { [weak self] in self?.assumeIsolated { $0.pumpController() } }
    }

    /// Sends data for which the controller has buffers.
    func sendData() {
        while port.isWritable, sendFrame({ acl.nextPacket(into: &$0) }) {}
    }

    /// Sends what `write` writes. Returns false when it writes nothing.
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

    /// Pumps a link in the loop's next turn, which sends its pending data.
    func pumpSoon(_ link: Link) {
        let id = link.id
        loop.execute { [weak self] in
            self?.assumeIsolated { adapter in
                if let link = adapter.links[id] { adapter.pump(link) }
            }
        }
    }

    /// Ensures that `expire` runs at `deadline` at the latest. It may run earlier: when a deadline moves to a
    /// later time, the timer is not set again, because that would require a search among the deadlines of all
    /// links.
    func wake(by deadline: Instant?) {
        guard let deadline, armed.map({ deadline < $0 }) ?? true else { return }
        armed = deadline
        timer?.set(deadline)
    }

    private func expire() {
        let now = loop.now
        armed = nil
        commands.expire(at: now)
        expireRadio(at: now)
        expireRecovery(at: now)
        expireReview(at: now)
        for link in links {
            guard let deadline = link.deadline, deadline <= now else { continue }
            expire(link, at: now)
            flush(link)
        }
        pumpController()
        wakeForRadio()
        wake(by: recovery.deadline)
        wake(by: links.review.deadline)
        for link in links { wake(by: link.deadline) }
        loadOwedKeys()
    }

    private func portClosed(_ error: PortError) {
        log.info("the port ended: \(error)")
        // Any process can open a raw socket; without the capability, its first command fails.
        if let specification, error.errno == .notPermitted || error.errno == .permissionDenied {
            shutDown(.permission(.netRaw, for: .sendCommands(specification)))
        } else {
            shutDown(hangUp(error))
        }
    }

    /// Returns the error for the end of the port. An air that is full accepts a stream and then closes it.
    private func hangUp(_ error: PortError) -> BLEError {
        let isNew = capabilities.version == nil
        switch (specification, error) {
        case (.kernel, _), (.userChannel, _), (.serial, _): return .adapter(.removed)
        case (_, .protocolViolation): return .port(error)
        case (.virtual, _):
            return .adapter(.hungUp(isNew ? .airAtOnce : .air))
        case (nil, _): return .adapter(.hungUp(.port))
        case (.stream, _):
            return .adapter(.hungUp(isNew ? .streamAtOnce : .stream))
        }
    }

    /// Registers `action`, which is called when the adapter ends, before anything else ends; calls it at once
    /// when the adapter has already ended. Does not retain `owner`: after its release there is nothing to
    /// end.
    func endWithAdapter<Owner: AnyObject & Sendable>(
        _ owner: Owner, _ action: @escaping @Sendable (Owner, BLEError) -> Task<Void, Never>
    ) {
        if let end { return endWork.append(action(owner, end)) }
        endHandlers.removeAll { $0.owner == nil }
        endHandlers.append(
            EndHandler(owner: owner) { [weak owner] reason in owner.map { action($0, reason) } })
    }

    private struct EndHandler {
        weak var owner: (any AnyObject & Sendable)?
        let action: @Sendable (BLEError) -> Task<Void, Never>?
    }

    /// Calls the actions that `endWithAdapter` registered, once.
    func reportEnd(_ reason: BLEError) {
        let handlers = endHandlers
        endHandlers = []
        endWork += handlers.compactMap { $0.action(reason) }
    }

    /// Ends everything with `reason`, which waiting callers receive.
    func shutDown(_ reason: BLEError) {
        guard end == nil else { return }
        reportEnd(reason)
        end = reason
        // During the recovery, nothing could be ended in order.
        if kernel != nil, recovery.isUnderWay { abandonRadio() }
        port.close()
        kernel?.close()
        timer?.set(nil)
        for link in links { drop(link, .unknown) }
        waits.end(all: .answers, .failure(reason))
        waits.end(all: .connections, .failure(reason))
        endScans(.failure(reason))
        endTrains(.failure(reason))
        waits.end(all: .rests, .success(()))
        waits.end(all: .powers, .failure(reason))
        endAdvertising(reason)
        radio.dropRequests()
        kernelAttempts.cancelAll()
        server.listeners.finish(reason)
        server.stopKeeping()
        callers.health.finish(reason)
        callers.connections.finish(reason)
        observedState.set(reason.managerState, end: reason)
    }
}
