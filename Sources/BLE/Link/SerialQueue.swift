import HCISocket

/// Admits one task at a time, in the order in which they arrived. Confined to its adapter.
final class SerialQueue {
    private let link: LinkID
    private let waits: Waits
    private var isTaken = false
    private var closedBy: BLEError?
    private var queue: [UInt64] = []

    /// The queue's key path in the callers of its link; code that runs later finds the queue by it.
    typealias Place = any KeyPath<LinkCallers, SerialQueue> & Sendable

    init(of link: LinkID, in waits: Waits) { (self.link, self.waits) = (link, waits) }

    /// Waits for the caller's turn. Each return needs a call of `leave`.
    func enter(_ adapter: isolated Adapter, at place: Place) async throws(BLEError) {
        if let closedBy { throw closedBy }
        guard isTaken else {
            isTaken = true
            return
        }
        try await waits.wait(in: adapter) { () throws(BLEError) in
            if let closedBy { throw closedBy }
            let number = adapter.nextNumber()
            queue.append(number)
            // The task that had the turn may have left since the check above.
            if !isTaken {
                adapter.loop.execute { [link] in
                    adapter.assumeIsolated { $0.callers.links[link]?[keyPath: place].leave() }
                }
            }
            isTaken = true
            return .pending(.turn(link, number: number))
        }
    }

    /// Ends the turn of the caller, and lets the next one proceed.
    func leave() {
        guard !queue.isEmpty else {
            isTaken = false
            return
        }
        waits.end(.turn(link, number: queue.removeFirst()), .success(()))
    }

    /// Closes the queue: tasks that wait, and all later ones, get this error.
    func close(_ error: BLEError) {
        closedBy = error
        let waiting = queue
        queue.removeAll()
        for number in waiting { waits.end(.turn(link, number: number), .failure(error)) }
    }

    /// Removes a task that waits.
    func abandon(_ number: UInt64) { queue.removeAll { $0 == number } }
}
