import BLECore
import DequeModule
import HCI

/// A simulated Bluetooth LE controller: HCI packets go in and out at one port, radio signals at the other.
/// It has no clock and no I/O, so tests run it under virtual time; `VirtualAir` joins several.
///
/// It knows the legacy family of LE commands and, if its configuration says so, the extended one, and
/// reports that in Read Local Supported Commands and its features. It refuses commands with the status that
/// the Core Specification names, and no bytes from its host can trap it.
///
/// Some things are simpler than in a radio, which a host can notice only by measuring time:
/// - Data and control packets of a link go at once, in order, and are never lost; the air may delay them.
///   Where connection events are simulated, data wait for them. `Number Of Completed Packets` comes when the
///   peer's host has taken the packet, so a host that does not read holds its peer back.
/// - A link goes silent when the air says so: the peer's controller is gone, was reset or is out of range.
///   Then the supervision timeout begins.
/// - An advertising event is on all its channels at once, and a scanner receives it when its window is open.
/// - Packets of a periodic train are counted, not timed by channels: a controller that follows the train
///   receives those that are sent while it follows.
/// - An extended advertising event is received with its chain at once, though the air can lose the chain's end.
///   A scanner on two PHYs listens on both at once, and LE Coded reaches no farther than the others.
/// - Parameters of a connection change when the central says so, and it takes the least interval of a range.
/// - Data are not encrypted, only held back until both ends have proved that they have the same key. When they
///   have not, both leave the connection at once; a radio's central may learn it by silence.
/// - The data length's times are those of LE 1M on every PHY.
/// - A fragment of an L2CAP frame reaches the peer's host as the sender's host made it, whatever the data
///   length is; the flags that a controller uses distinguish start and continuation.
public struct VirtualController: Sendable {
    /// The capacities and features of the controller.
    package let configuration: Configuration
    /// The identifier on the virtual air.
    package let id: ID

    /// How long signals take to others and back.
    private(set) var roundTrip = Duration.zero
    /// How many packets of data a connection event carries each way; nil: there are no connection events, and data go at
    /// once.
    private(set) var packetsPerConnectionEvent: Int?
    /// Advertising reports that were dropped because the host did not take them.
    package private(set) var droppedReports = 0

    /// What Reset brings back to its beginning.
    struct Settings: Sendable {
        var eventMask = HCIEventMask.default
        var eventMaskPage2 = HCIEventMaskPage2(rawValue: 0)
        var leEventMask = LEEventMask.default
        var randomAddress: DeviceAddress?
        /// The family of commands that the host uses.
        var family: CommandFamily?
        /// Nil stands for anonymous advertisers.
        var acceptList: [DeviceAddress?] = []
        var resolvingList = ResolvingList()
        /// The advertiser of the legacy commands, which is always there, and the sets that the host has made.
        var advertisers = [Advertiser()]
        var scanner = Scanner()
        var initiator: Initiator?
        /// The trains that it follows or is about to, and the one that the host has asked to follow next.
        var followers: [TrainFollower] = []
        var syncRequest: SyncRequest?
        var periodicList: [ListedAdvertiser] = []
        var hostFlow = HostFlow()
        var hostChannels = ChannelMap.all
        var suggestedLength = DataLength.minimum
        /// What the host likes on new links.
        var phyPreference = PHYPreference(transmit: nil, receive: nil)

        /// The advertiser of the legacy commands.
        var advertiser: Advertiser {
            get { advertisers[0] }
            set { advertisers[0] = newValue }
        }
    }
    var settings = Settings()
    /// In the order in which they were made.
    var links: [Link] = []
    private var lastHandle: UInt16 = 0x003f
    private var lastSerial: UInt64 = 0
    private var lastTrain: UInt64 = 0
    private var lastSync: UInt16 = 0x0eff
    private var toHost: Deque<HostPacket> = []
    private var toAir: Deque<Transmission> = []
    private var waitingReports = 0
    var random: SplitMix64

