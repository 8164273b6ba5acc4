import Glibc
import HCISocket

/// The process groups of the programs that this process runs. They are not the terminal's, so Ctrl-C does not reach
/// them; a process that ends without waiting for them kills them.
enum RunningPrograms {
    private static let groups = Lock<Set<pid_t>>([])

    /// Notes that a program has started; its group has its number.
    static func started(_ process: pid_t) { groups.withLock { _ = $0.insert(process) } }

    /// Notes that a program has ended, after which its number may be another's.
    static func ended(_ process: pid_t) { groups.withLock { _ = $0.remove(process) } }

    /// Kills each program that runs, with all processes of its group.
    static func kill() { groups.withLock { for group in $0 { _ = Glibc.kill(-group, SIGKILL) } } }
}
