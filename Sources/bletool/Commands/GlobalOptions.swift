import ArgumentParser

/// The options of every command that uses a radio.
struct GlobalOptions: ParsableArguments {
    @OptionGroup var radio: RadioOptions
    @OptionGroup var time: TimeLimitOptions
    @OptionGroup var output: OutputOptions
}

extension GlobalOptions {
    /// The names of the options that take no value (`flags`) and of those that take one (`valued`), for
    /// finding the options before a command's name.
    static let flags: Set = ["--json", "--recover-with-links", "--privacy"]
    static let valued: Set = [
        "--adapter", "--timeout", "--capture", "--log-level", "--color", "--address-lifetime",
    ]
    /// The names of the options that only commands with a radio take.
    static let ofRadio: Set = [
        "--adapter", "--capture", "--recover-with-links", "--privacy", "--address-lifetime",
    ]
}

/// The options of a command that uses no radio and waits for nothing. The other global options are parsed but
/// hidden, so that `refuse(for:)` can reject those of a radio with an explanation.
struct PlainOptions: ParsableArguments {
    @OptionGroup var output: OutputOptions
    @OptionGroup(visibility: .hidden) var radio: RadioOptions
    @OptionGroup(visibility: .hidden) var time: TimeLimitOptions

    /// Rejects options that the command would ignore.
    func refuse(for command: String) throws(Failure) {
        try radio.refuse(for: command)
        // A time limit is accepted, because scripts pass one to all commands, and a command that waits for
        // nothing keeps any limit.
        _ = try time.limit()
    }
}

/// The global options of a command that uses no radio and that a time limit can end.
struct TimedOptions: ParsableArguments {
    @OptionGroup var time: TimeLimitOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup(visibility: .hidden) var radio: RadioOptions
}

extension Failure {
    /// Returns the failure for an option that `command` would ignore.
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

/// The lowest level of logged messages, with the names of swift-log.
enum LogLevel: String, Hashable, CaseIterable, Sendable, ExpressibleByArgument {
    case trace, debug, info, notice, warning, error, critical
}

/// The time limit of a command.
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

/// Parses the duration of an option, which must be greater than zero. Returns nil if the option is not given.
func duration(_ text: String?, of option: String) throws(Failure) -> Duration? {
    guard let text else { return nil }
    let duration = try reading(option) { try Duration(text: text) }
    guard duration > .zero else { throw Failure(.usage, option, "the time must be greater than zero") }
    return duration
}
