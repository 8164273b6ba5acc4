import ArgumentParser

/// The first words of lines, with what they do: those of scripts, of `gatt`, and the shell's own.
enum ShellVerbs {
    /// The shell's own, and the steps of scripts that are no verbs of `gatt`.
    private static let others = [
        ("connect", "make the link again"), ("disconnect", "end the link"),
        ("help", "this list, or help VERB"),
        ("quit", "end the shell"), ("sleep", "DURATION: do nothing, while values are shown"),
        ("subscribe", "ATTR [--indicate]: show what comes from now on"), ("unsubscribe", "ATTR: end that"),
        ("wait", "notification|indication|disconnection [ATTR] [--within DURATION]"),
    ]

    /// The lines of the help of a verb of `gatt`; of any other word, or none, what all do.
    static func help(_ name: String?) -> [String] {
        if let verb = ScriptStep.verbs.first(where: { $0.configuration.commandName == name }) {
            return verb.helpMessage(columns: 80).split(separator: "\n", omittingEmptySubsequences: false)
                .map(String.init)
        }
        let all =
            others + ScriptStep.verbs.map { ($0.configuration.commandName ?? "", $0.configuration.abstract) }
        return all.sorted { $0.0 < $1.0 }.map { "  \($0.0.filling(14))\($0.1)" } + [
            "Tab completes, up and down and Ctrl-R recall lines, Ctrl-C ends a command,",
            "Ctrl-Z stops, Ctrl-D ends the shell.",
        ]
    }

    /// Options by verb: those that a line may have. Made once: the help that they are read from takes its time.
    static let table: [String: [String]] = {
        var table = Dictionary(uniqueKeysWithValues: others.map { ($0.0, [String]()) })
        table["subscribe"] = ["--indicate"]
        table["wait"] = ["--within"]
        for verb in ScriptStep.verbs {
            let words = verb.helpMessage(columns: 200).split { !$0.isLetter && $0 != "-" }
            let options = Set(words.filter { $0.hasPrefix("--") && $0.count > 2 }.map(String.init))
            table[verb.configuration.commandName ?? ""] = options.filter { !ScriptStep.isOfLink($0) }.sorted()
        }
        return table
    }()
}
