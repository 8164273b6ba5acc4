import HCISocket

/// Runs `body` with a time limit. When the limit passes, `body` is cancelled and its outcome is awaited: a
/// success is returned, otherwise an error is thrown. Operations on devices end at once when they are cancelled;
/// changes of a kernel adapter's power and settings do not.
///
/// ```swift
/// let level = try await withTimeout(.seconds(5)) { try await peripheral.read(.batteryLevel) }
/// ```
///
/// Without a limit of the caller, an operation of the ATT client waits for each response for 30 s at most, as the Core Specification
/// requires (5.4, Vol 3, Part F, 3.3.3), and then the link is ended. A request that was cancelled still occupies
/// the bearer until its response arrives: later requests wait for it.
///
/// - Parameters:
///   - limit: the time limit; one that is not positive passes at once.
///   - loop: the event loop by whose clock the time passes. In a test on a ``VirtualTestbed``, that of the testbed.
///   - body: the operation.
/// - Throws: `BLEError.timedOut(.operation, after: limit)` when the limit has passed; otherwise what `body` throws.
public func withTimeout<Success: Sendable>(
    _ limit: Duration, on loop: EventLoop = .shared,
    _ body: @escaping @Sendable () async throws -> Success
) async throws -> Success {
    let failure = Lock<(any Error)?>(nil)
    do throws(BLEError) {
        return try await withDeadline(limit, on: loop, orThrow: .timedOut(.operation, after: limit)) {
            () throws(BLEError) in
            do {
                return try await body()
            } catch let error as BLEError {
                throw error
            } catch {
                failure.withLock { $0 = error }
                throw BLEError.cancelled
            }
        }
    } catch {
        if case .cancelled = error, let failure = failure.withLock({ $0 }) { throw failure }
        throw error
    }
}

/// Runs `body` with a time limit by the loop's clock; nil sets no limit. When the limit passes, `body` is
/// cancelled and its outcome is awaited: a success is returned, otherwise `timeout` is thrown.
package func withDeadline<Success: Sendable>(
    _ limit: Duration?, on loop: EventLoop, orThrow timeout: BLEError,
    _ body: @escaping @Sendable () async throws(BLEError) -> Success
) async throws(BLEError) -> Success {
    guard let result = try await untilDeadline(limit, on: loop, body) else { throw timeout }
    return result
}

/// As `withDeadline`, but returns nil when the limit passes. The errors of `body` are thrown, also those that
/// report other time limits. The limit has no effect if `applies` returns false when it passes.
package func untilDeadline<Success: Sendable>(
    _ limit: Duration?, on loop: EventLoop, applies: @escaping @Sendable () -> Bool = { true },
    _ body: @escaping @Sendable () async throws(BLEError) -> Success
) async throws(BLEError) -> Success? {
    guard let limit else { return try await body() }
    let outcome = await withTaskGroup(of: Result<Success?, BLEError>?.self) { group in
        group.addTask {
            do throws(BLEError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        group.addTask { await loop.sleep(for: limit) && applies() ? .success(nil) : nil }
        var outcome: Result<Success?, BLEError> = .failure(.cancelled)
        var decided = false
        for await result in group {
            guard let result else { continue }
            if !decided { outcome = result }
            // The body may have succeeded just as the limit passed.
            if decided, case .success(.some) = result { outcome = result }
            decided = true
            group.cancelAll()
        }
        return outcome
    }
    return try outcome.get()
}
