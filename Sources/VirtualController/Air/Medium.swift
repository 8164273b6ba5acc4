import BLECore
import DequeModule
import HCI

/// What is between the controllers: who hears whom how well, and what is on its way.
struct Medium: Sendable {
    /// A signal that reaches a controller.
    struct Arrival: Sendable {
        var receiver: VirtualController.ID
        var signal: AirSignal
    }

    private struct Flight: Sendable {
        var arrival: Arrival
        var sender: VirtualController.ID
        var due: Instant
    }

    /// Two controllers, in either order.
    private struct Pair: Hashable {
        let low, high: VirtualController.ID

        init(_ one: VirtualController.ID, _ other: VirtualController.ID) {
            (low, high) = (min(one, other), max(one, other))
        }
    }

    private var levels: [Pair: Int8?] = [:]
    /// In the order of their arrival.
    private var flights: Deque<Flight> = []

    /// How strong two controllers hear each other; nil when they do not.
    func rssi(between one: VirtualController.ID, and other: VirtualController.ID) -> Int8? {
        levels[Pair(one, other), default: VirtualAir.defaultRSSI]
    }

    mutating func setRSSI(_ rssi: Int8?, between one: VirtualController.ID, and other: VirtualController.ID) {
        levels[Pair(one, other)] = .some(rssi)
    }

    /// A controller is gone, with all that was said of it and is on its way from or to it.
    mutating func forget(_ id: VirtualController.ID) {
        levels = levels.filter { $0.key.low != id && $0.key.high != id }
        flights.removeAll { $0.sender == id || $0.arrival.receiver == id }
    }

    /// When the next signal arrives.
    var deadline: Instant? { flights.first?.due }

    /// The next signal that arrives by `now`, and who sent it.
    mutating func nextArrival(by now: Instant) -> (Arrival, VirtualController.ID)? {
        guard let first = flights.first, first.due <= now else { return nil }
        flights.removeFirst()
        return (first.arrival, first.sender)
    }

    /// Sends a signal on its way. True when it arrives at once; the caller then delivers it.
    mutating func carry(
        _ arrival: inout Arrival, from sender: VirtualController.ID, at now: Instant,
        _ conditions: VirtualAir.Conditions, _ random: inout SplitMix64
    ) -> Bool {
        // No radio carries silence.
        if case .link(_, .silence) = arrival.signal { return true }
        guard rssi(between: sender, and: arrival.receiver) != nil else { return false }
        var due = now + conditions.delay
        if case .link = arrival.signal {
            while isLost(conditions, &random) { due = due + Self.repetition }
            // The packets of a link keep their order.
            let earlier = flights.last { $0.sender == sender && $0.arrival.receiver == arrival.receiver }
            due = max(due, earlier?.due ?? due)
        } else if isLost(conditions, &random) {
            return false
        } else {
            cutChain(of: &arrival.signal, conditions, &random)
        }
        guard due > now || flights.contains(where: { $0.sender == sender && $0.due <= now }) else {
            return true
        }
        let place = flights.firstIndex { $0.due > due } ?? flights.count
        flights.insert(Flight(arrival: arrival, sender: sender, due: due), at: place)
        return false
    }

    /// After what time a packet that was lost is sent again: a usual connection interval.
    private static let repetition = Duration.milliseconds(30)

    /// Loses packets of a chain: who misses one does not find those behind it.
    private func cutChain(
        of signal: inout AirSignal, _ conditions: VirtualAir.Conditions, _ random: inout SplitMix64
    ) {
        func cut(_ advertising: AirSignal.Advertising) -> AirSignal.Advertising {
            var advertising = advertising
            var heard = 1
            while heard < advertising.packets, !isLost(conditions, &random) { heard += 1 }
            advertising.cut(to: heard)
            return advertising
        }
        switch signal {
        case .advertising(let advertising): signal = .advertising(cut(advertising))
        case .scanResponse(let response): signal = .scanResponse(cut(response))
        default: break
        }
    }

    private func isLost(_ conditions: VirtualAir.Conditions, _ random: inout SplitMix64) -> Bool {
        conditions.loss > 0 && Double.random(in: 0..<1, using: &random) < conditions.loss
    }
}
