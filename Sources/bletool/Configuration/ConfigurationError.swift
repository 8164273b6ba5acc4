/// A position in a file, counted as editors do.
struct SourcePosition: Hashable, Sendable {
    /// The number of the line, from 1.
    var line: Int
    /// The column in characters, from 1.
    var column: Int
}

/// The reason why a configuration is invalid, with its position.
struct ConfigurationError: Error, Hashable, Sendable {
    /// The position of the problem, or nil if it concerns the whole file.
    var position: SourcePosition?
    /// The description of the problem, in one line.
    var reason: String
    /// A suggestion for solving the problem, if there is one.
    var hint: String?

    init(_ position: SourcePosition?, _ reason: String, hint: String? = nil) {
        self.position = position
        self.reason = reason
        self.hint = hint
    }

    /// Creates the error for an invalid text.
    init(_ position: SourcePosition?, _ problem: BadInput) {
        self.init(position, problem.reason, hint: problem.hint)
    }

    /// Returns the place in the notation of compilers: `thermometer.yaml:12:9`.
    func place(in file: String) -> String { file + (position.map { ":\($0.line):\($0.column)" } ?? "") }
}

extension Failure {
    /// Creates the failure for an invalid configuration: `thermometer.yaml:12:9: unknown key "propertys"`.
    init(_ error: ConfigurationError, file: String) {
        self.init(.input, error.place(in: file), error.reason, hint: error.hint)
        line = error.position?.line
    }
}
