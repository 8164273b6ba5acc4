import BLECore
import HCISocket

/// Tasks that wait for something their adapter will learn, each under a key. Confined to that actor.
final class Waiters<Key: Hashable & Sendable, Success: Sendable> {
    private var continuations: [Key: CheckedContinuation<Result<Success, BLEError>, Never>] = [:]

    /// Waits for `resume(key, …)`. Call it in the same step in which the work was started, so that the
    /// answer cannot come first. When the task is cancelled `cancel` runs on the adapter; it sees to it
    /// that the wait ends.
    func wait(
        _ key: Key, in adapter: isolated Adapter, cancel: @escaping @Sendable (isolated Adapter) -> Void
    ) async throws(BLEError) -> Success {
        assert(continuations[key] == nil, "a key has one waiter")
        let loop = adapter.loop
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuations[key] = $0 }
        } onCancel: {
            // Never at once: a task that was cancelled before has not begun to wait yet.
            loop.execute { adapter.assumeIsolated(cancel) }
        }
        return try result.get()
    }

    /// Ends the wait under `key`, if there is one.
    func resume(_ key: Key, with result: Result<Success, BLEError>) {
        continuations.removeValue(forKey: key)?.resume(returning: result)
    }

    /// Ends all waits.
    func resumeAll(with result: Result<Success, BLEError>) {
        let all = continuations
        continuations.removeAll()
        for continuation in all.values { continuation.resume(returning: result) }
    }

    /// Ends the waits whose key `isMeant`.
    func resume(where isMeant: (Key) -> Bool, with result: Result<Success, BLEError>) {
        for key in continuations.keys.filter(isMeant) { resume(key, with: result) }
    }
}
