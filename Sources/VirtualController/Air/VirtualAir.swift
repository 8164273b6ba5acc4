import BLECore
import DequeModule
import HCI

/// Any number of simulated controllers, and what is between them. It is a value without clock and I/O: the
/// same seed and the same calls give the same packets, under virtual time as in real time.
///
/// ```swift
/// var air = VirtualAir(seed: 1)
/// let one = air.add()
/// let two = air.add(.init(publicAddress: DeviceAddress("C0:FF:EE:00:00:01/public")))
/// air.receive(HCIPacket.command(Reset().packet).encoded.span, from: one, at: .zero)
/// while let (id, packet) = air.nextPacket() { … }      // each packet goes to the host of controller `id`
/// if let deadline = air.deadline { air.expire(at: deadline) }
/// ```
/// Whatever is called, drain `nextPacket()` afterwards and call `expire(at:)` at the deadline. Everybody
/// hears everybody with -50 dBm until `setRSSI` or `setPosition` says otherwise.
public struct VirtualAir: Sendable {
    /// Names a controller on the air.
    public typealias ControllerID = VirtualController.ID

    /// What the medium does to signals.
    public struct Conditions: Hashable, Sendable {
        /// How likely a signal is lost, 0 to less than 1. Advertising, scan requests and responses and
        /// connection requests are gone then; packets of a link are sent again in the next connection event.
        public var loss: Double
        /// How long signals are on their way.
        public var delay: Duration

        /// A medium of these properties; by default it is perfect.
        public init(loss: Double = 0, delay: Duration = .zero) {
            self.loss = min(max(loss, 0), 0.99)
            self.delay = max(delay, .zero)
        }
    }

    /// How strong signals arrive when nothing else was said, in dBm.
    public static let defaultRSSI: Int8 = -50

    /// What the medium does to signals from now on.
    public var conditions: Conditions

    struct Seat: Sendable {
        var controller: VirtualController
        var processID: UInt32?
        var name: [UInt8]?
        var position: AirPosition?
    }
    /// In the order of their identifiers.
    var seats: [Seat] = []
    var random: SplitMix64
    private(set) var now = Instant.zero
    private var lastNumber: UInt64 = 0
    private var lastServed = 0
    private var medium = Medium()

    /// An air without controllers. The seed decides on everything random in it.
    public init(seed: UInt64, conditions: Conditions = Conditions()) {
        random = SplitMix64(seed: seed)
        self.conditions = conditions
    }
}

// MARK: - Controllers

extension VirtualAir {
    /// The controllers, oldest first.
    public var controllers: [ControllerID] { seats.map(\.controller.id) }

    /// A controller as it is now.
    public func controller(_ id: ControllerID) -> VirtualController? {
        index(of: id).map { seats[$0].controller }
    }

    /// Adds a controller, as it is after power-on. The process, if it is known, is told to others that want
    /// a name which this controller holds.
    public mutating func add(
        _ configuration: VirtualController.Configuration = .init(), processID: UInt32? = nil
    ) -> ControllerID {
        lastNumber += 1
        let id = ControllerID(number: lastNumber)
        seats.append(
            Seat(
                controller: VirtualController(configuration, id: id, seed: random.next()),
                processID: processID))
        return id
    }

    /// Removes a controller without a word, as when its power fails. To its peers it falls silent.
    public mutating func remove(_ id: ControllerID, at now: Instant) {
        advance(to: now)
        guard let index = index(of: id) else { return }
        seats.remove(at: index)
        medium.forget(id)
        for index in seats.indices { seats[index].controller.peerFellSilent(id, isGone: true, at: self.now) }
        settle()
    }

