import BLECore
import DequeModule
import HCI

/// The medium between the controllers: the levels at which they receive each other, and the signals in
/// transit.
struct Medium: Sendable {
    /// A signal that reaches a controller.
    struct Arrival: Sendable {
        var receiver: VirtualController.ID
        var signal: AirSignal
        /// The transmit power in dBm.
        var power: Int8
        /// The level at which the two controllers received each other when a signal in transit was sent; nil
        /// for a signal that arrives at once.
        var level: Int8?
    }

    /// The outcome of sending a signal.
    enum Outcome {
        /// The signal arrives at once, possibly without the end of its chain.
        case arrives(AirSignal)
        /// The signal arrives later, or was lost and is not retransmitted.
        case settled
        /// All retransmissions of the signal were lost until the supervision timeout of the link.
        case broken(AirLinkID)
    }

    private struct InTransit: Sendable {
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
    /// The signals in transit, in the order of their arrival.
    private var inTransit: Deque<InTransit> = []

    /// Returns the level in dBm at which two controllers receive each other's signals of 0 dBm; nil if they
    /// are out of range.
    func rssi(between one: VirtualController.ID, and other: VirtualController.ID) -> Int8? {
        levels.isEmpty ? VirtualAir.defaultRSSI : levels[Pair(one, other), default: VirtualAir.defaultRSSI]
    }

    mutating func setRSSI(_ rssi: Int8?, between one: VirtualController.ID, and other: VirtualController.ID) {
        levels[Pair(one, other)] = .some(rssi)
    }

    /// Removes a controller, with its levels and the signals in transit to it. Packets that it has sent on its
    /// links still arrive, so that a peer receives the termination of a controller that leaves right after it;
    /// those that it would have had to send again, which arrive after `limit`, do not.
    mutating func forget(_ id: VirtualController.ID, keepingUntil limit: Instant) {
        levels = levels.filter { $0.key.low != id && $0.key.high != id }
        inTransit.removeAll { sent in
            if sent.arrival.receiver == id { return true }
            if case .link = sent.arrival.signal { return sent.sender == id && sent.due > limit }
            return sent.sender == id
        }
    }

    var deadline: Instant? { inTransit.first?.due }

    /// Removes and returns the next signal that arrives by `now`, with its sender.
    mutating func nextArrival(by now: Instant) -> (Arrival, VirtualController.ID)? {
        guard let first = inTransit.first, first.due <= now else { return nil }
        inTransit.removeFirst()
        return (first.arrival, first.sender)
    }

    /// Sends a signal to a receiver and returns the outcome.
    mutating func carry(
        _ transmission: Transmission, from sender: VirtualController.ID, to receiver: VirtualController.ID,
        at now: Instant, _ conditions: VirtualAir.Conditions, _ random: inout SplitMix64
    ) -> Outcome {
        var signal = transmission.signal
        // Silence is not a packet, so it is neither lost nor delayed.
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
            let earlier = inTransit.last { $0.sender == sender && $0.arrival.receiver == receiver }
            due = max(due, earlier?.due ?? due)
        } else if level.adding(transmission.power) < VirtualAir.sensitivity || conditions.loses(&random) {
            return .settled
        } else {
            signal = signal.withoutLostPackets(conditions, &random)
        }
        guard due > now || inTransit.contains(where: { $0.sender == sender && $0.due <= now }) else {
            return .arrives(signal)
        }
        let place = inTransit.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
        inTransit.insert(
            InTransit(
                arrival: Arrival(
                    receiver: receiver, signal: signal, power: transmission.power, level: level),
                sender: sender, due: due), at: place)
        return .settled
    }
}

extension Int8 {
    /// Returns the level at which a signal of `power` dBm arrives, if this is the level of a signal of 0 dBm.
    /// The result is limited to the range of reports, -127 to 20 dBm.
    func adding(_ power: Int8) -> Int8 { Int8(Swift.min(Swift.max(Int(self) + Int(power), -127), 20)) }
}

extension VirtualAir.Conditions {
    /// Returns at random whether a packet is lost.
    fileprivate func loses(_ random: inout SplitMix64) -> Bool {
        loss > 0 && Double.random(in: 0..<1, using: &random) < loss
    }
}

extension LinkTiming {
    /// A typical interval and timeout, for signals of a connection that no longer exists.
    fileprivate static let usual = LinkTiming(
        interval: ConnectionInterval(rawValue: 24), latency: 0,
        supervisionTimeout: Centiseconds(rawValue: 42))
}

extension AirSignal {
    /// Returns the received part of a signal whose first packet is received. A receiver that misses a packet
    /// of a chain cannot find the packets after it.
    fileprivate func withoutLostPackets(
        _ conditions: VirtualAir.Conditions, _ random: inout SplitMix64
    ) -> AirSignal {
        guard conditions.loss > 0 else { return self }
        func received(_ packets: Int) -> Int {
            var delivered = 1
            while delivered < packets, !conditions.loses(&random) { delivered += 1 }
            return delivered
        }
        return switch self {
        case .advertising(let advertising): .advertising(advertising.cut(to: received(advertising.packets)))
        case .scanResponse(let response): .scanResponse(response.cut(to: received(response.packets)))
        case .train(let packet): .train(packet.cut(to: received(packet.packets)))
        default: self
        }
    }
}
