import HCISocket

/// Runs `body` with a time limit by the loop's clock; nil sets no limit. When the limit passes, `body` is
/// cancelled and its outcome is awaited: a success is returned, otherwise `timeout` is thrown.
package func withDeadline<Success: Sendable>(
    _ limit: Duration?, on loop: EventLoop, orThrow timeout: BLEError,
    _ body: @escaping @Sendable () async throws(BLEError) -> Success
) async throws(BLEError) -> Success {
    guard let limit else { return try await body() }
    let outcome = await withTaskGroup(of: Result<Success, BLEError>?.self) { group in
        group.addTask {
            do throws(BLEError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        group.addTask { await loop.sleep(for: limit) ? .failure(timeout) : nil }
        var outcome: Result<Success, BLEError> = .failure(.cancelled)
        var decided = false
        for await result in group {
            guard let result else { continue }
            if !decided { outcome = result }
            // The body may have succeeded just as the limit passed.
            if decided, case .success = result { outcome = result }
            decided = true
            group.cancelAll()
        }
        return outcome
    }
    return try outcome.get()
}
