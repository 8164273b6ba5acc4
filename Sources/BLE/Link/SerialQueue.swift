import HCISocket

/// Admits one task at a time, in the order in which they arrived. Confined to its adapter.
final class SerialQueue {
    private var isTaken = false
    private var closedBy: BLEError?
    private var queue: [UInt64] = []
    private var next: UInt64 = 0
    /// Created when the first task waits, so that an idle link has none.
    private lazy var waiting = PendingOperations<UInt64, Void>()

    /// The queue's key path in the callers of its link; code that runs later finds the queue by it.
    typealias Place = any KeyPath<LinkCallers, SerialQueue> & Sendable

    /// Waits for the caller's turn. Each return needs a call of `leave`.
    func enter(_ adapter: isolated Adapter, of link: LinkID, at place: Place) async throws(BLEError) {
        if let closedBy { throw closedBy }
        guard isTaken else {
            isTaken = true
            return
        }
        try await waiting.wait(in: adapter) { adapter, ticket in
            adapter.callers.links[link]?[keyPath: place].abandon(ticket)
        } start: { () throws(BLEError) in
            if let closedBy { throw closedBy }
            next += 1
            queue.append(next)
            // The task that had the turn may have left since the check above.
            if !isTaken {
                adapter.loop.execute {
                    adapter.assumeIsolated { $0.callers.links[link]?[keyPath: place].leave() }
                }
            }
            isTaken = true
            return next
        }
    }

    /// Ends the turn of the caller, and lets the next one proceed.
    func leave() {
        guard !queue.isEmpty else {
            isTaken = false
            return
        }
        waiting.resume(queue.removeFirst(), with: .success(()))
    }

    /// Closes the queue: tasks that wait, and all later ones, get this error.
    func close(_ error: BLEError) {
        closedBy = error
        queue.removeAll()
        waiting.resumeAll(with: .failure(error))
    }

    private func abandon(_ ticket: UInt64) {
        queue.removeAll { $0 == ticket }
        waiting.resume(ticket, with: .failure(.cancelled))
    }
}
