import ArgumentParser

/// The help of a command as it is shown. The options that many commands, or all verbs of `gatt`, take are
/// summarized in one line, and have a page of their own.
struct HelpText {
    private let lines: [Substring]

    /// Creates the help from the text of the parser.
    init(_ text: String) { lines = text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// The text that is shown for the command.
    var text: String {
        guard let first = lines.indices.first(where: isOfAll) else { return lines.joined(separator: "\n") }
        let isVerb = lines.contains { $0.hasPrefix("USAGE: bletool gatt <device> ") }
        let isCommon = { (index: Int) in isOfAll(index) || isVerb && isOfVerbs(index) }
        // The options that users look for first.
        let names = Set(lines.indices.filter(isCommon).map(name))
        // `capture` itself refuses the option.
        let isCapture = lines.contains { $0.hasPrefix("USAGE: bletool capture ") }
        let known = ["--security", "--io", "--adapter", "--timeout", "--json", "--capture"].filter {
            names.contains($0) && !(isCapture && $0 == "--capture")
        }
        let others = names.count > known.count ? " and others" : ""
        var shown: [Substring] = []
        for index in lines.indices {
            if index == first {
                shown.append("  \(known.joined(separator: ", "))\(others): bletool help options")
            }
            if isCommon(index) { continue }
            // A section without any remaining options is removed.
            if lines[index].isEmpty, let last = shown.last, last.hasSuffix(" OPTIONS:") {
                shown.removeLast()
            } else {
                shown.append(lines[index])
            }
        }
        return shown.joined(separator: "\n")
    }

    /// The page of the options that all commands, or all commands with a radio, take. It is made from the
    /// help of a command that has all of them.
    static var options: String {
        let help = HelpText(BLETool.helpMessage(for: ScanCommand.self))
        let options = help.lines.indices.filter(help.isOfAll)
        func lines(ofRadio isOfRadio: Bool) -> [Substring] {
            options.filter { GlobalOptions.ofRadio.contains(help.name($0)) == isOfRadio }.map {
                help.lines[$0]
            }
        }
        var text: [Substring] = ["OPTIONS OF COMMANDS THAT USE A RADIO, before or after the command's name:"]
        text += lines(ofRadio: true)
        text += ["", "OPTIONS OF ALL COMMANDS, before or after the command's name:"]
        text += lines(ofRadio: false)
        text += ["", "OPTIONS OF THE VERBS OF gatt, after the verb:"]
        text += optionsOfVerbs
        return text.joined(separator: "\n")
    }

    /// The lines of the options that all verbs of `gatt` take.
    private static var optionsOfVerbs: [Substring] {
        let help = HelpText(BLETool.helpMessage(for: GATTReadCommand.self))
        return help.lines.indices.filter(help.isOfVerbs).map { help.lines[$0] }
    }

    /// Returns the name of the option that a line belongs to. The first line of an option contains the name,
    /// and the following lines are indented.
    private func name(_ index: Int) -> String {
        let first = lines[...index].last { $0.hasPrefix("  -") || !$0.hasPrefix("   ") } ?? ""
        return first.hasPrefix("  -") ? String(first.dropFirst(2).prefix { $0 != " " && $0 != "/" }) : ""
    }

    /// Returns whether a line belongs to an option that all verbs of `gatt` take.
    private func isOfVerbs(_ index: Int) -> Bool {
        let name = lines[index].isEmpty ? "" : name(index)
        return GATTOptions.valued.contains(name) || GATTOptions.flags.contains(name)
    }

    /// Returns whether a line belongs to an option that all commands, or all commands with a radio, take.
    private func isOfAll(_ index: Int) -> Bool {
        let name = lines[index].isEmpty ? "" : name(index)
        return GlobalOptions.valued.contains(name) || GlobalOptions.flags.contains(name)
    }
}
