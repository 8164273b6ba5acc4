import Glibc
import HCISocket
import Subprocess
import SystemPackage

/// The lines that a program prints while it runs. It ends with this value, and with its process group.
struct ProgramLines: ~Copyable {
    private let descriptor: CInt
    private let process: Task<String, Never>
    private var reader: LineReader

    /// Starts the program.
    init(of program: Program, on loop: EventLoop) throws(PortError) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .system(.current, during: "pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (readEnd, writeEnd) = (ends[0], FileDescriptor(rawValue: ends[1]))
        _ = fcntl(readEnd, F_SETFL, O_NONBLOCK)
        descriptor = readEnd
        reader = LineReader(readEnd, on: loop)
        process = Task {
            do {
                let ended = try await Subprocess.run(
                    program.executable, arguments: Arguments(program.arguments), platformOptions: .ownGroup,
                    input: .none, output: .fileDescriptor(writeEnd, closeAfterSpawningProcess: true),
                    error: .currentStandardError)
                return "\(program.name) \(ended.terminationStatus.words)"
            } catch {
                return "\(program.name): \(error)"
            }
        }
    }

    deinit {
        process.cancel()
        close(descriptor)
    }

    /// The next line without its end; nil when there is no other, and when the task is cancelled.
    mutating func next() async throws(BadInput) -> [UInt8]? { try await reader.nextOctets() }

    /// Waits for the end of the program, whose output has ended, and says how it ended. A task that is cancelled ends it.
    func end() async -> String {
        await withTaskCancellationHandler {
            await process.value
        } onCancel: { [process] in
            process.cancel()
        }
    }
}