    /// Sets how strong two controllers hear each other, in dBm; nil when they do not. Links between them
    /// then fall silent, and go on if they hear each other again before the supervision timeout.
    public mutating func setRSSI(
        _ rssi: Int8?, between one: ControllerID, and other: ControllerID, at now: Instant
    ) {
        advance(to: now)
        medium.setRSSI(rssi, between: one, and: other)
        for (id, peer) in [(one, other), (other, one)] {
            guard let index = index(of: id), self.index(of: peer) != nil else { continue }
            if let rssi {
                seats[index].controller.peerChanged(peer, rssi: rssi)
                seats[index].controller.peerReturned(peer)
            } else {
                seats[index].controller.peerFellSilent(peer, isGone: false, at: self.now)
            }
        }
        settle()
    }

    func index(of id: ControllerID) -> Int? { seats.firstIndex { $0.controller.id == id } }
}

// MARK: - Hosts

extension VirtualAir {
    /// Takes a packet from a controller's host: the type octet, then the packet.
    public mutating func receive(_ packet: Span<UInt8>, from id: ControllerID, at now: Instant) {
        advance(to: now)
        guard let index = index(of: id) else { return }
        if !claim(packet, for: index) { seats[index].controller.receive(packet, at: self.now) }
        settle()
        advance(to: now)
    }

    /// The next packet for the host of some controller; they take turns. Call it only as far as hosts take
    /// packets: data that a host has taken are acknowledged to their sender.
    public mutating func nextPacket() -> (ControllerID, [UInt8])? {
        for offset in seats.indices {
            let index = (lastServed + 1 + offset) % seats.count
            if let packet = nextPacket(at: index) {
                lastServed = index
                return (seats[index].controller.id, packet)
            }
        }
        return nil
    }

    /// The next packet for the host of controller `id`.
    public mutating func nextPacket(for id: ControllerID) -> [UInt8]? {
        index(of: id).flatMap { nextPacket(at: $0) }
    }

    private mutating func nextPacket(at index: Int) -> [UInt8]? {
        guard let packet = seats[index].controller.nextPacket() else { return nil }
        settle()
        return packet
    }
}

// MARK: - Time

extension VirtualAir {
    /// When `expire(at:)` wants to be called, if nothing else happens before.
    public var deadline: Instant? {
        seats.reduce(medium.deadline) { earlier($0, $1.controller.deadline) }
    }

    /// Lets everything happen that is due by `now`, in its order.
    public mutating func expire(at now: Instant) { advance(to: now) }

    private mutating func advance(to now: Instant) {
        while let due = deadline, due <= now, due < .never {
            self.now = max(self.now, due)
            while let (arrival, sender) = medium.nextArrival(by: self.now) { deliver(arrival, from: sender) }
            for index in seats.indices where seats[index].controller.deadline.map({ $0 <= due }) ?? false {
                seats[index].controller.expire(at: self.now)
            }
            settle()
        }
        self.now = max(self.now, now)
    }

    /// Carries signals until nobody has any more to send.
    private mutating func settle() {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            for index in seats.indices {
                while let transmission = seats[index].controller.nextTransmission() {
                    isQuiet = false
                    carry(transmission, from: seats[index].controller.id)
                }
            }
        }
    }

    private mutating func carry(_ transmission: Transmission, from sender: ControllerID) {
        for index in seats.indices {
            let receiver = seats[index].controller.id
            guard receiver != sender, transmission.receiver ?? receiver == receiver else { continue }
            var arrival = Medium.Arrival(receiver: receiver, signal: transmission.signal)
            if medium.carry(&arrival, from: sender, at: now, conditions, &random) {
                deliver(arrival, from: sender)
            }
        }
    }

    private mutating func deliver(_ arrival: Medium.Arrival, from sender: ControllerID) {
        guard let index = index(of: arrival.receiver) else { return }
        let rssi = medium.rssi(between: sender, and: arrival.receiver) ?? Self.defaultRSSI
        seats[index].controller.hear(arrival.signal, from: sender, rssi: rssi, at: now)
    }
}

extension Instant {
    /// What saturated arithmetic ends at: nothing that is due then happens.
    fileprivate static let never = Instant(nanoseconds: .max)
}
