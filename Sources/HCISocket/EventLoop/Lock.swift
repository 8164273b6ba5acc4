import Glibc

/// A mutex based on that of pthread, which ThreadSanitizer supports (it reports false races on
/// `Synchronization.Mutex`).
package final class Lock<State: ~Copyable>: @unchecked Sendable {
    // Sendable: `state` is accessed only between lock and unlock, and `mutex` never moves.
    private var state: State
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    /// Creates a lock that guards `state`.
    package init(_ state: consuming sending State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the state. Keep it short, because other threads that need the
    /// state wait.
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
