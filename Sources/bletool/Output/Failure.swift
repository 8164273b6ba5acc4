/// Why a command ends without having done what was asked: one line for people, one object for scripts, and
/// an exit status for both.
struct Failure: Error, Hashable, Sendable {
    /// The sort of failure: `kind` in JSON.
    enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The command line makes no sense.
        case usage
        /// A value, a file or a configuration makes no sense.
        case input
        case notFound
        /// The time limit passed.
        case timeout
        /// The adapter is missing or cannot be used.
        case adapter
        /// The process lacks a permission.
        case permission
        /// The peer's server refused.
        case att
        /// Pairing or encryption failed.
        case security
        /// The link was lost.
        case linkLost

        /// How the process ends.
        var status: ExitStatus {
            switch self {
            case .usage, .input: .badInput
            case .notFound, .timeout: .notFound
            case .adapter: .adapter
            case .permission: .permission
            case .att: .att
            case .security: .security
            case .linkLost: .linkLost
            }
        }
    }

    /// The sort of failure.
    var kind: Kind
    /// What failed: an option, a file and its line, a device.
    var what: String
    var why: String
    /// What to do about it, where there is something to do.
    var hint: String?
    /// The number that came with it, where there is one: an ATT error code, an HCI status, an errno.
    var number: Int?
    /// Whether the results say it already, so that with `--json` no further object does.
    var isShown = false

    init(
        _ kind: Kind, _ what: String, _ why: String, hint: String? = nil, number: Int? = nil,
        isShown: Bool = false
    ) {
        self.kind = kind
        self.what = what
        self.why = why
        self.hint = hint
        self.number = number
        self.isShown = isShown
    }

    /// A bad value of the option or file that `what` names.
    init(_ what: String, _ problem: BadInput, kind: Kind = .usage) {
        self.init(kind, what, problem.reason, hint: problem.hint)
    }

    /// `WHAT: WHY`, on one line and safe on a terminal.
    var message: String { (what.isEmpty ? why : "\(what): \(why)").oneLine }

    /// What stderr says: `bletool: WHAT: WHY`, and a line with the hint.
    var lines: [String] { ["bletool: \(message)"] + (hint.map { ["hint: \($0.oneLine)"] } ?? []) }

    /// The last line of stdout with `--json`: `code` is the exit status, and `number` only there when some
    /// protocol gave one.
    var json: JSONValue {
        .object(
            [
                .init("event", "error"), .init("kind", .string(kind.rawValue)),
                .init("message", .string(message)),
                .init("code", JSONValue(kind.status.rawValue)),
            ] + (number.map { [.init("number", JSONValue($0))] } ?? []))
    }
}

extension String {
    /// This text with line ends as spaces and without anything else that a terminal would obey.
    fileprivate var oneLine: String {
        split(whereSeparator: \.isNewline).joined(separator: " ").printable
    }
}

/// Runs `body`, which reads what `what` names, and says so in the failure.
func reading<Value>(_ what: String, _ body: () throws -> Value) throws(Failure) -> Value {
    do {
        return try body()
    } catch {
        throw Failure(what, BadInput(caught: error))
    }
}
