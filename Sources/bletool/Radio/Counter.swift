import HCISocket

/// A counter that several tasks increment.
final class Counter: Sendable {
    private let count = Lock(0)

    /// How many so far.
    var value: Int { count.withLock { $0 } }

    /// One more; returns how many.
    func increment() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