    /// A controller after power-on. The seed decides on all that is random in it.
    package init(_ configuration: Configuration = Configuration(), id: ID, seed: UInt64) {
        self.configuration = configuration
        self.id = id
        random = SplitMix64(seed: seed)
    }

    /// The connections that it has, oldest first.
    package var connections: [ConnectionHandle] { links.map(\.handle) }

    /// Whether a connection is encrypted; false for one that it does not have.
    package func isEncrypted(_ connection: ConnectionHandle) -> Bool {
        links.contains { $0.handle == connection && $0.encryption.isOn }
    }

    /// Whether the link layer does anything: advertises, scans, connects, follows trains, or has links.
    package var isActive: Bool {
        settings.advertisers.contains(where: \.isSent) || listens || !links.isEmpty
    }

    /// Whether it receives broadcast packets: it scans, initiates or follows trains.
    var listens: Bool {
        settings.scanner.isEnabled || settings.initiator != nil || !settings.followers.isEmpty
    }
}

// MARK: - Time

extension VirtualController {
    /// When `expire(at:)` is to be called, if nothing else happens before.
    package var deadline: Instant? {
        let radio = settings.advertisers.reduce(settings.scanner.deadline) { earlier($0, $1.deadline) }
        let trains = settings.followers.reduce(radio) { earlier($0, $1.deadline) }
        // By index: closures get copies of links, and this is asked for with every packet.
        return links.indices.reduce(trains) {
            earlier(
                earlier($0, links[$1].connectionEvent),
                earlier(links[$1].deadline, links[$1].payloadDeadline))
        }
    }

    /// Acts on what was due by `now`: advertising events, packets of trains, the end of advertising and
    /// scanning, links and trains that were silent too long.
    package mutating func expire(at now: Instant) {
        advertise(at: now)
        endScan(at: now)
        endSyncs(at: now)
        holdConnectionEvents(at: now)
        while let index = links.indices.first(where: { links[$0].deadline.map { $0 <= now } ?? false }) {
            let link = links[index]
            // The peer may believe that the link is there, and now misses this end.
            transmit(.link(link.id, .silence), to: link.peer)
            end(index, link.reason)
        }
        expirePayloads(at: now)
    }
}

// MARK: - The host's port

/// The packets that wait for the host.
private enum HostPacket: Sendable {
    /// A Command Complete or Command Status event.
    case answer([UInt8])
    /// An event that is neither an answer nor an advertising report.
    case event([UInt8])
    /// An advertising report, of a periodic train as well; only a limited number waits.
    case report([UInt8])
    /// Data of a link, if the host has room.
    case data(DataForHost)
    /// Packets of the host that have left their buffers, counted until the host takes the event.
    case completed(ConnectionHandle, count: UInt16)
}

extension VirtualController {
    /// Takes a packet from the host: the type octet, then the packet. Anything else is answered with a Hardware
    /// Error event, as from a controller on a UART that has lost synchronization (Vol 4, Part A, 4).
    package mutating func receive(_ packet: Span<UInt8>, at now: Instant) {
        switch try? HCIPacket(packet) {
        case .command(let command)?: perform(command, at: now)
        case .acl(let data)?: take(data, at: now)
        // There are no links that could carry them.
        case .synchronous?, .iso?: break
        case .event?, nil: emit(HardwareError(hardwareCode: 0x01))
        }
    }

