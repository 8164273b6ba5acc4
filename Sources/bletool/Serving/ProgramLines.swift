import Glibc
import HCISocket
import Subprocess
import SystemPackage

/// The lines that a program prints while it runs. When this value is destroyed, the rest of the program and
/// of its process group is ended.
struct ProgramLines: ~Copyable {
    /// The state that the task of the program shares with the reader of its output.
    private struct State {
        /// The write end of the pipe, while this process has it open.
        var writeEnd: CInt?
        /// The program's process, whose number is also that of its group.
        var process: pid_t?
    }

    private let descriptor: CInt
    private let program: Program
    private let process: Task<String, Never>
    private let state: Lock<State>
    private let loop: EventLoop
    private var reader: LineReader
    private var isAtEnd = false

    /// The time for which a program can continue after it has closed its output.
    private static let grace = Duration.seconds(1)

    /// Starts the program. Its output goes to a pipe, its errors to stderr.
    init(of program: Program, on loop: EventLoop) throws(PortError) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .system(.current, during: "pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        descriptor = ends[0]
        let writeEnd = FileDescriptor(rawValue: ends[1])
        (self.program, self.loop) = (program, loop)
        reader = LineReader(descriptor, on: loop)
        let state = Lock(State(writeEnd: ends[1]))
        self.state = state
        process = Task {
            defer { Self.closeWriteEnd(state) }
            do {
                let run = try ProgramRun()
                defer { run.end() }
                let ended = try await Subprocess.run(
                    program.executable, arguments: Arguments(program.arguments),
                    workingDirectory: program.workingDirectory, platformOptions: .ownGroup,
                    input: .none, output: .fileDescriptor(writeEnd, closeAfterSpawningProcess: false),
                    error: .currentStandardError
                ) { execution in
                    let number = pid_t(execution.processIdentifier.value)
                    run.started(number)
                    state.withLock { $0.process = number }
                    Self.closeWriteEnd(state)
                }
                return "\(program.name) \(ended.terminationStatus.words)"
            } catch {
                return "\(program.name): \(error)"
            }
        }
    }

    deinit {
        process.cancel()
        // A process that has the pipe open keeps the group, so the number cannot belong to another group.
        if !isAtEnd, let group = state.withLock({ $0.process }) { kill(-group, SIGKILL) }
        close(descriptor)
    }

    private static func closeWriteEnd(_ state: Lock<State>) {
        if let end = state.withLock({ $0.writeEnd.take() }) { close(end) }
    }

    /// Returns the next line without its end, or nil when the output has ended or the task is cancelled.
    mutating func next() async throws(BadInput) -> [UInt8]? {
        let line = try await reader.nextOctets()
        isAtEnd = line == nil && !Task.isCancelled
        return line
    }

    /// Waits for the end of the program, whose output has ended, and returns how it ended. A program that
    /// continues for too long, or whose task is cancelled, is killed.
    func end() async -> String {
        let (loop, process) = (loop, process)
        let limit = Task(executorPreference: loop) {
            guard await loop.sleep(for: Self.grace) else { return }
            process.cancel()
        }
        defer { limit.cancel() }
        return await withTaskCancellationHandler {
            await process.value
        } onCancel: {
            process.cancel()
        }
    }
}
