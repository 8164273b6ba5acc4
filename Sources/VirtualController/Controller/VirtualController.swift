import BLECore
import DequeModule
import HCI

/// A simulated Bluetooth LE controller with one port for HCI packets and one for radio signals. It has no
/// clock and no I/O, so tests run it in virtual time; `VirtualAir` connects several controllers.
///
/// It supports the legacy family of LE commands and, depending on its configuration, the extended family, and
/// reports this in Read Local Supported Commands and its features. It refuses commands with the status that
/// the Core Specification requires, and no bytes from its host can make it trap.
///
/// Some aspects are simpler than in a radio, which a host can detect only by measuring time:
/// - Data and control packets of a link are sent at once, in order, and are never lost; the air can delay
///   them. If connection events are simulated, data wait for them. `Number Of Completed Packets` is sent when
///   the peer's host has read the packet, so a host that does not read blocks its peer.
/// - A link falls silent when the air reports that the peer's controller has been removed, was reset or is
///   out of range. The supervision timeout then begins.
/// - An advertising event is on all its channels at once, and a scanner receives it when its window is open.
/// - Packets of a periodic train are counted, not timed by channels: a controller that follows the train
///   receives those that are sent meanwhile, except those that it skips or that the air loses.
/// - An extended advertising event is received with its chain at once, though the air can lose the chain's end.
///   A scanner on two PHYs listens on both at once, and LE Coded reaches no farther than the others.
/// - Parameters of a connection change as soon as the central sends the update, and it selects the minimum
///   interval of a range.
/// - Data are not encrypted, only held back until both devices have proved that they have the same key. If
///   the keys differ, both leave the connection at once; with a real radio, the central sometimes detects
///   this only by the supervision timeout.
/// - The times of the data length are those of LE 1M on every PHY.
/// - A fragment of an L2CAP frame reaches the peer's host with the size that the sender's host gave it,
///   whatever the data length is; the flags that a controller uses distinguish start and continuation.
public struct VirtualController: Sendable {
    /// The capacities and features of the controller.
    package let configuration: Configuration
    /// The identifier on the virtual air.
    package let id: ID

    /// The round-trip delay of signals to other controllers.
    private(set) var roundTrip = Duration.zero
    /// The number of data packets that a connection event carries in each direction; nil if connection events
    /// are not simulated, so that data are sent at once.
    private(set) var packetsPerConnectionEvent: Int?
    /// The number of advertising reports that were dropped because the host did not read them.
    package private(set) var droppedReports = 0

    /// The state that Reset restores to its initial values.
    struct Settings: Sendable {
        var eventMask = HCIEventMask.default
        var eventMaskPage2 = HCIEventMaskPage2(rawValue: 0)
        var leEventMask = LEEventMask.default
        var randomAddress: DeviceAddress?
        /// The family of commands that the host uses.
        var family: CommandFamily?
        /// The accept list; nil represents anonymous advertisers.
        var acceptList: [DeviceAddress?] = []
        var resolvingList = ResolvingList()
        /// The advertiser of the legacy commands, which always exists, and the sets that the host has
        /// created.
        var advertisers = [Advertiser()]
        var scanner = Scanner()
        var initiator: Initiator?
        /// The trains to which the controller is synchronized or synchronizing. `syncRequest` is the host's
        /// pending request.
        var followers: [TrainFollower] = []
        var syncRequest: SyncRequest?
        var periodicList: [ListedAdvertiser] = []
        var hostFlow = HostFlow()
        var hostChannels = ChannelMap.all
        var suggestedLength = DataLength.minimum
        /// The PHYs that the host prefers on new links.
        var phyPreference = PHYPreference(transmit: nil, receive: nil)

