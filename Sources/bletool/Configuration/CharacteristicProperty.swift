/// What can be done with a characteristic, in the words of Core Bluetooth (Core Specification 5.4, Vol 3,
/// Part G, 3.3.1.1 and 3.3.3.1).
enum CharacteristicProperty: String, Hashable, Sendable, CaseIterable {
    case broadcast
    case read
    case writeWithoutResponse
    case write
    case notify
    case indicate
    case signedWrite
    /// There is an Extended Properties descriptor.
    case extended
    /// Notifies those whose link is encrypted.
    case notifyEncryptionRequired
    /// Indicates to those whose link is encrypted.
    case indicateEncryptionRequired

    /// Whether centrals can subscribe.
    var isSubscribable: Bool {
        switch self {
        case .notify, .indicate, .notifyEncryptionRequired, .indicateEncryptionRequired: true
        default: false
        }
    }

    /// Whether centrals can write.
    var isWritable: Bool { [.write, .writeWithoutResponse, .signedWrite].contains(self) }
}

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
    /// Whether somebody must agree to each access.
    var needsAuthorization = false
    /// The least octets of the encryption key, 7 to 16.
    var keySize = 7
}

extension PermissionConfiguration {
    private enum Key: String, CaseIterable { case read, write, authorize, keySize }

    /// What properties imply, changed by what the file says.
    init(_ node: YAMLNode?, implied: PermissionConfiguration) throws(ConfigurationError) {
        self = implied
        guard let node else { return }
        let fields = try YAMLFields<Key>(node, "permissions")
        read = try fields[.read]?.word() ?? read
        write = try fields[.write]?.word() ?? write
        needsAuthorization = try fields[.authorize]?.bool() ?? false
        keySize = try fields[.keySize]?.integer("a key size", in: 7...16) ?? keySize
        if let size = fields[.keySize], ![read, write].contains(where: { $0 != .open && $0 != .none }) {
            throw ConfigurationError(
                size.position, "a key size without encryption",
                hint: "for example {read: encrypted, keySize: 16}")
        }
    }
}
