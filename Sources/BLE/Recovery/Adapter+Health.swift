import HCISocket
import Logging

extension Adapter {
    /// What this adapter notices about its controller and does about it, from now on. The stream ends with
    /// the adapter, with the error that ended it. By default the newest 64 events wait to be taken.
    ///
    /// ```swift
    /// for try await event in adapter.health() { print(event) }
    /// ```
    public nonisolated func health(
        _ policy: BufferPolicy = .newest(64)
    ) -> BoundedStream<AdapterHealthEvent> {
        let buffer = StreamBuffer<AdapterHealthEvent>(policy)
        loop.execute { self.assumeIsolated { $0.reportHealth(to: buffer) } }
        return BoundedStream(buffer)
    }

    private func reportHealth(to buffer: StreamBuffer<AdapterHealthEvent>) {
        if let end { return buffer.finish(.failure(end)) }
        let id = healthWatchers.add(buffer)
        buffer.onEnd { [self] in
            loop.execute { self.assumeIsolated { $0.healthWatchers.remove(id) } }
        }
    }

    func note(_ event: AdapterHealthEvent) {
        log.info("\(event)")
        healthWatchers.emit(event)
    }
}
