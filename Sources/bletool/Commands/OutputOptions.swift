import ArgumentParser

/// The format of a command's output.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON objects, one a line, on stdout.")
    var json = false

    @Option(help: ArgumentHelp("Log from this level on, to stderr.", valueName: "level"))
    var logLevel = LogLevel.warning

    @Option(help: ArgumentHelp("Color text for people; $NO_COLOR switches it off.", valueName: "when"))
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
