import ArgumentParser
import Glibc

/// `bletool`.
struct BLETool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bletool",
        abstract: "Bluetooth Low Energy from the command line: scan, advertise, serve, read and write.",
        discussion: """
            Options that every command takes may stand before its name, too: bletool --json advertise --dry-run.

            Exit status: 0 done, 1 usage or bad input, 2 not found or timed out, 3 adapter missing or unusable, \
            4 permission, 5 ATT error, 6 security, 7 link lost.
            """,
        version: "0.1.0",
        subcommands: [
            AdaptersCommand.self, ScanCommand.self, AdvertiseCommand.self, ServeCommand.self,
            GATTCommand.self,
            AirCommand.self, LookupCommand.self,
        ])

    /// Runs a command line, without the program's name.
    static func run(_ arguments: [String]) async -> ExitStatus {
        var console = Console(isJSON: arguments.prefix { $0 != "--" }.contains("--json"))
        do {
            guard let command = try parse(arguments) as? any ToolCommand else { return .done }
            console = command.global.console
            try await command.perform(console)
        } catch {
            console.show(error)
            return error.kind.status
        }
        guard let problem = console.output.error, problem != EPIPE else { return .done }
        console.show(
            Failure(.input, "stdout", strerror(problem).map { String(cString: $0) } ?? "error \(problem)"))
        return .badInput
    }

    /// The command that the arguments name; nil when they ask for help or the version, which is printed.
    private static func parse(_ arguments: [String]) throws(Failure) -> (any ParsableCommand)? {
        do {
            var command = try parseAsRoot(GATTCommand.verbFirst(globalsLast(arguments)))
            if !(command is any ToolCommand) { try command.run() }
            return command
        } catch {
            guard exitCode(for: error) != .success else {
                LineWriter.output.line(fullMessage(for: error))
                return nil
            }
            throw usageFailure(error, arguments)
        }
    }

    /// What the parser did not like, on one line.
    private static func usageFailure(_ error: any Error, _ arguments: [String]) -> Failure {
        let path = commandPath(arguments)
        let commands = configuration.subcommands.compactMap { $0.configuration.commandName }
        if path.count == 1, let name = globalsLast(arguments).first, !name.hasPrefix("-") {
            return Failure(
                .usage, name.quoted, "there is no such command\(commands.suggestion(for: name))",
                hint: "commands are \(commands.joined(lastBy: "and"))")
        }
        let message = message(for: error).lowercasedFirst
        if path == ["bletool", "gatt"] {
            return Failure(
                .usage, "gatt", "say what to do: tree, read, write or notify",
                hint: "`bletool gatt DEVICE tree` shows what a device has")
        }
        if arguments.contains(where: { $0.first == "-" && $0.dropFirst().first?.isNumber == true }) {
            return Failure(
                .usage, path.dropFirst().joined(separator: " "), message,
                hint: "a value that begins with - stands behind -- or says its type, as in i8:-5")
        }
        return Failure(
            .usage, path.dropFirst().joined(separator: " "), message,
            hint: "`\(path.joined(separator: " ")) --help` tells what there is")
    }

    /// The arguments with the global options that stand before the command's name behind it.
    static func globalsLast(_ arguments: [String]) -> [String] {
        var rest = arguments[...]
        var globals: [String] = []
        while let next = rest.first {
            let name = next.prefix { $0 != "=" }
            let isValued = GlobalOptions.valued.contains(String(name))
            guard isValued || GlobalOptions.flags.contains(next) else { break }
            // The value is behind the = or is the next argument.
            let count = isValued && name == next ? 2 : 1
            globals += rest.prefix(count)
            rest = rest.dropFirst(count)
        }
        guard let command = rest.first, !command.hasPrefix("-") else { return arguments }
        return [command] + globals + rest.dropFirst()
    }

    /// The names of the command and subcommand that the arguments name, as far as there are such.
    private static func commandPath(_ arguments: [String]) -> [String] {
        var path = ["bletool"]
        var candidates = configuration.subcommands
        for argument in GATTCommand.verbFirst(globalsLast(arguments)) {
            guard let next = candidates.first(where: { $0.configuration.commandName == argument }) else {
                break
            }
            path.append(argument)
            candidates = next.configuration.subcommands
        }
        return path
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
