import Foundation
import Synchronization

/// A program with pipes for its input and output. It is killed when this object is released.
public final class RunningProgram: Sendable {
    private let process: Mutex<Process>
    private let input = Pipe()
    private let lines: Mutex<AsyncStream<String>.Iterator>
    private let output = Pipe()

    /// The folder of the built programs, which is that of the test executable.
    private static let tools = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// Starts `command` in `folder`, which is also the place of its air and its home. The first word is the
    /// path of a program or the name of a built one.
    public init(
        _ command: [String], in folder: URL, environment: [String: String] = [:], mergingErrors: Bool = false
    ) throws {
        let started = Process()
        let name = command[0]
        started.executableURL = name.hasPrefix("/") ? URL(filePath: name) : Self.tools.appending(path: name)
        started.arguments = Array(command.dropFirst())
        started.currentDirectoryURL = folder
        let own = [
            "PATH": "\(Self.tools.path):/usr/bin:/bin", "XDG_RUNTIME_DIR": folder.path,
            "XDG_STATE_HOME": folder.path, "HOME": folder.path,
        ]
        started.environment = own.merging(environment) { $1 }
        if mergingErrors { started.standardError = output }
        (started.standardInput, started.standardOutput) = (input, output)
        let (stream, continuation) = AsyncStream<String>.makeStream()
        lines = Mutex(stream.makeAsyncIterator())
        let reading = output.fileHandleForReading
        Thread.detachNewThread {
            var rest = Data()
            while case let part = reading.availableData, !part.isEmpty {
                rest += part
                while let end = rest.firstIndex(of: 10) {
                    continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest = rest[(end + 1)...]
                }
            }
            continuation.finish()
        }
        try started.run()
        process = Mutex(started)
    }

    deinit { process.withLock { if $0.isRunning { kill($0.processIdentifier, SIGKILL) } } }

    /// Returns the next line for which `isMeant` returns true, or nil if the program has closed its output.
    public func line(_ isMeant: (String) -> Bool = { _ in true }) async -> String? {
        var iterator = lines.withLock { $0 }
        while let line = await iterator.next() {
            if isMeant(line) { return line }
        }
        return nil
    }

    /// Writes `text` to the program's input.
    public func type(_ text: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    }

    /// Closes the program's input.
    public func endInput() throws { try input.fileHandleForWriting.close() }

    /// The process ID of the program.
    public var identifier: Int32 { process.withLock { $0.processIdentifier } }

    /// Sends a signal to the program.
    public func signal(_ number: Int32) { process.withLock { _ = kill($0.processIdentifier, number) } }

    /// Sends a signal to the program, and waits until it has ended. Returns the reason and the status.
    @discardableResult
    public func end(by signal: Int32) -> (reason: Process.TerminationReason, status: Int32) {
        process.withLock {
            kill($0.processIdentifier, signal)
            $0.waitUntilExit()
            return ($0.terminationReason, $0.terminationStatus)
        }
    }

    /// Waits until the program has ended. Returns its status.
    public func status() -> Int32 {
        process.withLock {
            $0.waitUntilExit()
            return $0.terminationStatus
        }
    }
}
