import ArgumentParser
import BuildCommit
import Glibc

struct BLETool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bletool",
        abstract: "Bluetooth Low Energy from the command line: scan, advertise, serve, read and write.",
        discussion: """
            Options that many commands take (bletool help options) may stand before the command's name, too: \
            bletool --json advertise --dry-run.

            Exit status: 0 done, 1 usage or bad input, 2 not found or timed out, 3 adapter missing or unusable, \
            4 permission, 5 ATT error, 6 security, 7 link lost, data not sent, or the peer misbehaved.
            """,
        version: Version.text,
        subcommands: [
            AdaptersCommand.self, DoctorCommand.self, ScanCommand.self, AdvertiseCommand.self,
            ServeCommand.self,
            GATTCommand.self, MaintainCommand.self, PairCommand.self, BondsCommand.self, SyncCommand.self,
            BenchCommand.self,
            CaptureCommand.self, DecodeCommand.self, ReplayCommand.self, AirCommand.self, LookupCommand.self,
        ])

    /// Runs a command line, without the program's name.
    static func run(_ arguments: [String]) async -> ExitStatus {
        var console = Console(isJSON: arguments.prefix { $0 != "--" }.contains("--json"))
        do {
            if let command = try parse(arguments) as? any ToolCommand {
                console = command.output.console
                try await command.perform(console)
            }
        } catch {
            console.show(error)
            return error.kind.status
        }
        guard let problem = console.output.error, problem != EPIPE else { return .done }
        console.show(
            Failure(.input, "stdout", strerror(problem).map { String(cString: $0) } ?? "error \(problem)"))
        return .badInput
    }

    /// Which argument is not UTF-8: the standard library has put other characters in its place.
    private static var unreadableArgument: Int? {
        (1..<max(Int(CommandLine.argc), 1)).first { index in
            guard let argument = CommandLine.unsafeArgv[index] else { return false }
            return String(validatingCString: argument) == nil
        }
    }

    /// The command that the arguments name; nil when they ask for help or the version, which is printed.
    private static func parse(_ arguments: [String]) throws(Failure) -> (any ParsableCommand)? {
        if let unreadable = unreadableArgument {
            throw Failure(.usage, "argument \(unreadable)", "is not UTF-8")
        }
        if arguments == ["help", "options"] {
            LineWriter.output.line(HelpText.options)
            return nil
        }
        if arguments.first == "help", let name = arguments.dropFirst().first, commandPath([name]).count == 1 {
            throw unknown(name)
        }
        do {
            var command = try parseAsRoot(
                AdvertiseCommand.andLast(GATTCommand.verbFirst(globalsLast(arguments))))
            if !(command is any ToolCommand) { try command.run() }
            return command
        } catch {
            guard exitCode(for: error) != .success else {
                if let verbs = missingVerb(arguments) { throw verbs }
                let text = fullMessage(for: error)
                let isScript = arguments.contains { $0.hasPrefix("--generate-completion-script") }
                LineWriter.output.line(
                    isScript ? CompletionScript(generated: text).text : HelpText(text).text)
                return nil
            }
            throw usageFailure(error, arguments)
        }
    }

    /// A command that has verbs, and none was said, which is not asking for help.
    private static func missingVerb(_ arguments: [String]) -> Failure? {
        let path = commandPath(arguments)
        guard path.count == 2,
            let command = configuration.subcommands.first(where: { $0.configuration.commandName == path[1] }),
            !arguments.contains(where: {
                ["-h", "help", "--version"].contains($0) || $0.hasPrefix("--help")
                    || $0.hasPrefix("--experimental")
            })
        else { return nil }
        let verbs = command.configuration.subcommands.compactMap { $0.configuration.commandName }
        guard !verbs.isEmpty else { return nil }
        return Failure(
            .usage, path[1], "a verb is missing: \(verbs.joined(lastBy: "or"))",
            hint: "`\(path.joined(separator: " ")) --help` lists them")
    }

    /// What users of hcitool, gatttool and btmon type for it.
    private static let elsewhere = [
        "lescan": "scan", "leadv": "advertise", "leinfo": "gatt DEVICE info", "dev": "adapters",
        "primary": "gatt DEVICE tree", "characteristics": "gatt DEVICE tree", "char-desc": "gatt DEVICE tree",
        "char-read-uuid": "gatt DEVICE read UUID", "char-read-hnd": "gatt DEVICE read 0x0003",
        "char-write-req": "gatt DEVICE write 0x0003 VALUE",
        "char-write-cmd": "gatt DEVICE write 0x0003 VALUE --without-response", "connect": "gatt DEVICE -i",
        "lecc": "gatt DEVICE -i", "mtu": "gatt DEVICE VERB --mtu N",
        "gatttool": "gatt DEVICE", "hcitool": "adapters, scan or gatt",
        "btmon": "capture - | bletool decode -",
        "version": "--version", "-V": "--version", "monitor": "capture - | bletool decode -",
        "dump": "gatt DEVICE dump", "sniff": "capture",
    ]

    private static func unknown(_ name: String) -> Failure {
        let commands = configuration.subcommands.compactMap { $0.configuration.commandName }
        if let ours = elsewhere[name] {
            return Failure(
                .usage, name.quoted, "there is no such \(name.hasPrefix("-") ? "option" : "command")",
                hint: "the command for this is bletool \(ours)")
        }
        return Failure(
            .usage, name.quoted, "there is no such command\(commands.suggestion(for: name))",
            hint: "commands are \(commands.joined(lastBy: "and"))")
    }

    /// The parser's message on one line: a list of values with commas, and without an option that is not near.
    static func plain(_ message: String) -> String {
        let lines = message.split(separator: "\n")
        let values = lines.filter { $0.hasPrefix("  - ") }.map { String($0.dropFirst(4)) }
        var text = lines.filter { !$0.hasPrefix("  - ") }.joined(separator: " ")
        if !values.isEmpty { text += " \(values.joined(lastBy: "or"))" }
        // "Unknown option '--foo'. Did you mean '--phy'?"
        let parts = text.split(separator: "'")
        guard parts.count == 5, parts[2] == ". Did you mean ", [String(parts[3])].nearest(to: parts[1]) == nil
        else { return text }
        return "\(parts[0])'\(parts[1])'"
    }

    /// What the parser did not like, on one line.
    private static func usageFailure(_ error: any Error, _ arguments: [String]) -> Failure {
        let path = commandPath(arguments)
        if path.count == 1, let name = globalsLast(arguments).first,
            !name.hasPrefix("-") || elsewhere[name] != nil
        {
            return unknown(name)
        }
        let message = plain(message(for: error)).lowercasedFirst
        if path == ["bletool", "gatt"] {
            return GATTCommand.verbFailure(arguments)
        }
        if arguments.contains(where: { $0.first == "-" && $0.dropFirst().first?.isNumber == true }) {
            return Failure(
                .usage, path.dropFirst().joined(separator: " "), message,
                hint: "put a value that begins with - after --, or give its type, as in i8:-5")
        }
        return Failure(
            .usage, path.dropFirst().joined(separator: " "), message,
            hint: "`\(path.joined(separator: " ")) --help` lists the options")
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
        // A verb stays with its command: bonds list.
        let verbs = configuration.subcommands.first { $0.configuration.commandName == command }?
            .configuration.subcommands.compactMap { $0.configuration.commandName }
        let count = rest.dropFirst().first.map { verbs?.contains($0) ?? false } ?? false ? 2 : 1
        return rest.prefix(count) + globals + rest.dropFirst(count)
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

/// A command that does something: its options say what, and `perform` does it.
protocol ToolCommand: ParsableCommand {
    var output: OutputOptions { get }

    /// Does it; what it finds goes to the console, why it could not is thrown.
    func perform(_ console: Console) async throws(Failure)
}

/// What `--version` says. The one file that is compiled anew after each commit.
enum Version {
    /// The version, and the commit when that is known.
    static var text: String { "0.1.0" + (buildCommit.map { " (\($0))" } ?? "") }
}
