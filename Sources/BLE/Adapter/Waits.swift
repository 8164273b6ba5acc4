import BLECore
import HCISocket

/// The outcome of beginning the work that a wait is for.
enum WaitBeginning<Success: Sendable>: Sendable {
    /// The work is done, so there is no wait.
    case done(Success)
    /// `end` with this wait ends it.
    case pending(Wait<Success>)
}

/// The tasks that wait for results of their adapter. Confined to that actor.
final class Waits {
    private struct Entry {
        /// Ascends with each wait: where several end, they do so in the order in which they began.
        let number: UInt64
        let continuation: CheckedContinuation<Result<any Sendable, BLEError>, Never>
    }

    private var open: [WaitKey: Entry] = [:]
    private var lastNumber: UInt64 = 0

    /// What the tasks wait for, in the order in which they began.
    var keys: [WaitKey] { open.sorted { $0.value.number < $1.value.number }.map(\.key) }

    /// The state that a wait shares with its cancellation. Accessed on the adapter's loop only.
    private final class Turn: @unchecked Sendable {
        // Sendable: the wait and its cancellation handler both run on the loop.
        var key: WaitKey?
        var isCancelled = false
    }

    /// Begins work and waits for `end` with the wait that `begin` returns, unless the work is done at once. Both happen
    /// in one step on the loop: a call may hop on its way here, so work that was started earlier could be answered
    /// before the wait begins. `then` runs in the same step, after the wait is registered, and may end it.
    ///
    /// When the task is cancelled, `Adapter.cancelled` ends the wait. When the task was cancelled before, nothing is
    /// begun.
    func wait<Success: Sendable>(
        in adapter: isolated Adapter, _ begin: () throws(BLEError) -> WaitBeginning<Success>,
        then: () -> Void = {}
    ) async throws(BLEError) -> Success {
        let (loop, turn) = (adapter.loop, Turn())
        let result: Result<any Sendable, BLEError> = await withTaskCancellationHandler {
            // A closure is isolated to the parameter only when it uses it.
            adapter.preconditionIsolated()
            return await withCheckedContinuation { continuation in
                guard !turn.isCancelled, !Task.isCancelled else {
                    return continuation.resume(returning: .failure(.cancelled))
                }
                do throws(BLEError) {
                    switch try begin() {
                    case .done(let success): continuation.resume(returning: .success(success))
                    case .pending(let wait):
                        assert(open[wait.key] == nil, "a key has one waiter")
                        turn.key = wait.key
                        lastNumber += 1
                        open[wait.key] = Entry(number: lastNumber, continuation: continuation)
                    }
                    then()
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        } onCancel: {
            loop.execute {
                turn.isCancelled = true
                if let key = turn.key { adapter.assumeIsolated { $0.cancelled(key) } }
            }
        }
        guard let success = try result.get() as? Success else {
            preconditionFailure("the result is not that of the wait, which is for \(Success.self)")
        }
        return success
    }

    func contains(_ key: WaitKey) -> Bool { open[key] != nil }

    /// Ends a wait, if there is one.
    func end<Success>(_ wait: Wait<Success>, _ result: Result<Success, BLEError>) {
        resume(wait.key, with: result.map { $0 })
    }

    /// Ends several waits, in the order in which they began.
    func end<Success>(all waits: WaitGroup<Success>, _ result: Result<Success, BLEError>) {
        let meant = open.filter { waits.contains($0.key) }.sorted { $0.value.number < $1.value.number }
        for (key, _) in meant { resume(key, with: result.map { $0 }) }
    }

    /// Ends a wait with an error, if there is one.
    func fail(_ key: WaitKey, _ error: BLEError) { resume(key, with: .failure(error)) }

    private func resume(_ key: WaitKey, with result: Result<any Sendable, BLEError>) {
        open.removeValue(forKey: key)?.continuation.resume(returning: result)
    }
}
