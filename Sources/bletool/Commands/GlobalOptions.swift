import ArgumentParser
import BLE

/// What every command takes.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The radio: hci0, hci:ADDRESS, user:hci0, serial:PATH, tcp:HOST:PORT, unix:PATH, virtual or \
            virtual:NAME. Default: $BLETOOL_ADAPTER, else the first kernel adapter.
            """, valueName: "spec"))
    var adapter: String?

    @Flag(help: "Print JSON objects, one a line, on stdout.")
    var json = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Give up after this time: 500ms, 10s, 2m.", valueName: "duration"))
    var timeout: String?

    @Option(help: ArgumentHelp("Record every HCI packet of the run, as btsnoop.", valueName: "file"))
    var capture: String?

    @Option(help: ArgumentHelp("Log from this level on, to stderr.", valueName: "level"))
    var logLevel = LogLevel.warning

    @Option(help: ArgumentHelp("Colour text for people; $NO_COLOR is heeded.", valueName: "when"))
    var color = ColorPolicy.auto
}

extension ColorPolicy: ExpressibleByArgument {}

/// How much is logged, in the words of swift-log.
enum LogLevel: String, Hashable, CaseIterable, Sendable, ExpressibleByArgument {
    case trace, debug, info, notice, warning, error, critical
}

extension GlobalOptions {
    /// Where the command speaks.
    var console: Console { Console(isJSON: json, color: color) }

    /// The radio that was asked for, by the option or else by the environment; nil when neither says.
    func adapter(
        environment: (String) -> String? = Environment.value
    ) throws(Failure) -> AdapterSpecification? {
        if let adapter { return try specification(adapter, from: "--adapter") }
        guard let variable = environment("BLETOOL_ADAPTER"), !variable.isEmpty else { return nil }
        return try specification(variable, from: "BLETOOL_ADAPTER")
    }

    private func specification(_ text: String, from place: String) throws(Failure) -> AdapterSpecification {
        try reading(place) { () throws(BadInput) in
            do throws(AdapterSpecificationError) {
                return try AdapterSpecification(text)
            } catch {
                throw BadInput(error)
            }
        }
    }

    /// Refuses options that would be ignored: a command that uses no radio takes none.
    func refuse(_ options: [String], for command: String) throws(Failure) {
        let given = ["--adapter": adapter, "--capture": capture, "--timeout": timeout]
        for option in options where given[option] != .some(nil) {
            throw Failure(.usage, option, "means nothing to \(command)")
        }
    }

    /// The time limit.
    func timeLimit() throws(Failure) -> Duration? { try duration(timeout, of: "--timeout") }

    /// Names of options that take no value, and of those that take one: for finding them before a
    /// command's name.
    static let flags: Set = ["--json"]
    static let valued: Set = ["--adapter", "--timeout", "--capture", "--log-level", "--color"]
}

/// The duration that an option's value spells, which must not be zero.
func duration(_ text: String?, of option: String) throws(Failure) -> Duration? {
    guard let text else { return nil }
    let duration = try reading(option) { try Duration(text: text) }
    guard duration > .zero else { throw Failure(.usage, option, "the time must be more than nothing") }
    return duration
}
