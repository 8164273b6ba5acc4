import ArgumentParser
import BuildCommit
import Dispatch
import Glibc
import HCISocket
import SystemPackage

struct BLETool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bletool",
        abstract: "Bluetooth Low Energy from the command line: scan, advertise, serve, read and write.",
        discussion: """
            Options that many commands take (bletool help options) may stand before the command's name, too: \
            bletool --json advertise --dry-run.

            Exit status: 0 done, 1 usage or bad input, 2 not found or timed out, 3 adapter missing or unusable, \
            4 permission, 5 ATT error, 6 security, 7 link lost, data not sent, or the peer misbehaved; 128 and the \
            signal's number after a signal, as in 130 after Ctrl-C.

            An error is one line on stderr, and a second one with a hint. With --json it is also the last object on \
            stdout: kind, message and code (the exit status); number (ATT error, HCI status or errno), line (of the \
            configuration) and hint, if it has them.
            """,
        version: Version.text,
        subcommands: [
            AdaptersCommand.self, DoctorCommand.self, ScanCommand.self, AdvertiseCommand.self,
            ServeCommand.self,
            GATTCommand.self, MaintainCommand.self, PairCommand.self, BondsCommand.self, SyncCommand.self,
            BenchCommand.self,
            CaptureCommand.self, DecodeCommand.self, ReplayCommand.self, AirCommand.self, LookupCommand.self,
        ])

    /// A command line that was read.
    enum Invocation {
        /// A command to perform.
        case command(any ToolCommand)
        /// Nothing is left to do, as after help or a usage error.
        case ended(ExitStatus)

        /// Performs the command and returns the exit status.
        consuming func perform() async -> ExitStatus {
            switch self {
            case .ended(let status): return status
            case .command(let command):
                let console = command.output.console
                do throws(Failure) {
                    try await command.perform(console)
                } catch {
                    return BLETool.status(of: error, console)
                }
                return BLETool.statusOfOutput(console)
            }
        }
    }

    /// Reads the command line `arguments`, which does not include the program's name, and starts the loop that its
    /// command uses.
    ///
    /// Call this before the first task: without descriptors, only a process whose tasks have not begun can say so,
    /// because libdispatch ends one that gets none.
    static func read(_ arguments: [String]) -> Invocation {
        var console = Console(isJSON: arguments.prefix { $0 != "--" }.contains("--json"))
        do throws(Failure) {
            guard let command = try parse(arguments) as? any ToolCommand else {
                return .ended(statusOfOutput(console))
            }
            console = command.output.console
            if command.usesKernelAdapters { PermittedCopy()?.execute() }
            try startLoop()
            return .command(command)
        } catch {
            return .ended(status(of: error, console))
        }
    }

    /// Runs the command line `arguments` and ends the process with its exit status.
    static func runAndExit(_ arguments: [String]) -> Never {
        let invocation = read(arguments)
        if case .ended(let status) = invocation { Glibc.exit(status.rawValue) }
        Task { Glibc.exit(await invocation.perform().rawValue) }
        dispatchMain()
    }

    /// Runs the command line `arguments`, which does not include the program's name.
    static func run(_ arguments: [String]) async -> ExitStatus { await read(arguments).perform() }

    /// Reports `error`, and returns its exit status.
    private static func status(of error: Failure, _ console: Console) -> ExitStatus {
        console.show(error)
        // The output that is lost can explain the failure, as the report of `doctor` does.
        if let problem = outputProblem(console) { console.note("stdout: \(problem)") }
        return error.kind.status
    }

    /// Reports output that could not be written, and returns the exit status of a command that has not failed.
    private static func statusOfOutput(_ console: Console) -> ExitStatus {
        guard let problem = outputProblem(console) else { return .done }
        console.show(Failure(.input, "stdout", problem))
        return .badInput
    }

    /// Starts the loop that all commands use. Without descriptors or threads, nothing else would work.
    private static func startLoop() throws(Failure) {
        do throws(Errno) {
            try EventLoop.startShared()
        } catch {
            throw Failure(
                .adapter, "event loop", "cannot start: \(error)",
                hint: "this process may not have enough files or threads: ulimit -n, ulimit -u")
        }
    }

    /// Returns the reason why output could not be written; nil if it was, or if its reader does not need it.
    private static func outputProblem(_ console: Console) -> String? {
        guard let problem = console.output.error, problem != EPIPE else { return nil }
        return strerror(problem).map { String(cString: $0) } ?? "error \(problem)"
    }

    /// The index of the first argument that is not UTF-8. `CommandLine.arguments` does not show this, because
    /// the standard library replaces invalid octets with other characters.
    private static var unreadableArgument: Int? {
        (1..<max(Int(CommandLine.argc), 1)).first { index in
            guard let argument = CommandLine.unsafeArgv[index] else { return false }
            return String(validatingCString: argument) == nil
        }
    }

    /// Returns the command that the arguments name. If they request help or the version, prints that and
    /// returns nil.
    private static func parse(_ arguments: [String]) throws(Failure) -> (any ParsableCommand)? {
        if let unreadable = unreadableArgument {
            throw Failure(.usage, "argument \(unreadable)", "is not UTF-8")
        }
        if arguments.starts(with: ["help", "options"]) {
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

    /// Returns a failure if the command has verbs and the arguments name none, unless they request help.
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

    /// The commands and options of hcitool, gatttool and btmon, with the bletool command that replaces each.
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

    /// Returns the parser's message on one line, with a list of values separated by commas, and without a
    /// suggested option that is not similar to the unknown one.
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

    /// Returns the failure for a command line that the parser rejected, with a message of one line.
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
        let negative = arguments.firstIndex { $0.first == "-" && $0.dropFirst().first?.isNumber == true }
        if let negative {
            let before = negative > 0 ? arguments[negative - 1] : ""
            var hint: String?
            // An option that was given a value which it does not allow needs another value.
            let isRefusedValue = message.contains("is invalid for '")
            if !isRefusedValue, message.contains("'\(arguments[negative])'") {
                hint = "put a value that begins with - after --, or give its type, as in i8:-5"
            } else if !isRefusedValue, before.hasPrefix("--"), message.contains("'\(before) ") {
                hint =
                    "an option takes a value that begins with - after =, as in \(before)=\(arguments[negative])"
            }
            if let hint {
                return Failure(.usage, path.dropFirst().joined(separator: " "), message, hint: hint)
            }
        }
        return Failure(
            .usage, path.dropFirst().joined(separator: " "), message,
            hint: "`\(path.joined(separator: " ")) --help` lists the options")
    }

    /// Returns the arguments with the global options before the command's name moved behind it.
    static func globalsLast(_ arguments: [String]) -> [String] {
        var rest = arguments[...]
        var globals: [String] = []
        while let next = rest.first {
            let name = next.prefix { $0 != "=" }
            let isValued = GlobalOptions.valued.contains(String(name))
            guard isValued || GlobalOptions.flags.contains(next) else { break }
            // The value follows the = or is the next argument.
            let count = isValued && name == next ? 2 : 1
            globals += rest.prefix(count)
            rest = rest.dropFirst(count)
        }
        guard let command = rest.first, !command.hasPrefix("-") else { return arguments }
        // A verb stays with its command: bonds list.
        let verbs = configuration.subcommands.first { $0.configuration.commandName == command }?
            .configuration.subcommands.compactMap { $0.configuration.commandName }
        let count = rest.dropFirst().first.map { verbs?.contains($0) ?? false } ?? false ? 2 : 1
        return Array(rest.prefix(count)) + globals + Array(rest.dropFirst(count))
    }

    /// Returns the names of the program, and of the command and subcommand that the arguments name, if any.
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

/// A command that performs an action, as opposed to one that only groups subcommands.
protocol ToolCommand: ParsableCommand {
    var output: OutputOptions { get }
    /// Whether the command may use the kernel's adapters.
    var usesKernelAdapters: Bool { get }

    /// Performs the command. Shows the results on the console, and throws the reason if the command fails.
    func perform(_ console: Console) async throws(Failure)
}

extension ToolCommand {
    var usesKernelAdapters: Bool { false }
}

/// The text of `--version`. Of this module, only this file is compiled again after each commit.
enum Version {
    /// The version, and the commit when that is known.
    static var text: String { "0.1.0" + (buildCommit.map { " (\($0))" } ?? "") }
}
