/// What a link must be for an access.
enum AccessLevel: String, Hashable, Sendable, CaseIterable {
    /// Anything.
    case open
    /// Encrypted.
    case encrypted
    /// Encrypted with a key that is safe from a man in the middle.
    case authenticated
    /// That, by LE Secure Connections.
    case secureConnections
    /// Nothing helps.
    case none
}

/// Who may read and write an attribute.
struct PermissionConfiguration: Hashable, Sendable {
    /// What the link must be to read.
    var read = AccessLevel.none
    /// What the link must be to write.
    var write = AccessLevel.none
    /// The least octets of the encryption key, 7 to 16.
    var keySize = 7

    /// Whether something of it takes a key that is safe from a man in the middle.
    var needsAuthentication: Bool {
        [read, write].contains { $0 == .authenticated || $0 == .secureConnections }
    }
}

extension PermissionConfiguration {
    private enum Key: String, CaseIterable { case read, write, authorize, keySize }

    /// What is implied, changed by what the file says.
    fileprivate init(
        _ node: YAMLNode, implied: PermissionConfiguration
    ) throws(ConfigurationError) {
        self = implied
        let fields = try YAMLFields<Key>(node, "permissions")
        read = try fields[.read]?.word() ?? read
        write = try fields[.write]?.word() ?? write
        if let node = fields[.authorize], try node.bool() {
            throw ConfigurationError(
                node.position, "nobody can be asked to authorize an access, so none would be let in",
                hint: "authenticated lets those in who have paired with a passkey or by comparison")
        }
        keySize = try fields[.keySize]?.integer("a key size", in: 7...16) ?? keySize
        if let size = fields[.keySize], ![read, write].contains(where: { $0 != .open && $0 != .none }) {
            throw ConfigurationError(
                size.position, "a key size without encryption",
                hint: "for example {read: encrypted, keySize: 16}")
        }
    }
}

extension YAMLNode {
    /// The permissions that are implied, changed by what the file says.
    func permissions(
        implied: PermissionConfiguration
    ) throws(ConfigurationError) -> PermissionConfiguration {
        try PermissionConfiguration(self, implied: implied)
    }
}
