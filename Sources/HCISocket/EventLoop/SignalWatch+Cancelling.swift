extension SignalWatch {
    /// The result of `body`. One of `signals` cancels its task and, once `body` has cleaned up after itself, ends the
    /// process as if the signal had not been caught, so that a shell or a service manager sees why; a second one ends
    /// it at once. `onSignal` is called with the first one before the task is cancelled. Only one such call may be
    /// active in a process. If no descriptor is left for signals, they do what they do by default.
    package static func result<Success: Sendable, Failure: Error>(
        cancelledBy signals: [CInt], on loop: EventLoop = .shared,
        onSignal listener: @escaping @Sendable (CInt) -> Void = { _ in },
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
                // A second signal does not wait for `body`.
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
