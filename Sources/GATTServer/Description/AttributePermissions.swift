import ATT
import BLECore

/// Who may do what with an attribute (Core Specification 5.4, Vol 3, Part F, 3.2.5).
public struct AttributePermissions: Hashable, Sendable {
    /// The level that a link must have for reading; nil: reading is never permitted.
    public var read: SecurityLevel?
    /// The level that a link must have for writing; nil: writing is never permitted.
    public var write: SecurityLevel?
    /// Whether the application is asked as well.
    public var authorize: Bool
    /// The least octets of the encryption key, 7 to 16, where reading or writing requires encryption; level 4
    /// requires 16.
    public var minimumKeySize: Int

    /// Creates permissions; nil forbids reading or writing.
    public init(
        read: SecurityLevel?, write: SecurityLevel? = nil, authorize: Bool = false,
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
            read: properties.contains(.read) ? .open : nil,
            write: properties.isDisjoint(with: .anyWrite) ? nil : .open)
    }

    /// Any client may read, no client may write: declarations.
    package static let readable = AttributePermissions(read: .open)
}

/// The security level of a link, with the size of its key.
public struct LinkSecurity: Hashable, Sendable {
    /// The level that the encryption reaches.
    public var level: SecurityLevel
    /// Octets of the encryption key, 7 to 16; 0 while the link is not encrypted.
    public var keySize: Int
    /// Whether a key from an earlier pairing is there, so that the client need only encrypt. What a host reports is
    /// bonded when its disk has the bond.
    public var isBonded: Bool

    /// Creates the security of a link; `keySize` is in octets, and 0 for the level `open`.
    public init(level: SecurityLevel, keySize: Int = 16, isBonded: Bool = false) {
        self.level = level
        self.keySize = level == .open ? 0 : keySize
        self.isBonded = isBonded
    }

    /// A link that is not encrypted and has no key.
    public static let none = LinkSecurity(level: .open)

    /// Why this link is not enough for `wanted`, in the codes of Part C, Table 10.2; nil when it is.
    func refusal(of wanted: SecurityLevel?, minimumKeySize: Int) -> ATTErrorCode? {
        guard let wanted, wanted > .open else { return nil }
        if level == .open { return isBonded ? .insufficientEncryption : .insufficientAuthentication }
        if level < wanted { return .insufficientAuthentication }
        let least = wanted == .secureConnections ? 16 : minimumKeySize
        return keySize < least ? .encryptionKeySizeTooShort : nil
    }
}