        /// The advertiser of the legacy commands.
        var advertiser: Advertiser {
            get { advertisers[0] }
            set { advertisers[0] = newValue }
        }
    }
    var settings = Settings()
    /// The links in the order in which they were created.
    var links: [Link] = []
    private var lastHandle: UInt16 = 0x003f
    private var lastSerial: UInt64 = 0
    private var lastTrain: UInt64 = 0
    private var lastSync: UInt16 = 0x0eff
    private var toHost: Deque<HostPacket> = []
    private var toAir: Deque<Transmission> = []
    private var waitingReports = 0
    var random: SplitMix64
    /// The seed of the delays between advertising events.
    let jitter: UInt64

    /// Creates a controller in its state after power-on. The seed determines all random values.
    package init(_ configuration: Configuration = Configuration(), id: ID, seed: UInt64) {
        self.configuration = configuration
        self.id = id
        random = SplitMix64(seed: seed)
        jitter = random.next()
    }

    /// The current connections, oldest first.
    package var connections: [ConnectionHandle] { links.map(\.handle) }

    /// Returns whether a connection is encrypted; false if the connection does not exist.
    package func isEncrypted(_ connection: ConnectionHandle) -> Bool {
        links.contains { $0.handle == connection && $0.encryption.isOn }
    }

    /// Whether the link layer is active: advertises, scans, connects, follows trains, or has links.
    package var isActive: Bool {
        settings.advertisers.contains(where: \.isSent) || listens || !links.isEmpty
    }

    /// Whether the controller receives broadcast packets, because it scans, initiates or follows trains.
    var listens: Bool {
        settings.scanner.isEnabled || settings.initiator != nil || !settings.followers.isEmpty
    }
}

// MARK: - Time

extension VirtualController {
    /// The time at which to call `expire(at:)`, if no other call changes it.
    package var deadline: Instant? {
        let radio = settings.advertisers.reduce(settings.scanner.deadline) { earlier($0, $1.deadline) }
        let trains = settings.followers.reduce(radio) { earlier($0, $1.deadline) }
        // By index, because closures receive copies of links, and this property is read with every packet.
        return links.indices.reduce(trains) {
            earlier(
                earlier($0, links[$1].connectionEvent),
                earlier(links[$1].deadline, links[$1].payloadDeadline))
        }
    }

    /// Processes everything that is due by `now`: advertising events, packets of trains, the end of
    /// advertising and scanning, and the timeouts of links and trains.
    package mutating func expire(at now: Instant) {
        advertise(at: now)
        endScan(at: now)
        endSyncs(at: now)
        holdConnectionEvents(at: now)
        while let index = links.indices.first(where: { links[$0].deadline.map { $0 <= now } ?? false }) {
            let link = links[index]
            // The peer can still consider the link connected; it receives nothing from this controller from
            // now on.
            transmit(.link(link.id, .silence), to: link.peer)
            end(index, link.reason)
        }
        expirePayloads(at: now)
    }
}

// MARK: - Host port

/// The packets that wait for the host.
private enum HostPacket: Sendable {
    /// A Command Complete or Command Status event.
    case answer([UInt8])
    /// An event that is neither an answer nor an advertising report.
    case event([UInt8])
    /// An advertising report, including reports of a periodic train; only a limited number of reports can
    /// wait.
    case report([UInt8])
    /// Data of a link, delivered if the host has room.
    case data(DataForHost)
    /// The number of the host's packets whose buffers were released, which is added up until the host reads
    /// the event.
    case completed(ConnectionHandle, count: UInt16)
}

extension VirtualController {
    /// Processes a packet from the host: the type octet, then the packet. Anything else is answered with a
    /// Hardware Error event, as by a controller on a UART that has lost synchronization (Vol 4, Part A, 4).
    package mutating func receive(_ packet: Span<UInt8>, at now: Instant) {
        switch try? HCIPacket(packet) {
        case .command(let command)?: perform(command, at: now)
        case .acl(let data)?: take(data, at: now)
        // The controller has no links for such data.
        case .synchronous?, .iso?: break
        case .event?, nil: emit(HardwareError(hardwareCode: 0x01))
        }
    }

