import BLECore
import HCISocket

/// The outcome of beginning the work that a wait is for.
enum WaitBeginning<Key: Sendable, Success: Sendable>: Sendable {
    /// The work is done, so there is no wait.
    case done(Success)
    /// `resume` with this key ends the wait.
    case pending(Key)
}

/// Tasks that wait for results of their adapter, each under a key. Confined to that actor.
final class PendingOperations<Key: Hashable & Sendable, Success: Sendable> {
    private var continuations: [Key: Wait] = [:]
    private var lastNumber: UInt64 = 0

    private struct Wait {
        /// Ascends with each wait: where several end, they do so in the order in which they began.
        let number: UInt64
        let continuation: CheckedContinuation<Result<Success, BLEError>, Never>
    }

    var count: Int { continuations.count }

    /// The state that a wait shares with its cancellation. Accessed on the adapter's loop only.
    private final class Turn: @unchecked Sendable {
        // Sendable: the wait and its cancellation handler both run on the loop.
        var key: Key?
        var isCancelled = false
    }

    /// Starts work and waits for `resume` with the key that `start` returns. Both happen in one step on the
    /// loop: a call may hop on its way here, so work that was started earlier could be answered before the
    /// wait begins.
    ///
    /// When the task is cancelled, `cancel` runs on the adapter and must end the wait. When the task was
    /// cancelled before, nothing is started.
    func wait(
        in adapter: isolated Adapter, cancel: @escaping @Sendable (isolated Adapter, Key) -> Void,
        start: () throws(BLEError) -> Key
    ) async throws(BLEError) -> Success {
        try await wait(in: adapter, cancel: cancel) { () throws(BLEError) in .pending(try start()) }
    }

    /// Does the same for work that may be done as soon as it is begun: then there is no wait. `then` runs in
    /// the same step, after the wait is registered, and may end it.
    func wait(
        in adapter: isolated Adapter, cancel: @escaping @Sendable (isolated Adapter, Key) -> Void,
        begin: () throws(BLEError) -> WaitBeginning<Key, Success>, then: () -> Void = {}
    ) async throws(BLEError) -> Success {
        let (loop, turn) = (adapter.loop, Turn())
        let result: Result<Success, BLEError> = await withTaskCancellationHandler {
            // A closure is isolated to the parameter only when it uses it.
            adapter.preconditionIsolated()
            return await withCheckedContinuation { continuation in
                guard !turn.isCancelled, !Task.isCancelled else {
                    return continuation.resume(returning: .failure(.cancelled))
                }
                do throws(BLEError) {
                    switch try begin() {
                    case .done(let success): continuation.resume(returning: .success(success))
                    case .pending(let key):
                        assert(continuations[key] == nil, "a key has one waiter")
                        turn.key = key
                        lastNumber += 1
                        continuations[key] = Wait(number: lastNumber, continuation: continuation)
                    }
                    then()
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        } onCancel: {
            loop.execute {
                turn.isCancelled = true
                if let key = turn.key { adapter.assumeIsolated { cancel($0, key) } }
            }
        }
        return try result.get()
    }

    func contains(_ key: Key) -> Bool { continuations[key] != nil }

    /// Ends the wait under `key`, if there is one.
    func resume(_ key: Key, with result: Result<Success, BLEError>) {
        continuations.removeValue(forKey: key)?.continuation.resume(returning: result)
    }

    func resumeAll(with result: Result<Success, BLEError>) { resume(where: { _ in true }, with: result) }

    /// Ends the waits whose keys satisfy `isMeant`.
    func resume(where isMeant: (Key) -> Bool, with result: Result<Success, BLEError>) {
        let meant = continuations.filter { isMeant($0.key) }.sorted { $0.value.number < $1.value.number }
        for (key, _) in meant { resume(key, with: result) }
    }
}
