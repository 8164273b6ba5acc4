import BLECore
import DequeModule
import HCI

/// A radio medium with any number of simulated controllers. It is a value without a clock or I/O: the same
/// seed and the same calls produce the same packets, in virtual time as in real time.
///
/// `VirtualTestbed` and `AirServer` run an air for applications and their tests. All controllers receive each
/// other at -50 dBm until their distance or `VirtualTestbed.setRSSI` changes that. This level applies to
/// signals of 0 dBm; a different transmit power changes it by the same amount.
public struct VirtualAir: Sendable {
    /// The identifier of a controller on the air.
    package typealias ControllerID = VirtualController.ID

    /// The effects of the medium on signals.
    public struct Conditions: Hashable, Sendable {
        /// The probability that a packet is lost, 0 to 1. Lost advertising, periodic trains, scan requests
        /// and responses, and connection requests are not retransmitted. Packets of a link are retransmitted
        /// in each connection event, until one arrives or the supervision timeout has passed. With a
        /// probability of 1, links fall silent at once.
        public var loss: Double
        /// The delay of each signal. The wait for the first answer on a new connection is extended by the
        /// round-trip delay.
        public var delay: Duration
        /// The number of data packets that a connection event carries in each direction, 1 or more: data are
        /// sent, and hosts' buffers are released, once per connection interval. With nil, data are sent at
        /// once, as fast as hosts read them.
        public var packetsPerConnectionEvent: Int?

        /// Creates the conditions of a medium, by default without loss and delay.
        public init(
            loss: Double = 0, delay: Duration = .zero, packetsPerConnectionEvent: Int? = nil
        ) {
            self.loss = min(max(loss, 0), 1)
            self.delay = max(delay, .zero)
            self.packetsPerConnectionEvent = packetsPerConnectionEvent.map { max($0, 1) }
        }

        var isDead: Bool { loss >= 1 }
    }

    /// The default level in dBm at which signals of 0 dBm arrive.
    package static let defaultRSSI: Int8 = -50
    /// The minimum level in dBm at which signals are received. Connections are exempt: they fall silent only
    /// when the two controllers are out of range.
    package static let sensitivity: Int8 = -100

    /// The conditions of the medium. A change applies to later signals.
    package var conditions: Conditions {
        didSet {
            for index in entries.indices { entries[index].controller.adopt(conditions) }
            if conditions.isDead != oldValue.isDead { reach(none: conditions.isDead) }
        }
    }

    /// A controller on the air, with its properties.
    private struct Entry: Sendable {
        var controller: VirtualController
        var processID: UInt32?
        var name: [UInt8]?
        var position: AirPosition?
    }

    /// The controllers, ordered by identifier.
    private var entries: [Entry] = []
    private var random: SplitMix64
    private(set) var now = Instant.zero
    private var agenda = AirAgenda()
    private var lastNumber: UInt64 = 0
    private var medium = Medium()

    /// Creates an air without controllers. The seed determines all random values. After every call, drain
    /// `nextPacket()`, and call `expire(at:)` at the deadline.
    ///
    /// ```swift
    /// var air = VirtualAir(seed: 1)
    /// let one = air.add()
    /// let two = air.add(.init(publicAddress: DeviceAddress("C0:FF:EE:00:00:01/public")))
    /// air.receive(HCIPacket.command(Reset().packet).encoded.span, from: one, at: .zero)
    /// while let (id, packet) = air.nextPacket() { print(packet, "for the host of controller", id) }
    /// if let deadline = air.deadline { air.expire(at: deadline) }
    /// ```
    package init(seed: UInt64, conditions: Conditions = Conditions()) {
        random = SplitMix64(seed: seed)
        self.conditions = conditions
    }
}

// MARK: - Controllers

extension VirtualAir {
    /// The controllers in the order in which they joined.
    package var controllers: [ControllerID] { entries.map(\.controller.id) }

    /// Returns the current state of a controller.
    package func controller(_ id: ControllerID) -> VirtualController? {
        index(of: id).map { entries[$0].controller }
    }

    /// Returns the controller whose public address or current random address is `address`.
    package func controller(with address: DeviceAddress) -> ControllerID? {
        entries.first {
            $0.controller.configuration.publicAddress == address
                || $0.controller.settings.randomAddress == address
        }?.controller.id
    }

    /// Adds a controller in its state after power-on. `processID`, if known, is returned to other controllers
    /// that claim the name of this controller.
    package mutating func add(
        _ configuration: VirtualController.Configuration = .init(), processID: UInt32? = nil
    ) -> ControllerID {
        lastNumber += 1
        let id = ControllerID(number: lastNumber)
        var controller = VirtualController(configuration, id: id, seed: random.next())
        controller.adopt(conditions)
        entries.append(Entry(controller: controller, processID: processID))
        return id
    }

