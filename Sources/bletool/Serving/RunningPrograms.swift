import Glibc
import HCISocket

/// The process groups of the programs that this process runs. They are not the terminal's foreground group,
/// so Ctrl-C does not reach them. A process that ends without waiting for them kills them.
enum RunningPrograms {
    private static let groups = Lock<Set<pid_t>>([])

    /// Notes that a program has started. Its group has the same number.
    static func started(_ process: pid_t) { groups.withLock { _ = $0.insert(process) } }

    /// Notes that a program has ended. Its number may be reused afterwards.
    static func ended(_ process: pid_t) { groups.withLock { _ = $0.remove(process) } }

    /// Kills all running programs, with all processes of their groups.
    static func kill() { groups.withLock { for group in $0 { _ = Glibc.kill(-group, SIGKILL) } } }
}
