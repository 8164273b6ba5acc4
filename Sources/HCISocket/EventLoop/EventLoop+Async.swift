import BLECore

extension EventLoop {
    /// Waits until `duration` has passed by this loop's clock; false when the task was cancelled before.
    public func sleep(for duration: Duration) async -> Bool {
        let sleeper = Sleeper(self)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                execute { sleeper.start(duration, continuation) }
            }
        } onCancel: {
            execute { sleeper.end(false) }
        }
    }
}

/// One sleep: whichever of timer and cancellation comes first ends it.
private final class Sleeper: @unchecked Sendable {
    // Sendable: touched in work of the loop only.
    private let loop: EventLoop
    private var timer: UInt64?
    private var continuation: CheckedContinuation<Bool, Never>?
    private var cancelled = false

    init(_ loop: EventLoop) { self.loop = loop }

    func start(_ duration: Duration, _ continuation: CheckedContinuation<Bool, Never>) {
        // A task that was cancelled before it began to wait is told so first.
        guard !cancelled else { return continuation.resume(returning: false) }
        self.continuation = continuation
        timer = loop.schedule(loop.now + duration) { [self] in end(true) }
    }

    func end(_ slept: Bool) {
        cancelled = true
        if let timer { loop.cancel(timer) }
        continuation?.resume(returning: slept)
        continuation = nil
    }
}
