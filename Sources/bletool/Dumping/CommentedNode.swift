import BLECore

/// A part of a configuration to write: YAML with comments, or JSON, which is also YAML.
indirect enum CommentedNode: Hashable, Sendable {
    /// A word or UUID, which needs no quotes.
    case word(String)
    /// Any text, in quotes.
    case text(String)
    case number(Int)
    /// A handle: `0x0012` in YAML, its number in JSON.
    case handle(AttributeHandle)
    case flag(Bool)
    /// A list on one line.
    case row([CommentedNode])
    /// A mapping on one line.
    case fields([Field])
    /// A list with one or more lines for each item.
    case list([Item])
    /// A mapping with one or more lines for each key.
    case mapping([Field])

    /// A key, its value, and the comment behind them.
    struct Field: Hashable, Sendable {
        var key: String
        var value: CommentedNode
        /// The YAML comment of this field; JSON has none.
        var comment: String?

        init(_ key: String, _ value: CommentedNode, _ comment: String? = nil) {
            self.key = key
            self.value = value
            self.comment = comment
        }
    }

    struct Item: Hashable, Sendable {
        /// The entry, or nil if only a comment remains of it.
        var node: CommentedNode?
        /// The YAML comment: behind an entry of one line, otherwise above the entry.
        var comment: String?
    }
}

extension CommentedNode {
    /// The node as JSON, without the comments.
    var json: JSONValue {
        switch self {
        case .word(let text), .text(let text): JSONValue(text)
        case .number(let number): JSONValue(number)
        case .handle(let handle): JSONValue(handle)
        case .flag(let flag): .bool(flag)
        case .row(let nodes): .array(nodes.map(\.json))
        case .list(let items): .array(items.compactMap(\.node?.json))
        case .fields(let fields), .mapping(let fields):
            .object(fields.map { JSONValue.Member($0.key, $0.value.json) })
        }
    }

    /// The lines of the node as YAML.
    var yaml: [String] {
        switch self {
        case .mapping(let fields): fields.flatMap(\.yaml)
        case .list(let items): items.flatMap(\.yaml)
        default: [line]
        }
    }

    /// The node as YAML on one line.
    fileprivate var line: String {
        switch self {
        case .word(let text): text
        case .handle(let handle): "\(handle)"
        case .row(let nodes): "[\(nodes.map(\.line).joined(separator: ", "))]"
        case .fields(let fields): "{\(fields.map { "\($0.key): \($0.value.line)" }.joined(separator: ", "))}"
        case .text, .number, .flag, .list, .mapping: "\(json)"
        }
    }

    fileprivate var isBlock: Bool {
        switch self {
        case .list(let items): !items.isEmpty
        case .mapping: true
        default: false
        }
    }
}

extension CommentedNode.Field {
    fileprivate var yaml: [String] {
        guard value.isBlock else { return ["\(key): \(value.line)" + Self.behind(comment)] }
        return ["\(key):" + Self.behind(comment)] + value.yaml.map { "  \($0)" }
    }

    fileprivate static func behind(_ comment: String?) -> String {
        comment.map { "  # \($0.printable)" } ?? ""
    }
}

extension CommentedNode.Item {
    fileprivate var yaml: [String] {
        let above = comment.map { ["# \($0.printable)"] } ?? []
        guard let node else { return above }
        guard node.isBlock else { return ["- \(node.line)" + CommentedNode.Field.behind(comment)] }
        return above
            + node.yaml.enumerated().map { index, line in (index == 0 ? "- " : "  ") + line }
    }
}
