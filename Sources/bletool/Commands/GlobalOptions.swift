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

/// What a command takes that uses no radio and waits for nothing. The other options of all commands are refused in words.
struct PlainOptions: ParsableArguments {
    @OptionGroup var output: OutputOptions
    @OptionGroup(visibility: .hidden) var radio: RadioOptions
    @OptionGroup(visibility: .hidden) var time: TimeLimitOptions

    /// Refuses what would be ignored.
    func refuse(for command: String) throws(Failure) {
        try radio.refuse(for: command)
        // Scripts give all commands a time limit; one that waits for nothing keeps any.
        _ = try time.limit()
    }
}

/// The same for a command that a time limit ends.
struct TimedOptions: ParsableArguments {
    @OptionGroup var time: TimeLimitOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup(visibility: .hidden) var radio: RadioOptions
}

extension Failure {
    /// An option that would be ignored.
    static func meaningless(_ option: String, to command: String) -> Failure {
        Failure(.usage, option, "means nothing to \(command)")
    }
}
