import BLE
import Glibc
import HCISocket

/// Handles Ctrl-C, SIGTERM and SIGHUP: the command is cancelled and undoes what it started. The process then
/// ends by the same signal, so that a shell can report the reason.
enum Interruption {
    /// Handles SIGINT even if a shell's `&` made it ignored, so that scripts can send it. Ignores SIGHUP
    /// under nohup.
    private static let signals =
        SignalWatch.isIgnored(SIGHUP) ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]

    /// Returns the result of `body`. A signal cancels `body`, and ends the process after that. A second
    /// signal does not wait for `body`. The programs that are running then end with the process.
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
