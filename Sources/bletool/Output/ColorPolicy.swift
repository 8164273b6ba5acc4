import Glibc

/// When text output is colored: the argument of `--color`.
enum ColorPolicy: String, Hashable, CaseIterable, Sendable {
    /// On a terminal, unless NO_COLOR (no-color.org) is set or the terminal is a dumb one.
    case auto
    /// Colors in pipes and files as well.
    case always
    case never

    /// Returns whether to color output, given whether it goes to a terminal.
    func allows(terminal: Bool, environment: (String) -> String? = Environment.value) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto: terminal && (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"
        }
    }
}

/// The styles of text output.
enum Style: String, Hashable, Sendable {
    case bold = "1"
    case dim = "2"
    case reversed = "7"
    case red = "31"
    /// The style of names and addresses, which users look for.
    case cyan = "36"

    /// Returns `text` in this style if `colored`, otherwise unchanged.
    func callAsFunction(_ text: some StringProtocol, when colored: Bool) -> String {
        colored && !text.isEmpty ? "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" : String(text)
    }
}

/// Reads the process's environment variables.
enum Environment {
    /// The value of a variable, or nil when it is not set or empty.
    static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
