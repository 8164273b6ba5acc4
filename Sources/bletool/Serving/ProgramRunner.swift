import Glibc
import HCISocket
import Subprocess
import SystemPackage

/// Runs programs outside of the radio's loop: one at a time, in the order of the requests. The waiting
/// requests are limited in octets.
///
/// ```swift
/// let runner = ProgramRunner()
/// guard runner.start(program, input: value, then: { print($0) }) else { return }  // 64 KiB wait
/// let dropped = await runner.finish(within: .seconds(10))
/// ```
final class ProgramRunner: Sendable {
    /// The reason why a program gave no value.
    struct Problem: Error, Sendable {
        var reason: String
        /// Whether the program was not started, because its time had run out.
        var isDropped = false
        /// Whether the program was not started, because this process may not have more descriptors.
        var lacksRoom = false
    }

    /// The maximum number of octets that wait for the running program. Each run counts `overhead` octets in
    /// addition to its input.
    static let limit = 65_536
    /// The octets that a waiting run counts in addition to its input.
    static let overhead = 64

    private struct Job: Sendable {
        let source: ValueProgram
        let input: [UInt8]
        let environment: [String: String]
        let done: @Sendable (Result<[UInt8], Problem>) async -> Void

        /// The octets that the job counts while it waits.
        var size: Int { input.count + overhead }

        var program: Program { source.program }
    }

    /// The programs that are not done.
    private struct Load {
        /// The number of programs that run or wait.
        var count = 0
        /// The octets that wait.
        var octets = 0
    }

    /// The maximum number of octets that wait.
    let limit: Int
    private let jobs: AsyncStream<Job>.Continuation
    private let worker: Task<Void, Never>
    private let load: Lock<Load>

    /// Creates a runner. A program that takes longer than `timeLimit` is ended, with its process group. At
    /// most `limit` octets wait.
    init(timeLimit: Duration = .seconds(10), limit: Int = ProgramRunner.limit) {
        // `start` limits the octets of the waiting jobs.
        let (stream, jobs) = AsyncStream.makeStream(of: Job.self, bufferingPolicy: .unbounded)
        let load = Lock(Load())
        (self.limit, self.jobs, self.load) = (limit, jobs, load)
        worker = Task {
            for await job in stream {
                load.withLock { $0.octets -= job.size }
                guard !Task.isCancelled else {
                    let problem = Problem(reason: "\(job.program.name) was not run", isDropped: true)
                    await job.done(.failure(problem))
                    continue
                }
                await job.done(await Self.outcome(of: job, within: timeLimit))
                // A program that is killed when the runner ends counts as dropped. One that its time limit
                // kills does not.
                if !Task.isCancelled { load.withLock { $0.count -= 1 } }
            }
        }
    }

    deinit {
        jobs.finish()
        worker.cancel()
    }

    /// Runs a program with `input` on its standard input, and with variables in addition to this process's
    /// own. Its output, without one line end at the end, or the value in it if there is a `format`, goes to
    /// `done`. Returns false if too many octets are waiting, or the runner accepts no more programs.
    func start(
        _ program: Program, format: ValueFormat? = nil, input: [UInt8] = [],
        environment: [String: String] = [:],
        then done: @escaping @Sendable (Result<[UInt8], Problem>) async -> Void
    ) -> Bool {
        // Queued and counted under one lock, because the worker may be done with the job before this returns.
        load.withLock { load in
            let job = Job(
                source: ValueProgram(program: program, format: format), input: input,
                environment: environment, done: done)
            guard load.octets + job.size <= limit, case .enqueued = jobs.yield(job) else { return false }
            load.count += 1
            load.octets += job.size
            return true
        }
    }

