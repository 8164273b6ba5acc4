import BLE
import HCISocket

/// Shows what an adapter notices about its controller and does about it: messages for people and, from when a
/// command's results begin, objects among them.
final class HealthWatch: Sendable {
    private let console: Console
    private let isAmongResults = Lock(false)
    private let watch = Lock<Task<Void, Never>?>(nil)

    init(_ adapter: Adapter, console: Console) {
        self.console = console
        let stream = adapter.health()
        let task = Task { await self.emit(stream) }
        watch.withLock { $0 = task }
    }

    /// From here on `--json` has objects, too.
    func showAmongResults() { isAmongResults.withLock { $0 = true } }

    /// Returns when all was shown. Only once the adapter is closed.
    func end() async { await watch.withLock { $0.take() }?.value }

    private func emit(_ stream: BoundedStream<AdapterHealthEvent>) async {
        var wasQuiet = false
        do {
            for try await event in stream {
                let shown = HealthEvent(event: event, time: .now)
                if console.isJSON, isAmongResults.withLock({ $0 }) { console.output.line(shown.json) }
                // That a quiet place stays quiet is said once.
                if !shown.isQuiet || !wasQuiet { console.note(shown.text) }
                wasQuiet = shown.isQuiet
            }
        } catch {
            // What ends the adapter ends the command, which says so.
        }
    }
}
