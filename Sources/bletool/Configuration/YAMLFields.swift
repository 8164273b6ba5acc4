/// A mapping with known keys: the raw values of the cases of `Key`.
struct YAMLFields<Key: RawRepresentable & CaseIterable> where Key.RawValue == String {
    /// What the mapping describes, as in "a service".
    let what: String
    let position: SourcePosition
    private let entries: [String: YAMLNode.Entry]

    /// Creates the fields of a node, which must be a mapping without other keys.
    init(_ node: YAMLNode, _ what: String) throws(ConfigurationError) {
        guard case .mapping(let entries) = node.content else {
            throw node.isNot(what, hint: "its keys are \(Key.names.joined(lastBy: "and"))")
        }
        for entry in entries {
            guard Key(rawValue: entry.key) != nil else {
                throw ConfigurationError(
                    entry.position,
                    "\(what) has no key \(entry.key.quoted)\(Key.names.suggestion(for: entry.key))",
                    hint: "its keys are \(Key.names.joined(lastBy: "and"))")
            }
            if entry.value.isNull {
                throw ConfigurationError(entry.position, "\(entry.key.quoted) has no value")
            }
        }
        self.what = what
        position = node.position
        self.entries = Dictionary(entries.map { ($0.key, $0) }) { first, _ in first }
    }

    /// Returns the value of an optional key, or nil if it is missing.
    subscript(key: Key) -> YAMLNode? { entries[key.rawValue]?.value }

    /// Returns the value of a required key.
    func required(_ key: Key) throws(ConfigurationError) -> YAMLNode {
        guard let node = self[key] else {
            throw ConfigurationError(position, "\(what) needs the key \(key.rawValue.quoted)")
        }
        return node
    }

    /// Returns the position of a key, or of the mapping if the key is missing.
    func position(of key: Key) -> SourcePosition { entries[key.rawValue]?.position ?? position }
}

extension CaseIterable where Self: RawRepresentable, RawValue == String {
    /// The raw values of all cases, in order.
    static var names: [String] { allCases.map(\.rawValue) }
}