    /// As `start`, and waits for the output or the value. When the task is cancelled, the runner accepts no
    /// more programs, and the running program is ended.
    func run(
        _ program: Program, format: ValueFormat? = nil, input: [UInt8] = [],
        environment: [String: String] = [:]
    ) async throws(Problem) -> [UInt8] {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isTaken = start(program, format: format, input: input, environment: environment) {
                    continuation.resume(returning: $0)
                }
                if !isTaken {
                    let problem = Problem(
                        reason: "\(program.name) has a full queue: at most \(limit) octets can wait")
                    continuation.resume(returning: .failure(problem))
                }
            }
        } onCancel: {
            jobs.finish()
            worker.cancel()
        }
        return try result.get()
    }

    /// The number of programs that run or wait.
    var count: Int { load.withLock { $0.count } }

    /// Accepts no more programs and waits until all have run. Those that have not ended after `limit` are
    /// dropped. Returns their number, to the first caller only.
    func finish(within limit: Duration) async -> Int {
        jobs.finish()
        let timer = Task { [worker] in
            try await ContinuousClock().sleep(for: limit)
            worker.cancel()
        }
        await worker.value
        timer.cancel()
        return load.withLock { load in
            defer { load.count = 0 }
            return load.count
        }
    }

    private static func outcome(of job: Job, within timeLimit: Duration) async -> Result<[UInt8], Problem> {
        await withTaskGroup(of: Result<[UInt8], Problem>?.self) { group in
            group.addTask { await run(job) }
            group.addTask {
                do {
                    try await ContinuousClock().sleep(for: timeLimit)
                    return .failure(Problem(reason: "\(job.program.name) took longer than \(timeLimit.text)"))
                } catch {
                    return nil
                }
            }
            var first: Result<[UInt8], Problem>?
            for await result in group where first == nil {
                first = result
                // Ends the other task, which kills a program that is still running.
                group.cancelAll()
            }
            return first ?? .failure(Problem(reason: "cancelled"))
        }
    }

    private static func run(_ job: Job) async -> Result<[UInt8], Problem> {
        let (program, limit) = (job.program, job.source.outputLimit)
        let excess = Problem(reason: "\(program.name) printed more than \(limit) octets")
        do {
            let run = try ProgramRun()
            defer { run.end() }
            let ended = try await Subprocess.run(
                program.executable, arguments: Arguments(program.arguments),
                environment: .inherit.updating(job.environment.variables),
                workingDirectory: program.workingDirectory, platformOptions: .ownGroup,
                input: OptionalInput(octets: job.input), output: .bytes(limit: limit + 1),
                error: .currentStandardError
            ) { execution in
                run.started(pid_t(execution.processIdentifier.value))
            }
            guard ended.terminationStatus.isSuccess else {
                return .failure(Problem(reason: "\(program.name) \(ended.terminationStatus.words)"))
            }
            var output = ended.standardOutput
            if output.last == UInt8(ascii: "\n") { output.removeLast() }
            guard output.count <= limit else { return .failure(excess) }
            do throws(BadInput) {
                return .success(try job.source.value(of: output))
            } catch {
                return .failure(Problem(reason: "\(program.name): \(error.reason)"))
            }
        } catch let error as ProgramRun.NoRoom {
            return .failure(Problem(reason: "\(program.name): \(error)", lacksRoom: true))
        } catch let error as SubprocessError where error.code == .outputLimitExceeded {
            return .failure(excess)
        } catch {
            return .failure(Problem(reason: "\(program.name): \(error)"))
        }
    }
}

/// The standard input of a program that need not read it.
private struct OptionalInput: InputProtocol {
    let octets: [UInt8]

    func write(with writer: StandardInputWriter) async {
        // A program that ends without reading causes EPIPE, and its end or its time limit cancels the task.
        // Neither is an error of the program, whose status counts. Subprocess closes the pipe only after a
        // return: after an error it would end this process.
        _ = try? await writer.write(octets)
    }
}

extension PlatformOptions {
    /// Gives the program a process group of its own, so that what it has started ends with it, and Ctrl-C at
    /// the terminal does not reach it.
    static var ownGroup: PlatformOptions {
        var options = PlatformOptions()
        options.processGroupID = 0
        options.teardownSequence = [
            .send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .zero)
        ]
        return options
    }
}

extension TerminationStatus {
    /// The end of a program, for messages.
    var words: String {
        switch self {
        case .exited(let code): "ended with status \(code)"
        case .signaled(let signal): "was ended by signal \(signal)"
        }
    }
}

extension Program {
    var executable: Executable {
        switch command {
        case .shell: return .path("/bin/sh")
        case .arguments(let words):
            let name = words.first ?? ""
            guard name.contains("/") else { return .name(name) }
            // Relative to the folder in which the program runs.
            return .path(FilePath(folder ?? ".").pushing(FilePath(name)))
        }
    }

    /// The folder in which the program runs; nil for that of this process.
    var workingDirectory: FilePath? { folder.map { FilePath($0) } }

    var arguments: [String] {
        switch command {
        case .shell(let line): ["-c", line]
        case .arguments(let words): Array(words.dropFirst())
        }
    }

    /// The program in messages: the quoted shell line, or the quoted first argument.
    var name: String {
        switch command {
        case .shell(let line): line.quoted
        case .arguments(let words): (words.first ?? "").quoted
        }
    }
}

extension [String: String] {
    /// The variables in the form that Subprocess takes.
    fileprivate var variables: [Subprocess.Environment.Key: String?] {
        reduce(into: [:]) { variables, entry in
            variables[Subprocess.Environment.Key(stringLiteral: entry.key)] = entry.value
        }
    }
}