    /// Removes a controller without notice, as in a power failure. Its peers still receive the
    /// packets that it has sent on its links before, except those that it would have to send again.
    package mutating func remove(_ id: ControllerID, at now: Instant) {
        advance(to: now)
        guard let index = index(of: id) else { return }
        entries.remove(at: index)
        agenda.forget(id)
        medium.forget(id, keepingUntil: self.now + conditions.delay)
        for index in entries.indices {
            change(index) { (controller, now) in controller.peerFellSilent(id, isGone: true, at: now) }
        }
        settle()
    }

    /// Sets the level in dBm at which two controllers receive each other's signals of 0 dBm; nil means that
    /// they are out of range. Links between them then fall silent, and continue if the two are in range again
    /// before the supervision timeout.
    package mutating func setRSSI(
        _ rssi: Int8?, between one: ControllerID, and other: ControllerID, at now: Instant
    ) {
        advance(to: now)
        medium.setRSSI(rssi, between: one, and: other)
        for (id, peer) in [(one, other), (other, one)] {
            guard let index = index(of: id), let place = self.index(of: peer) else { continue }
            let power = entries[place].controller.configuration.transmitPower
            change(index) { [isDead = conditions.isDead] (controller, now) in
                if let rssi { controller.peerChanged(peer, rssi: rssi.adding(power)) }
                if rssi == nil || isDead {
                    controller.peerFellSilent(peer, isGone: false, at: now)
                } else {
                    controller.peerReturned(peer)
                }
            }
        }
        settle()
    }

    /// Sets the position of a controller. From then on, its level to and from other controllers with a
    /// position depends on their distance; levels between it and controllers without a position do not
    /// change. A level that `setRSSI` sets later applies until one of the two moves again.
    ///
    /// Signals propagate as in free space: 40 dB are lost on the first meter and 20 dB with each factor of
    /// ten, whatever the channel and the PHY. A signal of 0 dBm arrives at -40 dBm over one meter and at -60
    /// dBm over ten meters, and is not received beyond one kilometer. Distances below 10 cm count as 10 cm.
    package mutating func setPosition(_ position: AirPosition, of id: ControllerID, at now: Instant) {
        guard let index = index(of: id) else { return }
        entries[index].position = position
        for other in entries where other.controller.id != id {
            guard let place = other.position else { continue }
            setRSSI(position.rssi(from: place), between: id, and: other.controller.id, at: now)
        }
    }

    /// Puts all connected controllers out of each other's range, or back into range.
    private mutating func reach(none: Bool) {
        for index in entries.indices {
            let own = entries[index].controller.id
            for peer in Set(entries[index].controller.links.map(\.peer)).sorted()
            where medium.rssi(between: own, and: peer) != nil {
                change(index) { (controller, now) in
                    if none {
                        controller.peerFellSilent(peer, isGone: false, at: now)
                    } else {
                        controller.peerReturned(peer)
                    }
                }
            }
        }
        settle()
    }

    /// Returns the index of a controller, if it is on the air.
    private func index(of id: ControllerID) -> Int? {
        let index = entries.partition(of: id) { $0.controller.id }
        return index < entries.count && entries[index].controller.id == id ? index : nil
    }

    /// Calls `body` with a controller, and then updates its needs in the agenda.
    private mutating func change(_ index: Int, _ body: (inout VirtualController, Instant) -> Void) {
        body(&entries[index].controller, now)
        note(index)
    }

    /// Updates the needs of a controller in the agenda after a change.
    private mutating func note(_ index: Int) {
        let (id, needs) = (entries[index].controller.id, entries[index].controller.needs)
        agenda.note(id, needs)
    }
}

// MARK: - Hosts

extension VirtualAir {
    /// Processes a packet from a controller's host: the type octet, then the packet.
    package mutating func receive(_ packet: Span<UInt8>, from id: ControllerID, at now: Instant) {
        advance(to: now)
        guard let index = index(of: id) else { return }
        if !claim(packet, for: index) { entries[index].controller.receive(packet, at: self.now) }
        note(index)
        settle()
        advance(to: now)
    }

