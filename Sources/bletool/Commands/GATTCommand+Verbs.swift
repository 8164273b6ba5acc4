import ArgumentParser

extension GATTCommand {
    private static var verbs: [String] {
        configuration.subcommands.compactMap { $0.configuration.commandName }
    }

    /// Whether the next argument is this one's value.
    private static func isValued(_ argument: String) -> Bool {
        GlobalOptions.valued.contains(argument) || GATTOptions.valued.contains(argument)
    }

    /// What is wrong with arguments that have no verb.
    static func verbFailure(_ arguments: [String]) -> Failure {
        var words: [String] = []
        var rest = BLETool.globalsLast(arguments).dropFirst()
        while let next = rest.first {
            rest = rest.dropFirst(isValued(next) ? 2 : 1)
            if !next.hasPrefix("-") { words.append(next) }
        }
        let choice = "\(verbs.joined(lastBy: "or"))"
        guard words.count > 1 else {
            return Failure(
                .usage, "gatt", "say what to do: \(choice)",
                hint: "`bletool gatt DEVICE tree` shows what a device has")
        }
        return Failure(
            .usage, "gatt", "\(words[1].quoted) is nothing to do\(verbs.suggestion(for: words[1]))",
            hint: "say what to do: \(choice)")
    }

    /// The arguments with the verb before the device.
    static func verbFirst(_ arguments: [String]) -> [String] {
        guard arguments.first == configuration.commandName else { return arguments }
        var arguments = arguments
        if !arguments.contains("--"),
            let index = arguments.firstIndex(where: { $0 == "-i" || $0 == "--interactive" })
        {
            arguments[index] = GATTShellCommand.configuration.commandName ?? ""
        }
        var index = 1
        while index < arguments.count {
            let argument = arguments[index]
            if verbs.contains(argument) { break }
            index += isValued(argument) ? 2 : 1
        }
        guard index > 1, index < arguments.count else { return arguments }
        var moved = arguments
        moved.insert(moved.remove(at: index), at: 1)
        return moved
    }
}
