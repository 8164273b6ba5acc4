/// A node of a YAML document. Scalars stay the text that they are in the file, so `1809` and `2e01` are
/// not taken for numbers before a caller asks for one.
struct YAMLNode: Hashable, Sendable {
    /// Where it begins; for the target of an alias, where the target does.
    var position: SourcePosition
    var content: Content

    /// What a node is.
    enum Content: Hashable, Sendable {
        /// Text; `isPlain` when it has no quotes and is no block.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        /// Keys and their values, in the order of the file, each key once.
        case mapping([Entry])
    }

    /// A key and its value.
    struct Entry: Hashable, Sendable {
        var key: String
        /// Where the key begins.
        var position: SourcePosition
        var value: YAMLNode
    }

    /// Whether nothing is there, or `null`.
    var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return ["", "~", "null"].contains(text)
    }

    /// What it is, for messages.
    var kind: String {
        switch content {
        case _ where isNull: "nothing"
        case .scalar(let text, _): text.quoted
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }

    /// The error that this node is not `wanted`.
    func isNot(_ wanted: String, hint: String? = nil) -> ConfigurationError {
        ConfigurationError(position, "\(wanted) should be here, not \(kind)", hint: hint)
    }
}
