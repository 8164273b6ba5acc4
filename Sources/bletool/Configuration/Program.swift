/// A program that the server runs. Nothing that a central sends is ever part of it.
enum Program: Hashable, Sendable {
    /// A line for `/bin/sh -c`.
    case shell(String)
    /// A program and its arguments, without a shell.
    case arguments([String])
}

extension Program {
    /// The command of `exec:`, a string or a list.
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
    /// The program of `{exec: …}`.
    func program(of what: String, _ context: ConfigurationContext) throws(ConfigurationError) -> Program {
        let fields = try YAMLFields<Program.Key>(self, what)
        return try Program(fields.required(.exec), context)
    }

    /// The source of `notify:`.
    func notify(_ context: ConfigurationContext) throws(ConfigurationError) -> NotifyConfiguration {
        try NotifyConfiguration(self, context)
    }
}

/// When subscribers get a value, and which.
struct NotifyConfiguration: Hashable, Sendable {
    /// Where the value comes from.
    enum Source: Hashable, Sendable {
        /// What a program prints.
        case command(Program)
        /// A number that counts up from 0, of so many octets.
        case counter(octets: Int)
    }

    /// The time from one value to the next.
    var interval: Duration
    /// Where the value comes from.
    var source: Source
}

extension NotifyConfiguration {
    private enum Key: String, CaseIterable { case every, exec, counter }
    private enum Counter: String, CaseIterable { case u8, u16, u32 }

    /// The source of `notify:`.
    init(_ node: YAMLNode, _ context: ConfigurationContext) throws(ConfigurationError) {
        let fields = try YAMLFields<Key>(node, "notify")
        let every = try fields.required(.every)
        interval = try every.duration()
        guard interval >= .milliseconds(1), interval <= .seconds(86_400) else {
            throw ConfigurationError(every.position, "every is 1ms to 24h, not \(interval.text)")
        }
        switch (fields[.exec], fields[.counter]) {
        case (let exec?, nil): source = .command(try Program(exec, context))
        case (nil, let counter?):
            switch try counter.word(Counter.self) {
            case .u8: source = .counter(octets: 1)
            case .u16: source = .counter(octets: 2)
            case .u32: source = .counter(octets: 4)
            }
        default: throw ConfigurationError(node.position, "notify needs either exec or counter")
        }
    }
}
