import Foundation
import HCISocket
import ProgramTesting
import Testing

@testable import bletool

/// The programs of a served file: their order, their number and their end.
@Suite(.timeLimit(.minutes(10))) struct ProgramRunnerTests {
    /// The time limit is long, because a shell can take seconds to start while other tests run.
    private let runner = ProgramRunner(timeLimit: .seconds(600))

    /// Ignores SIGPIPE, as the program does at its start.
    init() { _ = signal(SIGPIPE, SIG_IGN) }

    /// A path that no other test uses.
    private let path = FileManager.default.temporaryDirectory.appending(path: "bletool-\(UUID())").path

    @Test("programs run in the order in which they are started")
    func programsRunInOrder() async throws {
        let seen = Lock<[UInt8]>([])
        for number: UInt8 in 32..<48 {
            let isTaken = runner.start(.arguments(["cat"]), input: [number]) { result in
                seen.withLock { $0 += (try? result.get()) ?? [] }
            }
            #expect(isTaken)
        }
        #expect(await runner.finish(within: .seconds(600)) == 0)
        #expect(seen.withLock { $0 } == Array(32..<48))
    }

    /// The program has ended before its input is written, or while it is.
    @Test("a program need not read its input", arguments: [0, 1, 512, 200_000])
    func programNeedNotReadInput(count: Int) async throws {
        let runner = ProgramRunner(timeLimit: .seconds(600), limit: 1 << 20)
        let input = [UInt8](repeating: 1, count: count)
        for _ in 0..<8 {
            #expect(try await runner.run(.arguments(["true"]), input: input) == [])
            let problem = await #expect(throws: ProgramRunner.Problem.self) {
                _ = try await runner.run(.shell("exit 3"), input: input)
            }
            #expect(problem?.reason == #""exit 3" ended with status 3"#)
        }
        #expect(
            try await runner.run(.shell("exec <&-; sleep 0.1; echo late"), input: input) == Array("late".utf8)
        )
    }

    @Test("output beyond the limit of a value is an error, also if the input is not read")
    func outputLimitEndsProgram() async throws {
        let runner = ProgramRunner(timeLimit: .seconds(600), limit: 1 << 20)
        for count in [513, 100_000] {
            let problem = await #expect(throws: ProgramRunner.Problem.self) {
                _ = try await runner.run(
                    .shell("head -c \(count) /dev/zero; sleep 0.1"),
                    input: [UInt8](repeating: 1, count: 70_000))
            }
            #expect(problem?.reason.hasSuffix("printed more than 512 octets") == true, "\(problem as Any)")
        }
    }

    @Test(
        "output in a format is read as a value, of 512 octets at most",
        arguments: [
            ("echo 42817", .u16, .success([0x41, 0xa7])), ("echo ' 21.5 '", .sfloat, .success([0xd7, 0xf0])),
            ("head -c 1024 /dev/zero | tr '\\0' 1", .hex, .success([UInt8](repeating: 0x11, count: 512))),
            ("echo ' a '", .utf8, .success(Array(" a ".utf8))),
            ("echo x", .u8, .failure(#""echo x": "x" is not a number"#)),
            (
                "head -c 1026 /dev/zero | tr '\\0' 1", .hex,
                .failure("the value has 513 octets; values have at most 512")
            ),
        ] as [(String, ValueFormat, Outcome)])
    func outputFormatIsApplied(line: String, format: ValueFormat, expected: Outcome) async throws {
        let runner = ProgramRunner(timeLimit: .seconds(600))
        do throws(ProgramRunner.Problem) {
            let value = try await runner.run(.shell(line), format: format)
            #expect(expected == .success(value))
        } catch {
            guard case .failure(let end) = expected else {
                Issue.record("\(error.reason)")
                return
            }
            #expect(error.reason.hasSuffix(end), "\(error.reason)")
        }
    }

    enum Outcome: Equatable, Sendable {
        case success([UInt8])
        case failure(String)
    }

    @Test("programs beyond the queue's limit of octets are refused")
    func queueLimitRefusesPrograms() async throws {
        // There is room for three waiting programs: two of 64 octets without input, and one with ten octets
        // of input.
        let runner = ProgramRunner(timeLimit: .seconds(600), limit: 202)
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let outcomes = Lock(0)
        // The program has started when it has opened the named pipe for reading.
        #expect(runner.start(.shell("read line < \(path)")) { _ in outcomes.withLock { $0 += 1 } })
        let writer = try await offThePool { [path] in open(path, O_WRONLY) }
        for count in [0, 0, 10] {
            let input = [UInt8](repeating: 1, count: count)
            #expect(runner.start(.arguments(["cat"]), input: input) { _ in outcomes.withLock { $0 += 1 } })
        }
        #expect(!runner.start(.arguments(["true"])) { _ in Issue.record("it was not taken") })
        let refused = await #expect(throws: ProgramRunner.Problem.self) {
            _ = try await runner.run(.arguments(["true"]))
        }
        #expect(refused?.reason == #""true" has a full queue: at most 202 octets can wait"#)
        close(writer)
        #expect(await runner.finish(within: .seconds(600)) == 0)
        #expect(outcomes.withLock { $0 } == 4)
        #expect(!runner.start(.arguments(["true"])) { _ in Issue.record("it was finished") })
    }

    @Test("programs that are unfinished at the deadline are dropped and counted once")
    func unfinishedProgramsEndAtDeadline() async throws {
        let begun = Lock<[Bool]>([])
        for _ in 0..<3 {
            let isTaken = runner.start(.arguments(["sleep", "1000"])) { result in
                guard case .failure(let problem) = result else { return }
                begun.withLock { $0.append(!problem.isDropped) }
            }
            #expect(isTaken)
        }
        #expect(await runner.finish(within: .milliseconds(100)) == 3)
        #expect(begun.withLock { $0 } == [true, false, false])
        #expect(await runner.finish(within: .seconds(600)) == 0)
    }

    @Test("a program over its time limit ends with its child processes")
    func timedOutProgramEndsWithChildren() async throws {
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let short = ProgramRunner(timeLimit: .seconds(1))
        let running = Task { [path] in try await short.run(.shell("sleep 1000 3> \(path) & wait")) }
        // The named pipe ends when the last process that has it open has ended.
        let octets = try await offThePool { [path] in
            let descriptor = open(path, O_RDONLY)
            defer { close(descriptor) }
            var octet: UInt8 = 0
            return read(descriptor, &octet, 1)
        }
        #expect(octets == 0)
        let problem = await #expect(throws: ProgramRunner.Problem.self) { _ = try await running.value }
        #expect(problem?.reason.hasSuffix("took longer than 1s") == true)
    }
}
