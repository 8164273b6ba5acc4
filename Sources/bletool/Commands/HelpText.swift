import ArgumentParser

/// The help of a command, as it is shown: the options that many commands take are one line there, and have a page of their
/// own.
struct HelpText {
    private let lines: [Substring]

    /// The help that the parser has made.
    init(_ text: String) { lines = text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// What is shown for the command.
    var text: String {
        let ofAll = lines.indices.filter(isOfAll)
        guard let first = ofAll.first else { return lines.joined(separator: "\n") }
        // Those that are looked for first.
        let names = Set(ofAll.map(name))
        let known = ["--adapter", "--timeout", "--json", "--capture"].filter(names.contains)
        let others = names.count > known.count ? " and others" : ""
        var shown: [Substring] = []
        for index in lines.indices {
            if index == first {
                shown.append("  \(known.joined(separator: ", "))\(others): bletool help options")
            }
            if !isOfAll(index) { shown.append(lines[index]) }
        }
        return shown.joined(separator: "\n")
    }

    /// The page of the options that all commands take, or all with a radio, by the help of one that has all of them.
    static var options: String {
        let help = HelpText(BLETool.helpMessage(for: ScanCommand.self))
        let options = help.lines.indices.filter(help.isOfAll)
        func lines(ofRadio isOfRadio: Bool) -> [Substring] {
            options.filter { GlobalOptions.ofRadio.contains(help.name($0)) == isOfRadio }.map {
                help.lines[$0]
            }
        }
        return
            (["OPTIONS OF COMMANDS WITH A RADIO, before or after the command's name:"] + lines(ofRadio: true)
            + ["", "OPTIONS THAT ALL COMMANDS TAKE, there as well:"] + lines(ofRadio: false))
            .joined(separator: "\n")
    }

    /// The option that a line is of: its first line has the name, and those that follow are indented.
    private func name(_ index: Int) -> String {
        let first = lines[...index].last { $0.hasPrefix("  -") || !$0.hasPrefix("   ") } ?? ""
        return first.hasPrefix("  -") ? String(first.dropFirst(2).prefix { $0 != " " && $0 != "/" }) : ""
    }

    /// Whether a line is of an option that all commands take, or all with a radio.
    private func isOfAll(_ index: Int) -> Bool {
        let name = lines[index].isEmpty ? "" : name(index)
        return GlobalOptions.valued.contains(name) || GlobalOptions.flags.contains(name)
    }
}
