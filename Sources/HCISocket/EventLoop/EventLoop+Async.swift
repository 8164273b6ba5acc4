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

extension EventLoop {
    /// Waits until `descriptor` is ready for what is of interest; also when its other end is gone or it has failed,
    /// which is always of interest. Nil when the task was cancelled before, and for what cannot be waited for, as
    /// regular files. The descriptor stays the caller's; there is one wait for it at a time.
    public func readiness(of descriptor: CInt, for interest: Readiness) async -> Readiness? {
        let waiter = ReadinessWaiter(self)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                execute { waiter.start(descriptor, interest, continuation) }
            }
        } onCancel: {
            execute { waiter.end(nil) }
        }
    }
}

/// One wait for a descriptor: whichever of it and cancellation comes first ends it.
private final class ReadinessWaiter: @unchecked Sendable {
    // Sendable: touched in work of the loop only.
    private let loop: EventLoop
    private var registration: UInt64?
    private var continuation: CheckedContinuation<Readiness?, Never>?
    private var ended = false

    init(_ loop: EventLoop) { self.loop = loop }

    func start(
        _ descriptor: CInt, _ interest: Readiness, _ continuation: CheckedContinuation<Readiness?, Never>
    ) {
        // A task that was cancelled before it began to wait does not wait.
        guard !ended else { return continuation.resume(returning: nil) }
        self.continuation = continuation
        registration = try? loop.watch(descriptor, for: interest) { [self] in end($0) }
        if registration == nil { end(nil) }
    }

    func end(_ readiness: Readiness?) {
        ended = true
        if let registration { loop.unwatch(registration) }
        registration = nil
        continuation.take()?.resume(returning: readiness)
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
        // A task that was cancelled before it began to wait does not wait.
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
