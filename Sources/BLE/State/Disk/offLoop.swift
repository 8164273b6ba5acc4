/// Runs work on files where it holds up nobody: not on the event loop of a task that prefers that, to which it would
/// take even an actor's work along.
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
