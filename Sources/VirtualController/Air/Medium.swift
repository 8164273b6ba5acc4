import BLECore
import DequeModule
import HCI

/// What is between the controllers: how strong each receives the others, and which signals are on their way.
struct Medium: Sendable {
    /// A signal that reaches a controller.
    struct Arrival: Sendable {
        var receiver: VirtualController.ID
        var signal: AirSignal
        /// How strong it was sent, in dBm.
        var power: Int8
    }

    /// The fate of a signal that was sent.
    enum Fate {
        /// It arrives at once, perhaps without the end of its chain.
        case arrives(AirSignal)
        /// It arrives later, or was lost and is not sent again.
        case settled
        /// It was lost again and again, for as long as the supervision timeout is.
        case broken(AirLinkID)
    }

    private struct Flight: Sendable {
        var arrival: Arrival
        var sender: VirtualController.ID
        var due: Instant
    }

    private struct Pair: Hashable {
        let low, high: VirtualController.ID

        init(_ one: VirtualController.ID, _ other: VirtualController.ID) {
            (low, high) = (min(one, other), max(one, other))
        }
    }

    private var levels: [Pair: Int8?] = [:]
    /// In the order of their arrival.
    private var flights: Deque<Flight> = []

    /// How strong two controllers receive what the other sends with 0 dBm, in dBm; nil when they are out of range.
    func rssi(between one: VirtualController.ID, and other: VirtualController.ID) -> Int8? {
        levels.isEmpty ? VirtualAir.defaultRSSI : levels[Pair(one, other), default: VirtualAir.defaultRSSI]
    }

    mutating func setRSSI(_ rssi: Int8?, between one: VirtualController.ID, and other: VirtualController.ID) {
        levels[Pair(one, other)] = .some(rssi)
    }

    /// A controller is gone, with all that was said of it and is on its way from or to it.
    mutating func forget(_ id: VirtualController.ID) {
        levels = levels.filter { $0.key.low != id && $0.key.high != id }
        flights.removeAll { $0.sender == id || $0.arrival.receiver == id }
    }

    var deadline: Instant? { flights.first?.due }

    /// The next signal that arrives by `now`, and who sent it.
    mutating func nextArrival(by now: Instant) -> (Arrival, VirtualController.ID)? {
        guard let first = flights.first, first.due <= now else { return nil }
        flights.removeFirst()
        return (first.arrival, first.sender)
    }

    /// Sends a signal on its way to a receiver.
    mutating func carry(
        _ transmission: Transmission, from sender: VirtualController.ID, to receiver: VirtualController.ID,
        at now: Instant, _ conditions: VirtualAir.Conditions, _ random: inout SplitMix64
    ) -> Fate {
        var signal = transmission.signal
        // No radio carries silence.
        if case .link(_, .silence) = signal { return .arrives(signal) }
        guard let level = rssi(between: sender, and: receiver) else { return .settled }
        var due = now + conditions.delay
        if case .link(let link, _) = signal {
            let timing = transmission.timing ?? .usual
            var silence = Duration.zero
            while conditions.loses(&random) {
                silence += timing.interval.duration
                guard silence < timing.supervisionTimeout.duration else { return .broken(link) }
            }
            due = due + silence
            // The packets of a link keep their order.
            let earlier = flights.last { $0.sender == sender && $0.arrival.receiver == receiver }
            due = max(due, earlier?.due ?? due)
        } else if level.adding(transmission.power) < VirtualAir.sensitivity || conditions.loses(&random) {
            return .settled
        } else {
            signal = signal.withoutLostPackets(conditions, &random)
        }
        guard due > now || flights.contains(where: { $0.sender == sender && $0.due <= now }) else {
            return .arrives(signal)
        }
        let place = flights.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
        flights.insert(
            Flight(
                arrival: Arrival(receiver: receiver, signal: signal, power: transmission.power),
                sender: sender, due: due), at: place)
        return .settled
    }
}

extension Int8 {
    /// The level at which a signal arrives that is sent with `power` dBm, where one of 0 dBm arrives with this:
    /// within the range of reports, -127 to 20 dBm.
    func adding(_ power: Int8) -> Int8 { Int8(Swift.min(Swift.max(Int(self) + Int(power), -127), 20)) }
}

extension VirtualAir.Conditions {
    /// Draws whether a packet is lost.
    fileprivate func loses(_ random: inout SplitMix64) -> Bool {
        loss > 0 && Double.random(in: 0..<1, using: &random) < loss
    }
}

extension LinkTiming {
    /// For what belongs to a connection that is no more: a usual interval and timeout.
    fileprivate static let usual = LinkTiming(
        interval: ConnectionInterval(rawValue: 24), latency: 0,
        supervisionTimeout: Centiseconds(rawValue: 42))
}

extension AirSignal {
    /// The signal as it is received when its first packet is: a receiver that misses a packet of a chain does
    /// not find those behind it.
    fileprivate func withoutLostPackets(
        _ conditions: VirtualAir.Conditions, _ random: inout SplitMix64
    ) -> AirSignal {
        guard conditions.loss > 0 else { return self }
        func received(_ packets: Int) -> Int {
            var heard = 1
            while heard < packets, !conditions.loses(&random) { heard += 1 }
            return heard
        }
        return switch self {
        case .advertising(let advertising): .advertising(advertising.cut(to: received(advertising.packets)))
        case .scanResponse(let response): .scanResponse(response.cut(to: received(response.packets)))
        case .train(let packet): .train(packet.cut(to: received(packet.packets)))
        default: self
        }
    }
}
