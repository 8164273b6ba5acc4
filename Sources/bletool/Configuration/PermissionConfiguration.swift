import BLECore

/// The security that reading and writing an attribute require.
struct PermissionConfiguration: Hashable, Sendable {
    /// What the link must be to read; nil: no link will do.
    var read: SecurityLevel?
    /// What the link must be to write; nil: no link will do.
    var write: SecurityLevel?
    /// The least octets of the encryption key, 7 to 16.
    var keySize = 7

    /// Whether something of it takes a key that is safe from a man in the middle.
    var needsAuthentication: Bool {
        [read, write].contains { ($0 ?? .open) >= .authenticated }
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
        if let node = fields[.read] { read = try node.word(AccessWord.self).level }
        if let node = fields[.write] { write = try node.word(AccessWord.self).level }
        if let node = fields[.authorize], try node.bool() {
            throw ConfigurationError(
                node.position, "there is no user to authorize an access, so each would be refused",
                hint: "authenticated lets those in who have paired with a passkey or by comparison")
        }
        keySize = try fields[.keySize]?.integer("a key size", in: 7...16) ?? keySize
        if let size = fields[.keySize], [read, write].allSatisfy({ ($0 ?? .open) == .open }) {
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

extension SecurityLevel {
    /// What the configuration calls the level.
    var configurationWord: String {
        switch self {
        case .open: AccessWord.open.rawValue
        case .encrypted: AccessWord.encrypted.rawValue
        case .authenticated: AccessWord.authenticated.rawValue
        case .secureConnections: AccessWord.secureConnections.rawValue
        }
    }
}

/// The configuration's words for what a link must be, and those of the command line.
private enum AccessWord: String, CaseIterable {
    case open, encrypted, authenticated, secureConnections, none, low, medium, high, fips

    var level: SecurityLevel? {
        switch self {
        case .open, .low: .open
        case .encrypted, .medium: .encrypted
        case .authenticated, .high: .authenticated
        case .secureConnections, .fips: .secureConnections
        case .none: nil
        }
    }
}
