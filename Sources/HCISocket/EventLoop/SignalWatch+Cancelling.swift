extension SignalWatch {
    /// What `body` does. One of `signals` cancels its task, and ends the process as if nobody had caught it once `body`
    /// has cleaned up after itself, so that a shell or a service manager sees why; a second one does so at once. One
    /// such call a process at a time. `telling` is told of the first one before the task is cancelled. Without a descriptor left for signals they end the process as they always do.
    package static func result<Success: Sendable, Failure: Error>(
        cancelledBy signals: [CInt], on loop: EventLoop = .shared,
        telling listener: @escaping @Sendable (CInt) -> Void = { _ in },
        _ body: @escaping @Sendable () async throws(Failure) -> Success
    ) async -> Result<Success, Failure> {
        let watch = try? SignalWatch(signals, on: loop)
        let task = Task { () -> Result<Success, Failure> in
            do throws(Failure) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        let caught = Lock<CInt?>(nil)
        loop.execute {
            try? watch?.start { signal in
                // A second signal is somebody in a hurry.
                if caught.withLock({ $0 != nil }) { die(by: signal) }
                caught.withLock { $0 = signal }
                listener(signal)
                task.cancel()
            }
        }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if let signal = caught.withLock({ $0 }) { die(by: signal) }
        loop.execute { watch?.close() }
        return result
    }
}
