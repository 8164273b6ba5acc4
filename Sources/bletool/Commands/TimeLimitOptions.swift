import ArgumentParser

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
