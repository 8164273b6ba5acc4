import Foundation

/// Runs blocking work on its own thread. Swift's tasks share few threads, and other tests wait for them.
func offThePool<Success: Sendable>(
    _ body: @escaping @Sendable () throws -> Success
) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
