/// Tasks that wait until a link takes more commands or notifications. Confined to its adapter.
final class Room {
    private let waiting = Waiters<UInt64, Void>()
    private var next: UInt64 = 0

    /// Waits for `open` or `close`. `asks` looks whether there is room after all, and else has it told: both in the same
    /// step as the wait begins, since a call may hop on its way here. When there is room nothing is waited for.
    func wait(
        in adapter: isolated Adapter, of link: LinkID, _ asks: (Link) -> Bool
    ) async throws(BLEError) {
        try await waiting.wait(in: adapter) { adapter, ticket in
            adapter.links[link]?.room.waiting.resume(ticket, with: .failure(.cancelled))
        } begin: { () throws(BLEError) in
            guard let link = adapter.links[link] else { throw .disconnected(.unknown) }
            guard asks(link) else { return .done(()) }
            next += 1
            adapter.pumpSoon(link)
            return .pending(next)
        }
    }

    /// There is room again: all may try.
    func open() { waiting.resumeAll(with: .success(())) }

    /// There will be none.
    func close(_ error: BLEError) { waiting.resumeAll(with: .failure(error)) }
}
