import Glibc
import HCISocket

/// The process groups of the programs that this process runs. They are not the terminal's foreground group,
/// so Ctrl-C does not reach them. A process that ends without waiting for them kills them.
enum RunningPrograms {
    fileprivate struct State {
        var groups: Set<pid_t> = []
        /// The number of programs that are being started.
        var starting = 0
    }

    fileprivate static let state = Lock(State())

    /// Kills all running programs, with all processes of their groups.
    static func kill() { state.withLock { for group in $0.groups { _ = Glibc.kill(-group, SIGKILL) } } }
}

/// A run of a program, from before its start to its end.
final class ProgramRun: Sendable {
    /// The error of a program that is not started, because this process may not open enough further files.
    /// Subprocess ends the process when it runs out of descriptors.
    struct NoRoom: Error, Hashable, CustomStringConvertible {
        /// The number of descriptors that have to be free.
        let needed: Int
        /// The number of descriptors that this process may have (RLIMIT_NOFILE).
        let limit: CInt

        var description: String {
            "there is no room for another program: fewer than \(needed) of \(limit) descriptors are free (ulimit -n)"
        }
    }

    /// The maximum number of descriptors that the start of a program takes, and the number that is left for
    /// other uses. Starts of programs that read and write were seen to take 7.
    private static let (ofStart, reserve) = (8, 16)

    private enum Phase {
        case starting, ended
        case running(pid_t)
    }

    private let phase = Lock(Phase.starting)

    /// Begins a run. Throws if there are too few descriptors left to start a program.
    init() throws(NoRoom) {
        try RunningPrograms.state.withLock { (state) throws(NoRoom) in
            let needed = Self.reserve + Self.ofStart * (state.starting + 1)
            guard DescriptorLimit.leaves(needed) else {
                throw NoRoom(needed: needed, limit: DescriptorLimit.current)
            }
            state.starting += 1
        }
    }

    /// Notes that the program has started. Its group has the same number as the process.
    func started(_ process: pid_t) {
        RunningPrograms.state.withLock { state in
            phase.withLock { $0 = .running(process) }
            state.starting -= 1
            state.groups.insert(process)
        }
    }

    /// Notes that the program has ended, or was not started. Its number may be reused afterwards.
    func end() {
        RunningPrograms.state.withLock { state in
            let before = phase.withLock { phase in
                defer { phase = .ended }
                return phase
            }
            switch before {
            case .starting: state.starting -= 1
            case .running(let process): state.groups.remove(process)
            case .ended: break
            }
        }
    }

    deinit { end() }
}
