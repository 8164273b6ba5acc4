import BLE
import Glibc
import HCISocket

/// Ctrl-C and SIGTERM: the command is cancelled, undoes what it began, and the process then ends by the
/// same signal, so that a shell sees why.
enum Interruption {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// Keeps the signals for `result`. Call it before anything starts a thread.
    static func prepare() {
        SignalWatch.block(signals)
        // A reader that has gone is an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
    }

    /// What `body` does; a signal cancels it, and ends the process when `body` has.
    static func result<Success: Sendable>(
        _ body: @escaping @Sendable () async throws(Failure) -> Success
    ) async -> Result<Success, Failure> {
        let loop = EventLoop.shared
        let caught = Lock<CInt?>(nil)
        let task = Task { () -> Result<Success, Failure> in
            do throws(Failure) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        let watch = await withCheckedContinuation { continuation in
            loop.execute {
                // Without a descriptor left for signals they end the process as they always do.
                continuation.resume(
                    returning: try? SignalWatch.start(signals, on: loop) { signal in
                        // A second signal is somebody in a hurry.
                        if caught.withLock({ $0 != nil }) { SignalWatch.die(by: signal) }
                        caught.withLock { $0 = signal }
                        task.cancel()
                    })
            }
        }
        let result = await task.value
        loop.execute { watch?.close() }
        if let signal = caught.withLock({ $0 }) { SignalWatch.die(by: signal) }
        return result
    }

    /// Waits until the command is cancelled.
    static func wait() async { _ = await EventLoop.shared.sleep(for: .seconds(Int64.max)) }
}
