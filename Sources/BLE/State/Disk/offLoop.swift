/// Runs work on files off the event loop. A task that prefers the loop would run it there, and even an actor's work
/// with it.
func offLoop<Success: Sendable>(
    _ body: @escaping @Sendable () async throws(BLEError) -> Success
) async throws(BLEError) -> Success {
    let outcome = await Task.detached { () async -> Result<Success, BLEError> in
        do throws(BLEError) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }.value
    return try outcome.get()
}
