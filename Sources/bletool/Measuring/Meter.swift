import ATT
import BLE
import BLECore
import HCISocket

/// Measures the time of operations. The results so far remain when a time limit ends the operations.
final class Meter: Sendable {
    /// The maximum number of stored times.
    static let limit = 1_000_000

    private struct State {
        var samples: [Duration] = []
        var operations = 0
        var octets = 0
        var first: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?
        /// The number of the next expected value, if values are numbered, and the number of missing values.
        var next: UInt32?
        var missing = 0
    }

    private let state = Lock(State())

    /// Notes an operation that began at `start` and ended now.
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

    /// Notes a received value. The first one starts the measurement, and does not count. If the values begin
    /// with their numbers, missing values are counted.
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

    /// Extends the measurement to now, when everything that was sent has arrived.
    func end() { state.withLock { $0.last = $0.last.map { _ in .now } } }

    /// The number of operations noted.
    var operations: Int { state.withLock { $0.operations } }

    /// Returns the measurement as an event.
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
    /// Repeats an operation until it was performed `most` times. A time limit cancels it.
    func run(
        _ operation: BenchEvent.Operation, _ attribute: RemoteAttribute, _ value: [UInt8],
        on peripheral: Peripheral, atMost most: Int
    ) async throws(BLEError) {
        if operation == .notification || operation == .indication {
            guard let characteristic = attribute.characteristic else { return }
            let values = try await peripheral.values(
                of: characteristic, indications: operation == .indication, buffer: .newest(4096),
                requiringConfiguration: false)
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
