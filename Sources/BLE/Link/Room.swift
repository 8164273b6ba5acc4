/// Tasks that wait until a link takes more commands or notifications. Confined to its adapter.
final class Room {
    private let waiting = Waiters<UInt64, Void>()
    private var next: UInt64 = 0

    /// Waits for `open` or `close`.
    func wait(in adapter: isolated Adapter, of link: LinkID) async throws(BLEError) {
        next += 1
        let ticket = next
        try await waiting.wait(ticket, in: adapter) {
            $0.links[link]?.room.waiting.resume(ticket, with: .failure(.cancelled))
        }
    }

    /// There is room again: all may try.
    func open() { waiting.resumeAll(with: .success(())) }

    /// There will be none.
    func close(_ error: BLEError) { waiting.resumeAll(with: .failure(error)) }
}
