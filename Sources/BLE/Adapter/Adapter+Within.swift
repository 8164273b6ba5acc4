extension Adapter {
    /// Runs `body` with a time limit by this adapter's clock; nil waits for ever. When it passes, `body` is
    /// cancelled and `BLEError.timedOut` thrown.
    package nonisolated func within<Success: Sendable>(
        _ limit: Duration?, _ body: @escaping @Sendable () async throws(BLEError) -> Success
    ) async throws(BLEError) -> Success {
        try await withDeadline(
            limit, on: loop, orThrow: .timedOut(.operation, after: limit ?? .zero), body)
    }
}
