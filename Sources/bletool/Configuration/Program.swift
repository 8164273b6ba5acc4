/// A program whose output is a value.
struct ValueProgram: Hashable, Sendable {
    var program: Program
    /// The format of the value in the output. nil: the value is the octets of the output.
    var format: ValueFormat?

    /// The maximum number of octets of the output. The text of a value can have more octets than the value.
    var outputLimit: Int { format == nil ? StoredValue.limit : LineReader.limit }

    /// Returns the value in the output of the program.
    func value(of output: [UInt8]) throws(BadInput) -> [UInt8] {
        let value = try format?.octets(printed: output) ?? output
        guard value.count <= StoredValue.limit else {
            throw BadInput("the value has \(value.count) octets; values have at most \(StoredValue.limit)")
        }
        return value
    }
}

/// A program that the server runs. Data that a central sends never become part of it.
struct Program: Hashable, Sendable {
    enum Command: Hashable, Sendable {
        /// A command line for `/bin/sh -c`.
        case shell(String)
        /// A program and its arguments, without a shell. A program without a slash is looked up in `PATH`.
        case arguments([String])
    }

    var command: Command
    /// The absolute path of the folder in which the program runs; nil for that of this process.
    var folder: String?

    /// Creates a program that is a command line for `/bin/sh -c`.
    static func shell(_ line: String, in folder: String? = nil) -> Program {
        Program(command: .shell(line), folder: folder)
    }

    /// Creates a program that runs without a shell.
    static func arguments(_ words: [String], in folder: String? = nil) -> Program {
        Program(command: .arguments(words), folder: folder)
    }
}

extension Program {
    /// Reads a command, which is a string or a list.
    init(_ node: YAMLNode, _ context: ConfigurationContext) throws(ConfigurationError) {
        guard case .sequence(let nodes) = node.content else {
            let line = try node.text("a command or a list of a program and its arguments")
            if line.allSatisfy(\.isWhitespace) {
                throw ConfigurationError(node.position, "the command is empty")
            }
            self = .shell(line, in: context.programFolder)
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
        self = .arguments(words, in: context.programFolder)
    }

    fileprivate enum Key: String, CaseIterable { case exec, format }
}

extension YAMLNode {
    /// Reads the program of `{exec: …}`, and the format of its output.
    func valueProgram(
        of what: String, _ context: ConfigurationContext
    ) throws(ConfigurationError) -> ValueProgram {
        let fields = try YAMLFields<Program.Key>(self, what)
        return ValueProgram(
            program: try Program(fields.required(.exec), context), format: try fields[.format]?.format())
    }
}
