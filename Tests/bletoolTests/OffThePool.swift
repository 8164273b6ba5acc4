import Foundation

/// Runs what blocks its thread on one of its own: those of Swift's tasks are few, and other tests wait for them.
func offThePool<Success: Sendable>(
    _ body: @escaping @Sendable () throws -> Success
) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
