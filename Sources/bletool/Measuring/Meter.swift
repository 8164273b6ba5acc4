import ATT
import BLE
import BLECore
import HCISocket

/// Takes the time of operations. What it took so far stands when a time limit ends them.
final class Meter: Sendable {
    /// The greatest number of stored times.
    static let limit = 1_000_000

    private struct State {
        var samples: [Duration] = []
        var operations = 0
        var octets = 0
        var first: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?
        /// The number of the value that is to come next, where they have numbers, and how many did not come.
        var next: UInt32?
        var missing = 0
    }

    private let state = Lock(State())

    /// An operation that began then and ended now.
    func note(octets: Int, since start: ContinuousClock.Instant) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.first = state.first ?? start
            state.last = now
            state.operations += 1
            state.octets += octets
            if state.samples.count < Self.limit { state.samples.append(now - start) }
        }
    }

    /// A value that came; the first one begins the measurement, and counts for nothing. Of values that begin with
    /// their numbers, those that are left out are counted.
    func arrived(_ value: [UInt8], isNumbered: Bool = false) {
        let last = state.withLock { state in
            if isNumbered {
                let number = UInt32(littleEndian: value)
                state.missing += Int(number &- (state.next ?? number))
                state.next = number &+ 1
            }
            guard let last = state.last else {
                (state.first, state.last) = (.now, .now)
                return ContinuousClock.Instant?.none
            }
            return last
        }
        if let last { note(octets: value.count, since: last) }
    }

    /// All that was done so far has arrived by now.
    func end() { state.withLock { $0.last = $0.last.map { _ in .now } } }

    /// The number of operations noted.
    var operations: Int { state.withLock { $0.operations } }

    /// What it took, as an event.
    func event(
        _ operation: BenchEvent.Operation, _ attribute: RemoteAttribute, _ parameters: BLE.LinkParameters
    ) -> BenchEvent {
        state.withLock { state in
            let elapsed = state.first.flatMap { first in state.last.map { $0 - first } } ?? .zero
            var event = BenchEvent(
                operation: operation, handle: attribute.handle, uuid: attribute.uuid,
                operations: state.operations, octets: state.octets, elapsed: elapsed,
                profile: LatencyProfile(state.samples), parameters: parameters)
            if state.next != nil { event.missing = state.missing }
            return event
        }
    }
}

extension Meter {
    /// Does an operation again and again, until there were enough; a time limit cancels it.
    func run(
        _ operation: BenchEvent.Operation, _ attribute: RemoteAttribute, _ value: [UInt8],
        on peripheral: Peripheral, atMost most: Int
    ) async throws(BLEError) {
        if operation == .notification || operation == .indication {
            guard let characteristic = attribute.characteristic else { return }
            let values = try await peripheral.values(
                of: characteristic, indications: operation == .indication, buffer: .newest(4096))
            let isNumbered = attribute.uuid == BenchServer.Attribute.source
            for try await received in values {
                arrived(received.value, isNumbered: isNumbered)
                if operations >= most { return }
            }
            return
        }
        while operations < most {
            if Task.isCancelled { throw .cancelled }
            let start = ContinuousClock.now
            switch operation {
            case .read:
                let read = try await peripheral.read(attribute.handle)
                note(octets: read.count, since: start)
            case .write:
                try await peripheral.write(value, to: attribute.handle)
                note(octets: value.count, since: start)
            default:
                try await peripheral.writeWithoutResponse(value, to: attribute.handle)
                note(octets: value.count, since: start)
            }
        }
    }
}
