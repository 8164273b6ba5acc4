import Foundation
import Testing

/// Runs the samples and the first commands of README.md. The tests are serialized, because each sets
/// XDG_RUNTIME_DIR of the process.
@Suite(.serialized) final class ReadmeTests {
    private let folder: URL

    /// Uses a separate air, independent of other programs on this machine.
    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "readme-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        setenv("XDG_RUNTIME_DIR", folder.path, 1)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    @Test func compiledSamplesMatchReadme() throws {
        #expect(try Readme.blocks("swift") == ["CentralSample", "PeripheralSample"].map(Readme.sample))
    }

    @Test(.timeLimit(.minutes(10)))
    func centralSampleReadsAndSubscribes() async throws {
        let peripheral = run(runPeripheralSample)
        let central = run(runCentralSample)
        var seen: [String] = []
        for await line in Printed.lines {
            seen.append(line)
            if line.hasPrefix("subscribed") || line.hasPrefix("failed") { break }
        }
        central.cancel()
        await central.value
        peripheral.cancel()
        await peripheral.value
        #expect(seen.contains("[178, 8]"))
        #expect(seen.first?.hasPrefix("connected") == true)
    }

    private func run(_ sample: @escaping @Sendable () async throws -> Void) -> Task<Void, Never> {
        Task {
            do { try await sample() } catch { print("failed: \(error)") }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func firstReadmeCommandsSucceed() throws {
        let commands = try Readme.blocks("console")[0].components(separatedBy: "\n")
            .filter { $0.hasPrefix("$ bletool") }.map { $0.dropFirst(2) }
        #expect(commands.count == 5)
        // The server runs in the background until the shell ends it. All other commands must succeed.
        let script = """
            set -e
            trap 'kill $!' EXIT
            \(commands.joined(separator: "\n"))
            """
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", script]
        shell.currentDirectoryURL = Readme.root
        // The test executable is in the folder of the programs under test.
        let tools = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
        shell.environment = ["PATH": "\(tools):/usr/bin:/bin", "XDG_RUNTIME_DIR": folder.path]
        let output = Pipe()
        shell.standardOutput = output
        try shell.run()
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0, "\(printed)")
        for word in ["Thermometer", "service 1809", "notification"] { #expect(printed.contains(word)) }
    }
}
