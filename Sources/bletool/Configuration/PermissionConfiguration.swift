import BLECore

/// The security that reading, writing and subscribing to an attribute require.
struct PermissionConfiguration: Hashable, Sendable {
    /// The security level that reading requires, or nil if reading is not permitted.
    var read: SecurityLevel?
    /// The security level that writing requires, or nil if writing is not permitted.
    var write: SecurityLevel?
    /// The security level that subscribing to a characteristic requires, or nil for that of reading.
    var subscribe: SecurityLevel?
    /// The minimum encryption key size in octets, 7 to 16.
    var keySize = 7

    /// Whether reading, writing or subscribing requires a key that is protected against a man in the middle.
    var needsAuthentication: Bool {
        [read, write, subscribe].contains { ($0 ?? .open) >= .authenticated }
    }

    /// Returns the security level that subscribing to a characteristic with these properties requires; nil for
    /// that of reading.
    func subscription(for properties: Set<CharacteristicProperty>) -> SecurityLevel? {
        guard properties.contains(where: \.requiresEncryption) else { return subscribe }
        return max(subscribe ?? read ?? .open, .encrypted)
    }
}

extension PermissionConfiguration {
    private enum Key: String, CaseIterable { case read, write, subscribe, authorize, keySize }

    /// Reads the permissions, with those in `implied` for the keys that the file does not contain. A key size
    /// needs an access that requires encryption.
    fileprivate init(
        _ node: YAMLNode, implied: PermissionConfiguration, requiresEncryption: Bool
    ) throws(ConfigurationError) {
        self = implied
        let fields = try YAMLFields<Key>(node, "permissions")
        if let node = fields[.read] { read = try node.word(AccessWord.self).level }
        if let node = fields[.write] { write = try node.word(AccessWord.self).level }
        if let node = fields[.subscribe] {
            subscribe = try node.word(AccessWord.self).level
            if subscribe == nil {
                throw ConfigurationError(
                    node.position, "subscribe is a security level, so none is not possible",
                    hint: "without notify and indicate in the properties, no central can subscribe")
            }
        }
        if let node = fields[.authorize], try node.bool() {
            throw ConfigurationError(
                node.position, "there is no user to authorize an access, so each would be refused",
                hint: "authenticated lets those in who have paired with a passkey or by comparison")
        }
        keySize = try fields[.keySize]?.integer("a key size", in: 7...16) ?? keySize
        let isOpen = [read, write, subscribe].allSatisfy { ($0 ?? .open) == .open }
        if let size = fields[.keySize], isOpen, !requiresEncryption {
            throw ConfigurationError(
                size.position, "a key size without encryption",
                hint: "for example {read: encrypted, keySize: 16}")
        }
    }
}

extension YAMLNode {
    /// Returns the permissions, with those in `implied` for the keys that the file does not contain.
    /// `requiresEncryption` means that the properties require it.
    func permissions(
        implied: PermissionConfiguration, requiresEncryption: Bool = false
    ) throws(ConfigurationError) -> PermissionConfiguration {
        try PermissionConfiguration(self, implied: implied, requiresEncryption: requiresEncryption)
    }
}

extension SecurityLevel {
    /// The name of the level in configurations.
    var configurationWord: String {
        switch self {
        case .open: AccessWord.open.rawValue
        case .encrypted: AccessWord.encrypted.rawValue
        case .authenticated: AccessWord.authenticated.rawValue
        case .secureConnections: AccessWord.secureConnections.rawValue
        }
    }
}

/// The names of security levels in configurations, and those on the command line.
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
