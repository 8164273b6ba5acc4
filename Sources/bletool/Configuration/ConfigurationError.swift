/// A place in a file, as editors count.
struct SourcePosition: Hashable, Sendable {
    /// The number of the line, from 1.
    var line: Int
    /// The column in characters, from 1.
    var column: Int
}

/// Why a configuration cannot work, and where it says so.
struct ConfigurationError: Error, Hashable, Sendable {
    /// The place of the problem; nil when it is the file as a whole.
    var position: SourcePosition?
    /// What is wrong, in one line.
    var reason: String
    /// What to do, where there is something to do.
    var hint: String?

    init(_ position: SourcePosition?, _ reason: String, hint: String? = nil) {
        self.position = position
        self.reason = reason
        self.hint = hint
    }

    /// A text that is not what it should be.
    init(_ position: SourcePosition?, _ problem: BadInput) {
        self.init(position, problem.reason, hint: problem.hint)
    }

    /// Where it is, as compilers say it: `thermometer.yaml:12:9`.
    func place(in file: String) -> String { file + (position.map { ":\($0.line):\($0.column)" } ?? "") }
}

extension Failure {
    /// A configuration that cannot work: `thermometer.yaml:12:9: unknown key "propertys"`.
    init(_ error: ConfigurationError, file: String) {
        self.init(.input, error.place(in: file), error.reason, hint: error.hint)
    }
}
