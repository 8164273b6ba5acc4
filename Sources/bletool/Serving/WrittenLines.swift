import BLECore
import CLinux
import DequeModule
import Glibc
import HCISocket
import Subprocess
import SystemPackage

/// Writes lines to the standard input of a program that runs as long as the server, and runs the program
/// again when it ends. Lines that a program has not read from its input when it ends are for the next run. The
/// waiting lines are limited in octets.
///
/// ```swift
/// let lines = WrittenLines(to: program, on: loop) { console.note($0) }
/// lines.start()
/// guard lines.send(Array("64".utf8)) else { return }  // 64 KiB wait
/// let left = await lines.finish(within: .seconds(10))
/// ```
final class WrittenLines: Sendable {
    private struct State {
        /// The lines that are not completely written yet, with their ends.
        var lines: Deque<[UInt8]> = []
        /// The number of octets in `lines`.
        var octets = 0
        /// The lines that this run of the program may not have read.
        var written = LinesInPipe(capacity: 0)
        /// Whether no more lines are accepted.
        var isFinished = false
        /// Whether the program has ended and is not run again yet.
        var isResting = false
        /// The task that waits for a line or the end of the lines.
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// How a part of a run ended.
    private enum End: Sendable {
        /// The program has ended, as this text describes.
        case program(String)
        /// All lines are written and no more come, or the program has closed its input.
        case input
        /// A program that has closed its input has continued for too long.
        case late
    }

    /// The maximum number of octets that wait, in addition to those in the pipe.
    static let limit = 65_536
    /// The first and the longest pause before a program that has ended is run again.
    private static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(60))
    /// The time for which a program can continue after it has closed its input.
    private static let grace = Duration.seconds(1)

    private let program: Program
    private let loop: EventLoop
    private let note: @Sendable (String) -> Void
    private let state = Lock(State())
    private let worker = Lock<Task<Void, Never>?>(nil)

    /// Creates a queue of lines for a program. Problems of the program are passed to `note`.
    init(to program: Program, on loop: EventLoop, note: @escaping @Sendable (String) -> Void) {
        (self.program, self.loop, self.note) = (program, loop, note)
    }

    /// Starts the program, which runs until `finish`.
    func start() {
        worker.withLock { worker in
            guard worker == nil else { return }
            worker = Task { await run() }
        }
    }

    /// Queues a line, without its end. Returns false if there is no room for it, or no more lines are
    /// accepted.
    func send(_ line: [UInt8]) -> Bool {
        let (isTaken, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            guard !state.isFinished, state.octets + line.count + 1 <= Self.limit else { return (false, nil) }
            state.lines.append(line + [UInt8(ascii: "\n")])
            state.octets += line.count + 1
            return (true, state.waiter.take())
        }
        waiter?.resume()
        return isTaken
    }

    /// The number of lines that wait.
    var count: Int { state.withLock { $0.lines.count } }

    /// Accepts no more lines, closes the program's input after the last of them, and waits until the program
    /// has ended. A program that has not ended after `limit` is killed. Returns the number of lines that the
    /// program has not read, to the first caller only.
    func finish(within limit: Duration) async -> Int {
        let (waiter, isResting) = state.withLock { state in
            state.isFinished = true
            return (state.waiter.take(), state.isResting)
        }
        waiter?.resume()
        let worker = worker.withLock { $0 }
        if isResting { worker?.cancel() }
        let timer = Task { [loop] in
            guard await loop.sleep(for: limit) else { return }
            worker?.cancel()
        }
        await worker?.value
        timer.cancel()
        return state.withLock { state in
            defer { (state.lines, state.octets) = ([], 0) }
            return state.lines.count
        }
    }

    private func run() async {
        var pause = Self.pauses.first
        while !Task.isCancelled {
            let began = loop.now
            let end = await runOnce()
            let isFinished = state.withLock { state in
                state.isResting = true
                return state.isFinished
            }
            guard !Task.isCancelled, !isFinished else { return }
            if began.duration(until: loop.now) >= Self.pauses.longest { pause = Self.pauses.first }
            note("\(end); it is run again in \(pause.text)\(Self.waiting(count))")
            guard await loop.sleep(for: pause) else { return }
            state.withLock { $0.isResting = false }
            pause = min(pause * 2, Self.pauses.longest)
        }
    }

    private static func waiting(_ lines: Int) -> String {
        switch lines {
        case 0: ""
        case 1: ", for 1 value that waits"
        default: ", for \(lines) values that wait"
        }
    }

