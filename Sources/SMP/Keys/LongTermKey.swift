/// A key that encrypts the links with one peer (Core Specification 5.4, Vol 3, Part H, 2.4.4).
package struct LongTermKey: Hashable, Sendable {
    /// The key. The most significant octets of a key that is shorter than 16 octets are zero.
    package var value: UInt128
    /// The EDIV value that identifies the key in LE legacy pairing; 0 after LE Secure Connections.
    package var ediv: UInt16
    /// The Rand value that identifies the key in LE legacy pairing; 0 after LE Secure Connections.
    package var random: UInt64
    /// The size of the key in octets, 7 to 16.
    package var size: Int

    /// Creates a key of `size` octets.
    package init(_ value: UInt128, ediv: UInt16 = 0, random: UInt64 = 0, size: Int = 16) {
        self.value = value
        self.ediv = ediv
        self.random = random
        self.size = size
    }
}

/// The security properties of the pairing that generated a key.
public struct PairingStrength: Hashable, Sendable {
    /// Whether the pairing was protected against a man in the middle, by passkey entry, numeric comparison or
    /// out-of-band data.
    public var isAuthenticated: Bool
    /// Whether the pairing used LE Secure Connections.
    public var isSecureConnections: Bool
    /// The size of the key in octets, 7 to 16.
    public var keySize: Int

    package init(isAuthenticated: Bool, isSecureConnections: Bool, keySize: Int = 16) {
        self.isAuthenticated = isAuthenticated
        self.isSecureConnections = isSecureConnections
        self.keySize = keySize
    }

    /// Returns whether this strength is below `other` in any respect: authentication, LE Secure Connections
    /// or key size.
    package func isWeaker(than other: PairingStrength) -> Bool {
        !isAuthenticated && other.isAuthenticated || !isSecureConnections && other.isSecureConnections
            || keySize < other.keySize
    }
}
