import ArgumentParser
import BLE
import BLECore

/// A line of a script that is run on one connection.
enum ScriptStep: Sendable {
    /// A verb of `gatt`, with its options.
    case verb(any GATTVerb)
    /// Shows the values that a characteristic sends from now on, while the script continues.
    case subscribe(SubscribeStep)
    /// Ends the subscription to the characteristic that the text names.
    case unsubscribe(String)
    /// Waits for a notification, an indication or a disconnection.
    case wait(WaitStep)
    /// Pauses for this time.
    case sleep(Duration)

    /// The names of the steps that are not verbs of `gatt`.
    static let names = ["subscribe", "unsubscribe", "wait", "sleep"]

    /// The verbs of `gatt` that a line can contain.
    static var verbs: [any GATTVerb.Type] {
        GATTCommand.configuration.subcommands.compactMap { $0 as? any GATTVerb.Type }
            .filter { $0 != GATTRunCommand.self && $0 != GATTShellCommand.self }
    }

    /// Parses a line, or returns nil if it has no words. `json`: whether results are JSON objects.
    init?(_ line: some StringProtocol, json: Bool) throws(Failure) {
        let words = try bletool.reading("") { try ScriptWords.split(line) }
        guard let name = words.first else { return nil }
        let arguments = Array(words.dropFirst())
        switch name {
        case "subscribe": self = .subscribe(try Self.parsed(SubscribeStep.self, arguments))
        case "unsubscribe": self = .unsubscribe(try Self.parsed(UnsubscribeStep.self, arguments).attribute)
        case "wait": self = .wait(try Self.parsed(WaitStep.self, arguments))
        case "sleep":
            let text = try Self.parsed(SleepStep.self, arguments).duration
            self = .sleep(try bletool.reading("sleep") { try Duration(text: text) })
        default: self = .verb(try Self.verb(name, arguments, json: json))
        }
        try check()
    }

    /// Rejects an invalid step before a radio is used.
    private func check() throws(Failure) {
        switch self {
        case .verb(let verb):
            try Self.checkOutput(of: verb)
            try verb.checkArguments()
        case .subscribe(let step): _ = try ConnectedDevice.paths([step.attribute])
        case .unsubscribe(let attribute): _ = try ConnectedDevice.paths([attribute])
        case .wait(let step): try step.check()
        case .sleep: break
        }
    }

    /// Rejects raw octets on stdout, because the results of a script are lines, and the end of raw octets
    /// among them is not visible.
    private static func checkOutput(of verb: any GATTVerb) throws(Failure) {
        let format = (verb as? GATTReadCommand)?.format ?? (verb as? GATTNotifyCommand)?.format
        let isFile = (verb as? GATTReadCommand)?.to.map { $0 != "-" } ?? true
        guard isFile, format != ValueFormat.raw.rawValue else {
            throw Failure(
                .input, isFile ? "--format raw" : "--to -", "is not for scripts, whose output is lines",
                hint: "read ATTR --to FILE writes octets")
        }
    }

    private static func verb(
        _ name: String, _ arguments: [String], json: Bool
    ) throws(Failure) -> any GATTVerb {
        guard let type = verbs.first(where: { $0.configuration.commandName == name }) else {
            let all = verbs.compactMap { $0.configuration.commandName } + names
            throw Failure(
                .input, "", "\(name.quoted) is not a verb\(all.suggestion(for: name))",
                hint: "give one of \(all.joined(lastBy: "or"))")
        }
        if let option = arguments.first(where: { isOfLink($0) }) {
            throw Failure(
                .input, option, "is an option of the link or the radio", hint: "give it to `gatt run` itself")
        }
        // The device is already known, so the parser gets a placeholder.
        let words = ["name:*"] + arguments + (json ? ["--json"] : [])
        return try parsed(type, words)
    }

    /// Returns whether an option concerns the link or the radio, so that it cannot be used in a line.
    static func isOfLink(_ word: String) -> Bool {
        let name = String(word.prefix { $0 != "=" })
        return GATTOptions.valued.contains(name) || GlobalOptions.valued.contains(name)
            || GlobalOptions.flags.contains(name)
    }

    private static func parsed<Step: ParsableArguments>(
        _ type: Step.Type, _ arguments: [String]
    ) throws(Failure) -> Step {
        do {
            return try Step.parse(arguments)
        } catch {
            throw Failure(
                .input, "", Step.message(for: error),
                hint: "put words with spaces in quotes; "
                    + "`bletool gatt VERB --help` shows what a verb takes")
        }
    }
}

struct SubscribeStep: ParsableArguments {
    @Argument var attribute: String
    @Flag var indicate = false
}

private struct UnsubscribeStep: ParsableArguments {
    @Argument var attribute: String
}

private struct SleepStep: ParsableArguments {
    @Argument var duration: String
}

/// The step `wait notification|indication|disconnection [ATTR] [--within DURATION]`.
struct WaitStep: ParsableArguments {
    enum Awaited: String, CaseIterable, ExpressibleByArgument, Sendable {
        case notification, indication, disconnection
    }

    @Argument var awaited: Awaited
    @Argument var attribute: String?
    @Option(parsing: .unconditional) var within: String?

    func check() throws(Failure) {
        _ = try limit()
        guard let attribute else { return }
        guard awaited != .disconnection else {
            throw Failure(.input, attribute.printable, "cannot follow disconnection")
        }
        _ = try ConnectedDevice.paths([attribute])
    }

    /// Returns the time limit, or nil when `--within` is not given.
    func limit() throws(Failure) -> Duration? { try duration(within, of: "--within") }
}

/// The words of a script's line, split as by a shell.
enum ScriptWords {
    /// Splits a line at its white space, except in quotes. # begins a comment. A backslash makes the next
    /// character literal, except in single quotes.
    static func split(_ line: some StringProtocol) throws(BadInput) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = line[...]
        while let next = rest.popFirst() {
            switch (next, quote) {
            case (let end, let begin?) where end == begin: quote = nil
            case ("\\", nil), ("\\", "\""):
                guard let literal = rest.popFirst() else { throw BadInput("a backslash ends the line") }
                word = (word ?? "") + String(literal)
            case (_, _?): word?.append(next)
            case ("\"", nil), ("'", nil):
                quote = next
                word = word ?? ""
            case ("#", nil) where word == nil: return words
            case (let blank, nil) where blank.isWhitespace:
                if let ended = word.take() { words.append(ended) }
            case (_, nil): word = (word ?? "") + String(next)
            }
        }
        if let quote { throw BadInput("a \(quote) is not closed") }
        if let word { words.append(word) }
        return words
    }
}
