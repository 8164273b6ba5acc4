import ArgumentParser

/// The help of a command, as it is shown: the options that many commands, or all verbs of `gatt`, take are one line there,
/// and have a page of their own.
struct HelpText {
    private let lines: [Substring]

    /// The help that the parser has made.
    init(_ text: String) { lines = text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// What is shown for the command.
    var text: String {
        guard let first = lines.indices.first(where: isOfAll) else { return lines.joined(separator: "\n") }
        let isVerb = lines.contains { $0.hasPrefix("USAGE: bletool gatt <device> ") }
        let isCommon = { (index: Int) in isOfAll(index) || isVerb && isOfVerbs(index) }
        // Those that are looked for first.
        let names = Set(lines.indices.filter(isCommon).map(name))
        let known = ["--security", "--io", "--adapter", "--timeout", "--json", "--capture"].filter(
            names.contains)
        let others = names.count > known.count ? " and others" : ""
        var shown: [Substring] = []
        for index in lines.indices {
            if index == first {
                shown.append("  \(known.joined(separator: ", "))\(others): bletool help options")
            }
            if isCommon(index) { continue }
            // A section of which nothing is left.
            if lines[index].isEmpty, let last = shown.last, last.hasSuffix(" OPTIONS:") {
                shown.removeLast()
            } else {
                shown.append(lines[index])
            }
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
            (["OPTIONS OF COMMANDS THAT USE A RADIO, before or after the command's name:"]
            + lines(ofRadio: true)
            + ["", "OPTIONS OF ALL COMMANDS, before or after the command's name:"] + lines(ofRadio: false)
            + ["", "OPTIONS OF THE VERBS OF gatt, after the verb:"] + optionsOfVerbs)
            .joined(separator: "\n")
    }

    /// The lines of the options that all verbs of `gatt` take.
    private static var optionsOfVerbs: [Substring] {
        let help = HelpText(BLETool.helpMessage(for: GATTReadCommand.self))
        return help.lines.indices.filter(help.isOfVerbs).map { help.lines[$0] }
    }

    /// The option that a line is of: its first line has the name, and those that follow are indented.
    private func name(_ index: Int) -> String {
        let first = lines[...index].last { $0.hasPrefix("  -") || !$0.hasPrefix("   ") } ?? ""
        return first.hasPrefix("  -") ? String(first.dropFirst(2).prefix { $0 != " " && $0 != "/" }) : ""
    }

    /// Whether a line is of an option that all verbs of `gatt` take.
    private func isOfVerbs(_ index: Int) -> Bool {
        let name = lines[index].isEmpty ? "" : name(index)
        return GATTOptions.valued.contains(name) || PairingArguments.flags.contains(name)
    }

    /// Whether a line is of an option that all commands take, or all with a radio.
    private func isOfAll(_ index: Int) -> Bool {
        let name = lines[index].isEmpty ? "" : name(index)
        return GlobalOptions.valued.contains(name) || GlobalOptions.flags.contains(name)
    }
}
