import HCISocket

/// A command that waits to be written, and the caller that waits for it.
final class PendingCommand: Sendable {
    private enum State {
        case waiting(CheckedContinuation<Result<Void, BLEError>, Never>?)
        case done(Result<Void, BLEError>)
    }

    let octets: [UInt8]
    /// Called when the write of the command begins.
    let beginning: @Sendable () -> Void
    private let state = Lock(State.waiting(nil))

    init(_ octets: [UInt8], beginning: @escaping @Sendable () -> Void = {}) {
        self.octets = octets
        self.beginning = beginning
    }

    /// Whether the command is still to be written.
    var isWanted: Bool {
        state.withLock { if case .waiting = $0 { true } else { false } }
    }

    /// Records that the command was written, or that it will never be. Only the first call has an effect.
    func finish(_ result: Result<Void, BLEError>) {
        let waiter = state.withLock { state -> CheckedContinuation<Result<Void, BLEError>, Never>? in
            guard case .waiting(let waiter) = state else { return nil }
            state = .done(result)
            return waiter
        }
        waiter?.resume(returning: result)
    }

    /// Waits for `finish`, for a single caller. Cancelling the task finishes the command with
    /// `BLEError.cancelled`.
    func wait() async throws(BLEError) {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Result<Void, BLEError>? in
                    if case .done(let result) = state { return result }
                    state = .waiting(continuation)
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            finish(.failure(.cancelled))
        }
        try result.get()
    }
}
