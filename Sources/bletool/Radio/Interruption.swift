import BLE
import Glibc
import HCISocket

/// Ctrl-C and SIGTERM: the command is cancelled, undoes what it began, and the process then ends by the
/// same signal, so that a shell sees why.
enum Interruption {
    /// Ctrl-C also where a shell's `&` had it ignored, so that scripts can send it; a hang-up not under nohup.
    private static let signals =
        SignalWatch.isIgnored(SIGHUP) ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]

    /// What `body` does; a signal cancels it, and ends the process when `body` has. A second one does not wait for
    /// `body`. The programs that run then end with the process.
    static func result<Success: Sendable>(
        _ body: @escaping @Sendable () async throws(Failure) -> Success
    ) async -> Result<Success, Failure> {
        await SignalWatch.result(
            cancelledBy: signals, beforeDeath: { RunningPrograms.kill() }, body)
    }

    /// Waits until the command is cancelled, or for `limit`.
    static func wait(_ limit: Duration? = nil) async {
        _ = await EventLoop.shared.sleep(for: limit ?? .seconds(Int64.max))
    }
}
