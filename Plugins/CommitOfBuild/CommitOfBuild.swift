import Foundation
import PackagePlugin

/// Generates a file for BuildCommit with the commit that is built. The manifest cannot: SwiftPM evaluates it
/// only when it has changed, and so its `Context.gitInformation` is that of an earlier commit.
@main struct CommitOfBuild: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let package = context.package.directoryURL
        let script = package.appending(path: "Scripts/commit")
        let output = context.pluginWorkDirectoryURL.appending(path: "Commit.swift")
        // What a commit changes, and what a commit that is not made yet would. Without a checkout there is no log.
        let log = package.appending(path: ".git/logs/HEAD")
        let sources = context.package.targets.compactMap(\.sourceModule).flatMap(\.sourceFiles).map(\.url)
            .filter { $0.path.hasPrefix(package.appending(path: "Sources").path + "/") }
        let inputs = FileManager.default.fileExists(atPath: log.path) ? [log] + sources : []
        return [
            .buildCommand(
                displayName: "Commit of this build", executable: URL(filePath: "/bin/sh"),
                arguments: [script.path, output.path],
                inputFiles: inputs + [package.appending(path: "Package.swift"), script], outputFiles: [output]
            )
        ]
    }
}
