/// Tasks that wait until a link takes more commands or notifications. Confined to its adapter.
final class Room {
    private let waiting = Waiters<UInt64, Void>()
    private var next: UInt64 = 0

    /// Waits for `open` or `close`.
    func wait(in adapter: isolated Adapter, of link: LinkID) async throws(BLEError) {
        try await waiting.wait(in: adapter) { adapter, ticket in
            adapter.links[link]?.room.waiting.resume(ticket, with: .failure(.cancelled))
        } start: { () throws(BLEError) in
            guard adapter.links[link] != nil else { throw .disconnected(.unknown) }
            next += 1
            return next
        }
    }

    /// There is room again: all may try.
    func open() { waiting.resumeAll(with: .success(())) }

    /// There will be none.
    func close(_ error: BLEError) { waiting.resumeAll(with: .failure(error)) }
}
