import BLE
import Glibc
import HCISocket

/// Ctrl-C and SIGTERM: the command is cancelled, undoes what it began, and the process then ends by the
/// same signal, so that a shell sees why.
enum Interruption {
    /// Ctrl-C also where a shell's `&` had it ignored, so that scripts can send it; a hang-up not under nohup.
    private static let signals =
        SignalWatch.isIgnored(SIGHUP) ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]

    /// What `body` does; a signal cancels it, and ends the process when `body` has.
    static func result<Success: Sendable>(
        _ body: @escaping @Sendable () async throws(Failure) -> Success
    ) async -> Result<Success, Failure> {
        let loop = EventLoop.shared
        // Without a descriptor left for signals they end the process as they always do.
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
                if caught.withLock({ $0 != nil }) { SignalWatch.die(by: signal) }
                caught.withLock { $0 = signal }
                task.cancel()
            }
        }
        let result = await task.value
        if let signal = caught.withLock({ $0 }) { SignalWatch.die(by: signal) }
        loop.execute { watch?.close() }
        return result
    }

    /// Waits until the command is cancelled, or for `limit`.
    static func wait(_ limit: Duration? = nil) async {
        _ = await EventLoop.shared.sleep(for: limit ?? .seconds(Int64.max))
    }
}