    /// Returns the next packet for the host, oldest first.
    package mutating func nextPacket() -> [UInt8]? {
        if let data = settings.hostFlow.next() { return give(data) }
        while let packet = toHost.popFirst() {
            switch packet {
            case .answer(let bytes), .event(let bytes): return bytes
            case .report(let bytes):
                waitingReports -= 1
                return bytes
            case .data(let data):
                if settings.hostFlow.admit(data) { return give(data) }
            case .completed(let handle, let count):
                let completed = CompletedPackets(connection: handle, count: count)
                return HCIPacket.event(NumberOfCompletedPackets(completed: [completed]).packet).encoded
            }
        }
        return nil
    }

    /// Queues an event, if the host's mask enables it.
    mutating func emit(_ event: some HCIEventParameters) {
        let code = type(of: event).code
        guard settings.eventMask.contains(code) || settings.eventMaskPage2.contains(code) else { return }
        toHost.append(.event(HCIPacket.event(event.packet).encoded))
    }

    /// Queues an LE event, if the host's mask enables it.
    mutating func emit(_ event: some LEEventParameters) {
        guard reports(type(of: event).subevent) else { return }
        toHost.append(.event(HCIPacket.event(event.packet).encoded))
    }

    /// Returns whether the event masks enable an LE event.
    func reports(_ subevent: LESubevent) -> Bool {
        settings.eventMask.contains(.leMeta) && settings.leEventMask.contains(subevent)
    }

    /// Executes a command. Its answer precedes the events that it causes.
    ///
    /// An unknown command is answered by Command Status: it reports that a command cannot begin to execute
    /// (Core Specification 5.4, Vol 4, Part E, 7.7.15), and unlike Command Complete it does not depend on
    /// return parameters, which are unknown here.
    mutating func perform(_ command: HCICommandPacket, at now: Instant) {
        let place = toHost.count
        let answer: HCIEventPacket?
        if supports(command.opcode), let handler = Self.handlers[command.opcode] {
            answer =
                admits(command.opcode)
                ? handler.run(&self, command.parameters, now) : handler.refuse(.commandDisallowed)
        } else {
            answer = CommandStatus(status: .unknownCommand, opcode: command.opcode).packet
        }
        guard let answer else { return }
        // A reset removes events, so there can be fewer than before.
        toHost.insert(.answer(HCIPacket.event(answer).encoded), at: min(place, toHost.count))
    }

    /// Returns whether the command belongs to no family or to the same family, legacy or extended, as the
    /// commands that the host has used. The first command of a family selects it, even if the command is then
    /// refused for another reason.
    private mutating func admits(_ opcode: HCIOpcode) -> Bool {
        guard let family = CommandFamily(opcode) else { return true }
        settings.family = settings.family ?? family
        return settings.family == family
    }

    /// Completes a command that the air has executed.
    mutating func complete(_ opcode: HCIOpcode, returning parameters: [UInt8]) {
        let event = CommandComplete(credits: 1, opcode: opcode, returnParameters: parameters)
        toHost.append(.answer(HCIPacket.event(event.packet).encoded))
    }

    /// Queues data of a link.
    mutating func queue(_ data: DataForHost) { toHost.append(.data(data)) }

    /// The number of further reports that can wait for the host.
    var roomForReports: Int { max(configuration.reportLimit - waitingReports, 0) }

    /// Counts reports for which there is no room.
    mutating func dropReports(_ count: Int) { droppedReports += max(count, 0) }

    mutating func queue(_ report: HCIEventPacket) {
        waitingReports += 1
        toHost.append(.report(HCIPacket.event(report).encoded))
    }

    /// Releases buffers of the host's packets. An event that the host has not read yet is combined with the
    /// new one.
    mutating func release(_ count: Int, on index: Int) {
        let count = min(count, links[index].buffered)
        guard count > 0 else { return }
        links[index].buffered -= count
        let handle = links[index].handle
        var total = UInt16(count)
        if case .completed(handle, let earlier) = toHost.last, earlier <= .max - total {
            toHost.removeLast()
            total += earlier
        }
        toHost.append(.completed(handle, count: total))
    }

