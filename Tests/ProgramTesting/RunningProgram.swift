import Foundation
import Synchronization

/// A program with pipes to and from it. It is killed when the test lets it go.
public final class RunningProgram: Sendable {
    private let process: Mutex<Process>
    private let input = Pipe()
    private let lines: Mutex<AsyncStream<String>.Iterator>
    private let output = Pipe()

    /// Where the programs lie that were built: beside the tests.
    private static let tools = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// Starts `command` in `folder`, with an air and a home of its own there. Its first word is the path of a program,
    /// or the name of one that was built.
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

    /// The next line that `isMeant` takes; nil when the program has closed its output.
    public func line(_ isMeant: (String) -> Bool = { _ in true }) async -> String? {
        var iterator = lines.withLock { $0 }
        while let line = await iterator.next() {
            if isMeant(line) { return line }
        }
        return nil
    }

    /// Gives it octets to read.
    public func type(_ text: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    }

    /// Says that there is nothing more to read.
    public func endInput() throws { try input.fileHandleForWriting.close() }

    /// The number of its process.
    public var identifier: Int32 { process.withLock { $0.processIdentifier } }

    /// Sends it a signal.
    public func signal(_ number: Int32) { process.withLock { _ = kill($0.processIdentifier, number) } }

    /// Ends it by a signal; how it has ended.
    @discardableResult
    public func end(by signal: Int32) -> (reason: Process.TerminationReason, status: Int32) {
        process.withLock {
            kill($0.processIdentifier, signal)
            $0.waitUntilExit()
            return ($0.terminationReason, $0.terminationStatus)
        }
    }

    /// Waits for its end.
    public func status() -> Int32 {
        process.withLock {
            $0.waitUntilExit()
            return $0.terminationStatus
        }
    }
}
