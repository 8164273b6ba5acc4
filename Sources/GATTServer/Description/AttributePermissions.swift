import ATT

/// What a client's link must be before an attribute may be read or written (Core Specification 5.4, Vol 3,
/// Part F, 3.2.5, and Part C, 10.3.1).
public enum AttributeAccess: UInt8, Hashable, Sendable {
    /// No link will do.
    case none
    /// Any link will do.
    case open
    /// The link is encrypted.
    case encrypted
    /// The link is encrypted with a key from a pairing that was safe against a man in the middle.
    case authenticated
    /// The same, and the pairing was LE Secure Connections.
    case secureConnections
}

/// Who may do what with an attribute (Core Specification 5.4, Vol 3, Part F, 3.2.5).
public struct AttributePermissions: Hashable, Sendable {
    /// What reading wants.
    public var read: AttributeAccess
    /// What writing wants.
    public var write: AttributeAccess
    /// Whether the application is asked as well.
    public var authorize: Bool
    /// The least octets of the encryption key, 7 to 16, where reading or writing wants encryption.
    public var minimumKeySize: Int

    /// Permissions for reading and writing.
    public init(
        read: AttributeAccess, write: AttributeAccess = .none, authorize: Bool = false,
        minimumKeySize: Int = 7
    ) {
        self.read = read
        self.write = write
        self.authorize = authorize
        self.minimumKeySize = minimumKeySize
    }

    /// What a characteristic's properties imply: what they offer is open, the rest is closed.
    package init(impliedBy properties: CharacteristicProperties) {
        self.init(
            read: properties.contains(.read) ? .open : .none,
            write: properties.isDisjoint(with: .anyWrite) ? .none : .open)
    }

    /// Anybody may read, nobody may write: declarations.
    package static let readable = AttributePermissions(read: .open)
}

/// How safe a link is.
public struct LinkSecurity: Hashable, Sendable {
    /// What the link's encryption is worth, in the order of its worth.
    public enum Level: UInt8, Hashable, Comparable, Sendable {
        /// Not encrypted.
        case none
        /// Encrypted; nobody knows with whom.
        case encrypted
        /// Encrypted with a key from a pairing safe against a man in the middle.
        case authenticated
        /// The same, by LE Secure Connections.
        case secureConnections

        /// Orders by worth.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// What the encryption is worth.
    public var level: Level
    /// Octets of the encryption key, 7 to 16; 0 while the link is not encrypted.
    public var keySize: Int
    /// Whether a key from an earlier pairing is there, so that the client need only encrypt.
    public var isBonded: Bool

    /// A link of a level.
    public init(level: Level, keySize: Int = 16, isBonded: Bool = false) {
        self.level = level
        self.keySize = level == .none ? 0 : keySize
        self.isBonded = isBonded
    }

    /// A link that is not encrypted and has no key.
    public static let none = LinkSecurity(level: .none)

    /// Why this link is not enough for `access`, in the codes of Part C, Table 10.2; nil when it is.
    func refusal(of access: AttributeAccess, minimumKeySize: Int) -> ATTErrorCode? {
        let wanted: Level
        switch access {
        case .none, .open: return nil
        case .encrypted: wanted = .encrypted
        case .authenticated: wanted = .authenticated
        case .secureConnections: wanted = .secureConnections
        }
        if level == .none { return isBonded ? .insufficientEncryption : .insufficientAuthentication }
        if level < wanted { return .insufficientAuthentication }
        return keySize < minimumKeySize ? .encryptionKeySizeTooShort : nil
    }
}
