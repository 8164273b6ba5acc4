import ArgumentParser

/// What every command with a radio takes.
struct GlobalOptions: ParsableArguments {
    @OptionGroup var radio: RadioOptions
    @OptionGroup var time: TimeLimitOptions
    @OptionGroup var output: OutputOptions
}

extension GlobalOptions {
    /// Names of options that take no value, and of those that take one: for finding them before a
    /// command's name.
    static let flags: Set = ["--json", "--recover-with-links", "--privacy"]
    static let valued: Set = [
        "--adapter", "--timeout", "--capture", "--log-level", "--color", "--address-lifetime",
    ]
    /// Those of them that only commands with a radio take.
    static let ofRadio: Set = [
        "--adapter", "--capture", "--recover-with-links", "--privacy", "--address-lifetime",
    ]
}

/// What a command takes that uses no radio and waits for nothing. The other options of all commands are
/// refused in words.
struct PlainOptions: ParsableArguments {
    @OptionGroup var output: OutputOptions
    @OptionGroup(visibility: .hidden) var radio: RadioOptions
    @OptionGroup(visibility: .hidden) var time: TimeLimitOptions

    /// Refuses options that the command would ignore.
    func refuse(for command: String) throws(Failure) {
        try radio.refuse(for: command)
        // Scripts give all commands a time limit; one that waits for nothing keeps any.
        _ = try time.limit()
    }
}

/// The global options of a command that a time limit ends.
struct TimedOptions: ParsableArguments {
    @OptionGroup var time: TimeLimitOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup(visibility: .hidden) var radio: RadioOptions
}

extension Failure {
    /// An option that would be ignored.
    static func meaningless(_ option: String, to command: String) -> Failure {
        Failure(.usage, option, "does not apply to \(command)")
    }
}

/// The format of a command's output.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON objects on stdout, one per line.")
    var json = false

    @Option(help: ArgumentHelp("Log messages of this level and above to stderr.", valueName: "level"))
    var logLevel = LogLevel.warning

    @Option(help: ArgumentHelp("When to color text output; $NO_COLOR switches it off.", valueName: "when"))
    var color = ColorPolicy.auto
}

extension OutputOptions {
    /// The output of the command.
    var console: Console { Console(isJSON: json, color: color) }
}

extension ColorPolicy: ExpressibleByArgument {}

/// How much is logged, in the words of swift-log.
enum LogLevel: String, Hashable, CaseIterable, Sendable, ExpressibleByArgument {
    case trace, debug, info, notice, warning, error, critical
}

/// How long a command goes on trying.
struct TimeLimitOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Give up after this time: 500ms, 10s, 2m.", valueName: "duration"))
    var timeout: String?
}

extension TimeLimitOptions {
    /// Returns the time limit, or nil when `--timeout` is not given.
    func limit() throws(Failure) -> Duration? { try duration(timeout, of: "--timeout") }

}

/// The duration that an option's value spells, which must not be zero.
func duration(_ text: String?, of option: String) throws(Failure) -> Duration? {
    guard let text else { return nil }
    let duration = try reading(option) { try Duration(text: text) }
    guard duration > .zero else { throw Failure(.usage, option, "the time must be greater than zero") }
    return duration
}