    /// The next packet for the host, oldest first.
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
        guard wants(type(of: event).subevent) else { return }
        toHost.append(.event(HCIPacket.event(event.packet).encoded))
    }

    /// Whether the masks let an LE event pass.
    func wants(_ subevent: LESubevent) -> Bool {
        settings.eventMask.contains(.leMeta) && settings.leEventMask.contains(subevent)
    }

    /// Carries out a command. Its answer goes before the events that it leads to.
    ///
    /// An unknown command is answered by Command Status: it reports that a command cannot begin to execute
    /// (Core Specification 5.4, Vol 4, Part E, 7.7.15), and unlike Command Complete it does not depend on
    /// return parameters, which are unknown here.
    mutating func perform(_ command: HCICommandPacket, at now: Instant) {
        let place = toHost.count
        let answer: HCIEventPacket?
        if knows(command.opcode), let handler = Self.handlers[command.opcode] {
            answer =
                admits(command.opcode)
                ? handler.run(&self, command.parameters, now) : handler.refuse(.commandDisallowed)
        } else {
            answer = CommandStatus(status: .unknownCommand, opcode: command.opcode).packet
        }
        guard let answer else { return }
        // A reset takes events away.
        toHost.insert(.answer(HCIPacket.event(answer).encoded), at: min(place, toHost.count))
    }

    /// Completes a command that the air has carried out.
    mutating func complete(_ opcode: HCIOpcode, returning parameters: [UInt8]) {
        let event = CommandComplete(credits: 1, opcode: opcode, returnParameters: parameters)
        toHost.append(.answer(HCIPacket.event(event.packet).encoded))
    }

    /// Queues data of a link.
    mutating func queue(_ data: DataForHost) { toHost.append(.data(data)) }

    /// How many more reports may wait for the host.
    var roomForReports: Int { max(configuration.reportLimit - waitingReports, 0) }

    /// Counts reports for which there is no room.
    mutating func dropReports(_ count: Int) { droppedReports += max(count, 0) }

    mutating func queue(_ report: HCIEventPacket) {
        waitingReports += 1
        toHost.append(.report(HCIPacket.event(report).encoded))
    }

    /// Buffers of the host's packets are free again. Events that the host has not taken add up.
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

    /// Everything is as after power-on. Links end without a word, as they do when a controller is reset.
    mutating func reset() {
        for link in links { transmit(.link(link.id, .silence), to: link.peer) }
        links.removeAll()
        settings = Settings()
        toHost.removeAll { if case .answer = $0 { false } else { true } }
        waitingReports = 0
    }
}

// MARK: - The air's port

extension VirtualController {
    /// Takes over what the medium asks of it.
    mutating func adopt(_ conditions: VirtualAir.Conditions) {
        roundTrip = conditions.delay * 2
        packetsPerConnectionEvent = conditions.packetsPerConnectionEvent
    }

    /// What it wants of the air.
    struct Wants {
        /// To be called, and when.
        var deadline: Instant?
        /// To send, to pass packets to its host, and to receive what is sent to all.
        var toSend, toReport, toListen: Bool
    }

    var wants: Wants {
        Wants(
            deadline: deadline, toSend: !toAir.isEmpty,
            toReport: !toHost.isEmpty || settings.hostFlow.isReady,
            toListen: listens)
    }

    /// The next signal for other controllers, oldest first.
    package mutating func nextTransmission() -> Transmission? { toAir.popFirst() }

    /// Takes a signal of another controller, which arrives with `rssi` dBm.
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

    /// Sends a signal, by default as strong as this controller can.
    mutating func transmit(
        _ signal: AirSignal, to receiver: ID?, at power: Int8? = nil, in timing: LinkTiming? = nil
    ) {
        toAir.append(
            Transmission(
                receiver: receiver, signal: signal, power: power ?? configuration.transmitPower,
                timing: timing))
    }
}

// MARK: - New names

extension VirtualController {
    /// Handles count up, so that one that was in use a moment ago does not come back at once.
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
    /// Names a controller on an air; never used twice.
    package struct ID: Hashable, Sendable {
        /// Counts the controllers of an air from 1.
        package let number: UInt64

        package init(number: UInt64) { self.number = number }
    }
}

extension VirtualController.ID: Comparable, CustomStringConvertible {
    /// `#1`, in the order in which controllers join.
    package var description: String { "#\(number)" }

    /// Orders controllers by when they joined the air.
    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
