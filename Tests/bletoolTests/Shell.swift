import Foundation

/// A shell that runs scripts with bletool in their PATH, on an air of their own.
final class Shell: Sendable {
    /// The working directory of the scripts, which also contains the files that they leave.
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "bletool-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The environment of the programs.
    var environment: [String: String] {
        // The test executable is in the folder of the programs under test.
        let tools = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
        return [
            "PATH": "\(tools):/usr/bin:/bin", "XDG_RUNTIME_DIR": folder.path, "XDG_STATE_HOME": folder.path,
            "HOME": folder.path, "TERM": "xterm",
        ]
    }

    /// Runs a script to its end. Returns its status and its output, including stderr.
    func run(_ script: String) async throws -> (status: Int32, output: String) {
        try await offThePool { [self] in try runBlocking(script) }
    }

    private func runBlocking(_ script: String) throws -> (status: Int32, output: String) {
        let process = Process()
        // A script that does not end would block the read of its output.
        process.executableURL = URL(filePath: "/usr/bin/timeout")
        process.arguments = ["--kill-after=1", "300", "/bin/sh", "-c", script]
        process.currentDirectoryURL = folder
        process.environment = environment
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    /// Writes a file in the folder.
    func write(_ text: String, to name: String) throws {
        try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
    }
}
