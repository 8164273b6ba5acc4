import Subprocess
import SystemPackage

/// Runs the programs of one characteristic: one at a time, in the order in which they were asked for, and
/// off the radio's loop.
actor ProgramRunner {
    /// Why a program gave no value.
    struct Problem: Error, Sendable {
        var reason: String
    }

    /// How long a program may take.
    private let timeLimit: Duration

    private var last: Task<Result<[UInt8], Problem>, Never>?

    init(timeLimit: Duration = .seconds(10)) { self.timeLimit = timeLimit }

    /// Runs a program with `input` on its standard input, and with variables beside this process's own; what it prints,
    /// without one line end at its end.
    func run(
        _ program: Program, input: [UInt8] = [], environment: [String: String] = [:]
    ) async throws(Problem) -> [UInt8] {
        let before = last
        let task = Task { [timeLimit] in
            _ = await before?.value
            return await Self.outcome(of: program, input, environment, within: timeLimit)
        }
        last = task
        return try await task.value.get()
    }

    private static func outcome(
        of program: Program, _ input: [UInt8], _ environment: [String: String], within timeLimit: Duration
    ) async -> Result<[UInt8], Problem> {
        await withTaskGroup(of: Result<[UInt8], Problem>?.self) { group in
            group.addTask { await run(program, input, environment) }
            group.addTask {
                do {
                    try await ContinuousClock().sleep(for: timeLimit)
                    return .failure(Problem(reason: "\(program.name) took longer than \(timeLimit.text)"))
                } catch {
                    return nil
                }
            }
            var first: Result<[UInt8], Problem>?
            for await result in group where first == nil {
                first = result
                // Ends the other one; of a program that is its death.
                group.cancelAll()
            }
            return first ?? .failure(Problem(reason: "cancelled"))
        }
    }

    private static func run(
        _ program: Program, _ input: [UInt8], _ environment: [String: String]
    ) async -> Result<[UInt8], Problem> {
        do {
            let ended = try await Subprocess.run(
                program.executable, arguments: Arguments(program.arguments),
                environment: .inherit.updating(environment.variables), input: .array(input),
                output: .bytes(limit: StoredValue.limit + 1), error: .discarded)
            guard ended.terminationStatus.isSuccess else {
                return .failure(Problem(reason: "\(program.name) \(ended.terminationStatus.words)"))
            }
            var output = ended.standardOutput
            if output.last == UInt8(ascii: "\n") { output.removeLast() }
            guard output.count <= StoredValue.limit else {
                return .failure(
                    Problem(reason: "\(program.name) printed more than \(StoredValue.limit) octets"))
            }
            return .success(output)
        } catch {
            return .failure(Problem(reason: "\(program.name): \(error)"))
        }
    }
}

extension TerminationStatus {
    /// How a program failed.
    fileprivate var words: String {
        switch self {
        case .exited(let code): "ended with status \(code)"
        case .signaled(let signal): "was ended by signal \(signal)"
        }
    }
}

extension Program {
    fileprivate var executable: Executable {
        switch self {
        case .shell: .path("/bin/sh")
        case .arguments(let words): .name(words.first ?? "")
        }
    }

    fileprivate var arguments: [String] {
        switch self {
        case .shell(let line): ["-c", line]
        case .arguments(let words): Array(words.dropFirst())
        }
    }

    /// For messages.
    var name: String {
        switch self {
        case .shell(let line): line.quoted
        case .arguments(let words): (words.first ?? "").quoted
        }
    }
}

extension [String: String] {
    /// As the library wants them.
    fileprivate var variables: [Subprocess.Environment.Key: String?] {
        reduce(into: [:]) { variables, entry in
            variables[Subprocess.Environment.Key(stringLiteral: entry.key)] = entry.value
        }
    }
}
