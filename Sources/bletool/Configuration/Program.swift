/// A program that the server runs. Data that a central sends never become part of it.
enum Program: Hashable, Sendable {
    /// A command line for `/bin/sh -c`.
    case shell(String)
    /// A program and its arguments, without a shell.
    case arguments([String])
}

extension Program {
    /// Reads a command, which is a string or a list.
    init(_ node: YAMLNode, _ context: ConfigurationContext) throws(ConfigurationError) {
        guard case .sequence(let nodes) = node.content else {
            let line = try node.text("a command or a list of a program and its arguments")
            if line.allSatisfy(\.isWhitespace) {
                throw ConfigurationError(node.position, "the command is empty")
            }
            self = .shell(line)
            return
        }
        var words: [String] = []
        for node in nodes {
            let word = try node.text("an argument")
            guard !word.utf8.contains(0) else {
                throw ConfigurationError(node.position, "no argument can hold a zero octet")
            }
            words.append(word)
        }
        guard let program = words.first else {
            throw ConfigurationError(node.position, "the command is empty")
        }
        guard context.isProgram(program) else {
            throw ConfigurationError(
                nodes[0].position, "there is no program \(program.quoted)",
                hint: "a list runs without a shell; a string is a line for /bin/sh")
        }
        self = .arguments(words)
    }

    fileprivate enum Key: String, CaseIterable { case exec }
}

extension YAMLNode {
    /// Reads the program of `{exec: …}`.
    func program(of what: String, _ context: ConfigurationContext) throws(ConfigurationError) -> Program {
        let fields = try YAMLFields<Program.Key>(self, what)
        return try Program(fields.required(.exec), context)
    }
}
