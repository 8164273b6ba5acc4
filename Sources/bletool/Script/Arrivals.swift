import ATT
import BLE
import BLECore
import HCISocket

/// The received values that no `wait` has consumed yet, in order. Only one task waits at a time.
final class Arrivals: Sendable {
    /// A notification or indication that was received.
    struct Arrival: Hashable, Sendable {
        var handle: AttributeHandle
        var isIndication: Bool
    }

    /// The maximum number of stored arrivals; beyond it, the oldest are dropped.
    static let limit = 1024

    private struct State {
        var pending: [Arrival] = []
        var end: BLEError?
        var waiter: (isMeant: @Sendable (Arrival) -> Bool, resume: CheckedContinuation<BLEError?, Never>)?
    }

    private let state = Lock(State())

    /// Adds a value, or ends the `take` that waits for it.
    func add(_ arrival: Arrival) {
        let waiter = state.withLock { state -> CheckedContinuation<BLEError?, Never>? in
            if let waiter = state.waiter, waiter.isMeant(arrival) {
                state.waiter = nil
                return waiter.resume
            }
            state.pending.append(arrival)
            if state.pending.count > Self.limit { state.pending.removeFirst() }
            return nil
        }
        waiter?.resume(returning: nil)
    }

    /// Begins again after an end. What has arrived before can still be taken.
    func begin() { state.withLock { $0.end = nil } }

    /// Ends the waiting, because no more events can arrive.
    func end(_ error: BLEError) {
        let waiter = state.withLock { state in
            state.end = state.end ?? error
            return state.waiter.take()?.resume
        }
        waiter?.resume(returning: error)
    }

    /// Removes the oldest arrival that matches, or waits for the next one.
    func take(where isMeant: @escaping @Sendable (Arrival) -> Bool) async throws(BLEError) {
        let error: BLEError? = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> BLEError?? in
                    if Task.isCancelled { return .some(.cancelled) }
                    if let index = state.pending.firstIndex(where: isMeant) {
                        state.pending.remove(at: index)
                        return .some(nil)
                    }
                    if let end = state.end { return .some(end) }
                    state.waiter = (isMeant, continuation)
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            state.withLock { $0.waiter.take()?.resume }?.resume(returning: .cancelled)
        }
        if let error { throw error }
    }
}
