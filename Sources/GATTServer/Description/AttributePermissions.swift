import ATT
import BLECore

/// The conditions for access to an attribute (Core Specification 5.4, Vol 3, Part F, 3.2.5).
public struct AttributePermissions: Hashable, Sendable {
    /// The security level that a link must have for reading; nil if reading is never permitted.
    public var read: SecurityLevel?
    /// The security level that a link must have for writing; nil if writing is never permitted.
    public var write: SecurityLevel?
    /// Whether the application must authorize each access as well.
    public var authorize: Bool
    /// The minimum encryption key size in octets, 7 to 16, if reading or writing requires encryption; level 4
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

    /// Creates the permissions that a characteristic's properties imply: what they offer is open, the rest is
    /// forbidden.
    package init(impliedBy properties: CharacteristicProperties) {
        self.init(
            read: properties.contains(.read) ? .open : nil,
            write: properties.isDisjoint(with: .anyWrite) ? nil : .open)
    }

    /// The permissions of declarations: any client can read, no client can write.
    package static let readable = AttributePermissions(read: .open)
}

/// The security level of a link, with the size of its key.
public struct LinkSecurity: Hashable, Sendable {
    /// The level that the encryption reaches.
    public var level: SecurityLevel
    /// The size of the encryption key in octets, 7 to 16; 0 while the link is not encrypted.
    public var keySize: Int
    /// Whether there is a key from an earlier pairing, so that the client only needs to encrypt. A host
    /// reports true once the bond is on its disk.
    public var isBonded: Bool

    /// Creates the security of a link; `keySize` is in octets, and 0 for the level `open`.
    public init(level: SecurityLevel, keySize: Int = 16, isBonded: Bool = false) {
        self.level = level
        self.keySize = level == .open ? 0 : keySize
        self.isBonded = isBonded
    }

    /// A link that is not encrypted and has no key.
    public static let none = LinkSecurity(level: .open)

    /// Returns the error code, of those in Part C, Table 10.2, if this link is not secure enough for
    /// `wanted`; nil if it is.
    func refusal(of wanted: SecurityLevel?, minimumKeySize: Int) -> ATTErrorCode? {
        guard let wanted, wanted > .open else { return nil }
        if level == .open { return isBonded ? .insufficientEncryption : .insufficientAuthentication }
        if level < wanted { return .insufficientAuthentication }
        let least = wanted == .secureConnections ? 16 : minimumKeySize
        return keySize < least ? .encryptionKeySizeTooShort : nil
    }
}