    /// Resets the controller to its state after power-on. Links end without notice, as they do when a
    /// controller is reset.
    mutating func reset() {
        for link in links { transmit(.link(link.id, .silence), to: link.peer) }
        links.removeAll()
        settings = Settings()
        toHost.removeAll { if case .answer = $0 { false } else { true } }
        waitingReports = 0
    }
}

// MARK: - Air port

extension VirtualController {
    /// Adopts the conditions of the medium.
    mutating func adopt(_ conditions: VirtualAir.Conditions) {
        roundTrip = conditions.delay * 2
        packetsPerConnectionEvent = conditions.packetsPerConnectionEvent
    }

    /// The needs of a controller that the air serves.
    struct Needs {
        /// The time at which to call `expire`, if any.
        var deadline: Instant?
        /// Whether the controller has signals to send, has packets for its host, and receives broadcast
        /// signals.
        var toSend, toReport, toListen: Bool
    }

    var needs: Needs {
        Needs(
            deadline: deadline, toSend: !toAir.isEmpty,
            toReport: !toHost.isEmpty || settings.hostFlow.isReady,
            toListen: listens)
    }

    /// Returns the next signal for other controllers, oldest first.
    package mutating func nextTransmission() -> Transmission? { toAir.popFirst() }

    /// Processes a signal of another controller, which arrives at `rssi` dBm.
    package mutating func receive(_ signal: AirSignal, from sender: ID, rssi: Int8, at now: Instant) {
        switch signal {
        case .advertising(let advertising): receive(advertising, from: sender, rssi: rssi, at: now)
        case .scanRequest(let request): answerScan(request, from: sender)
        case .scanResponse(let response): receiveResponse(response, rssi: rssi, at: now)
        case .train(let packet): receive(packet, rssi: rssi, at: now)
        case .connectionRequest(let request): accept(request, from: sender, rssi: rssi)
        case .link(let link, let signal):
            guard let index = links.indices.first(where: { links[$0].id == link }) else { return }
            links[index].rssi = rssi
            receive(signal, on: index, at: now)
        }
    }

    /// Sends a signal, by default at the maximum power of this controller.
    mutating func transmit(
        _ signal: AirSignal, to receiver: ID?, at power: Int8? = nil, in timing: LinkTiming? = nil
    ) {
        toAir.append(
            Transmission(
                receiver: receiver, signal: signal, power: power ?? configuration.transmitPower,
                timing: timing))
    }
}

// MARK: - New identifiers

extension VirtualController {
    /// Returns an unused handle. Handles count up, so that a handle that was recently in use is not reused at
    /// once.
    mutating func freeHandle() -> ConnectionHandle {
        repeat {
            lastHandle = lastHandle < 0x0eff ? lastHandle + 1 : 0x0040
        } while links.contains { $0.handle.rawValue == lastHandle }
        return ConnectionHandle(lastHandle)
    }

    mutating func newLinkID() -> AirLinkID {
        lastSerial += 1
        return AirLinkID(central: id, serial: lastSerial)
    }

    mutating func newTrainID() -> AirTrainID {
        lastTrain += 1
        return AirTrainID(advertiser: id, serial: lastTrain)
    }

    mutating func freeSyncHandle() -> SyncHandle {
        repeat {
            lastSync = lastSync < 0x0eff ? lastSync + 1 : 0
        } while settings.followers.contains { $0.handle.rawValue == lastSync }
        return SyncHandle(rawValue: lastSync)
    }
}

extension VirtualController {
    /// The identifier of a controller on an air; it is never reused.
    package struct ID: Hashable, Sendable {
        /// The number of the controller on its air, from 1.
        package let number: UInt64

        package init(number: UInt64) { self.number = number }
    }
}

extension VirtualController.ID: Comparable, CustomStringConvertible {
    /// The number as text, such as `#1`; controllers are numbered in the order in which they join.
    package var description: String { "#\(number)" }

    /// Orders controllers by when they joined the air.
    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