    /// Runs the program until it has ended. Returns how it ended. The lines that it has not read wait again.
    private func runOnce() async -> String {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else {
            return "\(program.name): \(PortError.system(.current, during: "pipe"))"
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        let (input, output) = (FileDescriptor(rawValue: ends[0]), ends[1])
        state.withLock {
            $0.written = LinesInPipe(capacity: max(65_536, Int(fcntl(output, CLINUX_F_GETPIPE_SZ))))
        }
        // A descriptor that keeps what the program has not read.
        let rest = Lock<CInt>(-1)
        let outcome = await withTaskGroup(of: End.self) { [loop] group in
            group.addTask { .program(await self.outcome(reading: input)) }
            group.addTask {
                await self.write(to: output)
                // Not earlier: a write to a pipe that no program reads any more has to fail.
                rest.withLock { $0 = open("/proc/self/fd/\(output)", O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
                close(output)
                return .input
            }
            var outcome = program.name
            for await end in group {
                switch end {
                case .program(let words):
                    outcome = words
                    group.cancelAll()
                case .input where !state.withLock({ $0.isFinished }):
                    // Not after the program's end, which cancels the group.
                    _ = group.addTaskUnlessCancelled { await loop.sleep(for: Self.grace) ? .late : .input }
                case .input: break
                case .late: group.cancelAll()
                }
            }
            return outcome
        }
        let descriptor = rest.withLock { $0 }
        guard descriptor >= 0 else {
            note("\(program.name): values that it has not read may be lost")
            return outcome
        }
        defer { close(descriptor) }
        var octets: CInt = 0
        if ioctl(descriptor, CLINUX_FIONREAD, &octets) == 0 { takeBack(unread: Int(octets)) }
        return outcome
    }

    /// Queues the lines again of which the program has not read the last `octets`.
    private func takeBack(unread octets: Int) {
        state.withLock { state in
            let lines = state.written.unread(octets)
            state.lines.prepend(contentsOf: lines)
            state.octets += lines.reduce(0) { $0 + $1.count }
            state.written = LinesInPipe(capacity: 0)
        }
    }

    /// Runs the program with `input` as its standard input. When the task is cancelled, its process group is killed.
    private func outcome(reading input: FileDescriptor) async -> String {
        let run: ProgramRun
        do throws(ProgramRun.NoRoom) {
            run = try ProgramRun()
        } catch {
            try? input.close()
            return "\(program.name): \(error)"
        }
        defer { run.end() }
        do {
            let ended = try await Subprocess.run(
                program.executable, arguments: Arguments(program.arguments),
                workingDirectory: program.workingDirectory, platformOptions: .ownGroup,
                input: .fileDescriptor(input, closeAfterSpawningProcess: true), output: .currentStandardError,
                error: .currentStandardError
            ) { execution in
                run.started(pid_t(execution.processIdentifier.value))
            }
            return "\(program.name) \(ended.terminationStatus.words)"
        } catch {
            return "\(program.name): \(error)"
        }
    }

    /// Writes lines as they arrive, until there are no more, the program has closed its input, or the task is
    /// cancelled.
    private func write(to descriptor: CInt) async {
        while let line = await next() {
            var done = 0
            while done < line.count {
                let count = line[done...].withUnsafeBytes {
                    Glibc.write(descriptor, $0.baseAddress, $0.count)
                }
                if count >= 0 {
                    done += count
                    state.withLock { $0.written.partOfNext = done }
                } else if errno == EAGAIN {
                    guard await loop.readiness(of: descriptor, for: .write) != nil else { return }
                } else if errno != EINTR {
                    return
                }
            }
            state.withLock { state in
                state.lines.removeFirst()
                state.octets -= line.count
                state.written.append(line)
            }
        }
    }

    /// Returns the first line that waits. It stays in the queue until it is written, so that a program that
    /// ended in the middle of it gets the whole line when it is run again. Returns nil when there are no more
    /// lines, and when the task is cancelled.
    private func next() async -> [UInt8]? {
        while !Task.isCancelled {
            if let line = state.withLock({ $0.lines.first }) { return line }
            if state.withLock({ $0.isFinished }) { return nil }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state in
                        guard state.lines.isEmpty, !state.isFinished, !Task.isCancelled else { return true }
                        state.waiter = continuation
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.waiter.take() }?.resume()
            }
        }
        return nil
    }
}

/// The lines that were written to a pipe and can still be in it.
struct LinesInPipe {
    private var lines: Deque<[UInt8]> = []
    private var octets = 0
    /// The number of octets of the line that is being written that are in the pipe.
    var partOfNext = 0
    /// The maximum number of octets in the pipe.
    private let capacity: Int

    /// Creates the state of an empty pipe with this maximum number of octets.
    init(capacity: Int) { self.capacity = capacity }

    /// Adds a line that was written as a whole.
    mutating func append(_ line: [UInt8]) {
        lines.append(line)
        octets += line.count
        partOfNext = 0
        while let first = lines.first, octets - first.count >= capacity {
            octets -= first.count
            lines.removeFirst()
        }
    }

    /// Returns the lines to which the last `octets` octets in the pipe belong, without the line that is being
    /// written. The first of them can have been read in part.
    func unread(_ octets: Int) -> some Collection<[UInt8]> {
        var left = octets - partOfNext
        var count = 0
        while left > 0, count < lines.count {
            count += 1
            left -= lines[lines.count - count].count
        }
        return lines.suffix(count)
    }
}