    /// Returns the next packet for the host of a controller for which `hostTakes` returns true; the
    /// controllers take turns. Returned data are acknowledged to their sender. Call `resume` when a host for
    /// which `hostTakes` returned false accepts packets again.
    package mutating func nextPacket(
        where hostTakes: (ControllerID) -> Bool = { _ in true }
    ) -> (ControllerID, [UInt8])? {
        while let id = agenda.nextTalker() {
            guard hostTakes(id) else { continue }
            if let index = index(of: id), let packet = nextPacket(at: index) { return (id, packet) }
        }
        return nil
    }

    /// Resumes packets for the host of controller `id`, which accepts them again.
    package mutating func resume(_ id: ControllerID) {
        if let index = index(of: id) { note(index) }
    }

    /// Returns the next packet for the host of controller `id`.
    package mutating func nextPacket(for id: ControllerID) -> [UInt8]? {
        index(of: id).flatMap { nextPacket(at: $0) }
    }

    private mutating func nextPacket(at index: Int) -> [UInt8]? {
        guard let packet = entries[index].controller.nextPacket() else { return nil }
        note(index)
        settle()
        return packet
    }
}

// MARK: - Time

extension VirtualAir {
    /// The time at which to call `expire(at:)`, if no other call changes it.
    package var deadline: Instant? { earlier(agenda.deadline, medium.deadline) }

    /// Processes everything that is due by `now`, in order of time.
    package mutating func expire(at now: Instant) { advance(to: now) }

    private mutating func advance(to now: Instant) {
        while let due = deadline, due <= now, due < .never {
            self.now = max(self.now, due)
            while let (arrival, sender) = medium.nextArrival(by: self.now) { deliver(arrival, from: sender) }
            for id in agenda.takeDue(by: due) {
                guard let index = index(of: id) else { continue }
                change(index) { (controller, now) in controller.expire(at: now) }
            }
            settle()
        }
        self.now = max(self.now, now)
    }

    /// Carries signals until no controller has signals to send.
    private mutating func settle() {
        while let sender = agenda.nextSender() {
            while let index = index(of: sender),
                let transmission = entries[index].controller.nextTransmission()
            {
                carry(transmission, from: sender)
            }
        }
    }

    private mutating func carry(_ transmission: Transmission, from sender: ControllerID) {
        for receiver in transmission.receiver.map({ [$0] }) ?? agenda.listeners where receiver != sender {
            guard index(of: receiver) != nil else { continue }
            switch medium.carry(transmission, from: sender, to: receiver, at: now, conditions, &random) {
            case .arrives(let signal):
                deliver(
                    Medium.Arrival(receiver: receiver, signal: signal, power: transmission.power),
                    from: sender)
            case .settled: break
            case .broken(let link):
                // Neither device receives the other any more.
                for (one, other) in [(sender, receiver), (receiver, sender)] {
                    deliver(
                        Medium.Arrival(
                            receiver: one, signal: .link(link, .silence), power: transmission.power),
                        from: other)
                }
            }
        }
    }

    private mutating func deliver(_ arrival: Medium.Arrival, from sender: ControllerID) {
        guard let index = index(of: arrival.receiver) else { return }
        let rssi =
            arrival.level ?? medium.rssi(between: sender, and: arrival.receiver) ?? Self.defaultRSSI
        change(index) { (controller, now) in
            controller.receive(arrival.signal, from: sender, rssi: rssi.adding(arrival.power), at: now)
        }
    }
}

extension Instant {
    /// The result of saturated arithmetic; anything that is due at this time never happens.
    fileprivate static let never = Instant(nanoseconds: .max)
}

extension VirtualAir {
    /// Answers a Claim Name command. Returns false for any other packet.
    private mutating func claim(_ packet: Span<UInt8>, for index: Int) -> Bool {
        guard packet.count >= 3, packet[0] == HCIPacketType.command.rawValue,
            case .command(let command)? = try? HCIPacket(packet), command.opcode == ClaimName.opcode
        else { return false }
        let answer = claim(command.parameters, for: index)
        entries[index].controller.complete(ClaimName.opcode, returning: answer.encoded)
        return true
    }

    private mutating func claim(_ name: [UInt8], for index: Int) -> ClaimName.Answer {
        guard name.count <= ClaimName.maximumLength, String(validating: name, as: UTF8.self) != nil else {
            return ClaimName.Answer(status: .invalidCommandParameters)
        }
        guard !name.isEmpty else {
            entries[index].name = nil
            return ClaimName.Answer(status: .success, address: .randomStatic(random.next()))
        }
        if let holder = entries.firstIndex(where: { $0.name == name }), holder != index {
            return ClaimName.Answer(status: .commandDisallowed, holder: entries[holder].processID ?? 0)
        }
        entries[index].name = name
        return ClaimName.Answer(status: .success, address: .randomStatic(named: name))
    }
}
