import Glibc

/// The output of a command: results on stdout, as lines of text or JSON objects, and everything else on
/// stderr.
struct Console: Sendable {
    var isJSON: Bool
    /// When text output is colored.
    var color = ColorPolicy.auto
    /// The number of the script's line that produces the results, if any.
    var line: Int?
    /// Where results are written, stdout by default.
    var output = LineWriter.output
    /// Where messages are written, stderr by default.
    var errors = LineWriter.errors

    var isColored: Bool { color.allows(terminal: output.isTerminal) }

    /// Whether results can be shown as a table that is redrawn.
    var showsTables: Bool { !isJSON && output.isTerminal && Environment.value("TERM") != "dumb" }

    /// Prints a result: the object with `--json`, otherwise the lines. Returns false when the output has no
    /// reader any more.
    @discardableResult
    func show(_ event: some Event) -> Bool {
        if isJSON {
            return output.line(placed(event.json))
        }
        return event.lines(colored: isColored).allSatisfy { output.line($0) }
    }

    /// Returns the object with the number of the script's line, if there is one, unless the object has a line of
    /// its own.
    private func placed(_ json: JSONValue) -> JSONValue {
        guard let line, case .object(let members) = json,
            !members.contains(where: { $0.name == "line" })
        else { return json }
        return .object(members + [.init("line", JSONValue(line))])
    }

    /// Prints a message that is not a result.
    func note(_ text: String) { errors.line("bletool: \(text)") }

    /// Prints why the command failed: on stderr, and with `--json` also as the last line of stdout.
    func show(_ failure: Failure) {
        if isJSON, !failure.isShown { output.line(placed(failure.json)) }
        let colored = color.allows(terminal: errors.isTerminal)
        for (index, line) in failure.lines.enumerated() {
            errors.line((index == 0 ? Style.red : .dim)(line, when: colored))
        }
    }
}

/// A result: a JSON object, or lines of text.
protocol Event: Sendable {
    /// The JSON object, with its members in the documented order.
    var json: JSONValue { get }
    /// Returns the lines of text, safe on a terminal.
    func lines(colored: Bool) -> [String]
}
