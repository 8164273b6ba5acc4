/// Lets one task through at a time, in the order in which they came. Confined to its adapter.
final class Turnstile {
    private var isTaken = false
    private var queue: [UInt64] = []
    private var next: UInt64 = 0
    private let waiting = Waiters<UInt64, Void>()

    /// Waits for the turn. Every return needs a `leave`.
    func enter(_ adapter: isolated Adapter, of link: LinkID) async throws(BLEError) {
        guard isTaken else {
            isTaken = true
            return
        }
        next += 1
        let ticket = next
        queue.append(ticket)
        try await waiting.wait(ticket, in: adapter) { $0.links[link]?.procedures.abandon(ticket) }
    }

    /// Lets the next one in.
    func leave() {
        guard !queue.isEmpty else {
            isTaken = false
            return
        }
        waiting.resume(queue.removeFirst(), with: .success(()))
    }

    /// Nobody gets in any more.
    func close(_ error: BLEError) {
        queue.removeAll()
        waiting.resumeAll(with: .failure(error))
    }

    private func abandon(_ ticket: UInt64) {
        queue.removeAll { $0 == ticket }
        waiting.resume(ticket, with: .failure(.cancelled))
    }
}
