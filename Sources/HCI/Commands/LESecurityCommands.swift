import BLECore

package struct LEEncrypt: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.22.
    package static let definition = command(.leEncrypt, "Key, Plaintext_Data", Self.init) {
        ($0.key, $0.plaintext)
    }
    /// The ciphertext; its most significant octet is out[0] of FIPS 197.
    package typealias ReturnParameters = Returned<UInt128>

    /// The key; its most significant octet is key[0] of FIPS 197.
    package var key: UInt128
    /// The block; its most significant octet is in[0] of FIPS 197.
    package var plaintext: UInt128

    package init(key: UInt128, plaintext: UInt128) { (self.key, self.plaintext) = (key, plaintext) }
}

/// Reads 64 random bits.
package struct LERand: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.23.
    package static let definition = command(.leRand, "", Self.init) { _ in }
    package typealias ReturnParameters = Returned<UInt64>

    package init() {}
}

/// Encrypts a connection; for the central. Encryption Change or Encryption Key Refresh Complete follows.
package struct LEEnableEncryption: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.24.
    package static let definition = command(
        .leEnableEncryption,
        "Connection_Handle, Random_Number, Encrypted_Diversifier, Long_Term_Key", Self.init
    ) {
        ($0.connection, $0.random, $0.diversifier, $0.key)
    }
    /// Encryption Change or Encryption Key Refresh Complete follows.
    package static let answer = HCIAnswer.status

    package var connection: ConnectionHandle
    /// The random number that identifies the key together with `diversifier`; zero for an LE Secure
    /// Connections key.
    package var random: UInt64
    /// The diversifier that identifies the key together with `random`; zero for an LE Secure Connections key.
    package var diversifier: UInt16
    /// The long term or short term key.
    package var key: UInt128

    package init(connection: ConnectionHandle, random: UInt64 = 0, diversifier: UInt16 = 0, key: UInt128) {
        (self.connection, self.random, self.diversifier, self.key) = (connection, random, diversifier, key)
    }
}

/// Supplies the key that LE Long Term Key Request requested.
package struct LELongTermKeyRequestReply: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.25.
    package static let definition = command(
        .leLongTermKeyRequestReply, "Connection_Handle, Long_Term_Key", Self.init
    ) {
        ($0.connection, $0.key)
    }
    package typealias ReturnParameters = Returned<ConnectionHandle>

    package var connection: ConnectionHandle
    package var key: UInt128

    package init(connection: ConnectionHandle, key: UInt128) {
        (self.connection, self.key) = (connection, key)
    }
}

/// Reports that there is no key for LE Long Term Key Request.
package struct LELongTermKeyRequestNegativeReply: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.26.
    package static let definition = command(
        .leLongTermKeyRequestNegativeReply, "Connection_Handle", Self.init
    ) {
        $0.connection
    }
    package typealias ReturnParameters = Returned<ConnectionHandle>

    package var connection: ConnectionHandle

    /// Creates a command that rejects encryption, because this host has no key for `connection`.
    package init(connection: ConnectionHandle) { self.connection = connection }
}

/// Makes the controller generate a P-256 key pair. LE Read Local P-256 Public Key Complete follows.
package struct LEReadLocalP256PublicKey: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.36.
    package static let definition = command(.leReadLocalP256PublicKey, "", Self.init) { _ in }
    /// LE Read Local P-256 Public Key Complete follows.
    package static let answer = HCIAnswer.status

    package init() {}
}

/// Derives a Diffie-Hellman key from the controller's private key. LE Generate DHKey Complete follows.
package struct LEGenerateDHKey: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.37.
    package static let definition = command(.leGenerateDHKey, "Key_X_Coordinate", Self.init) { $0.publicKey }
    /// LE Generate DHKey Complete follows.
    package static let answer = HCIAnswer.status

    /// The peer's public key on the P-256 curve.
    package var publicKey: P256PublicKey

    package init(publicKey: P256PublicKey) { self.publicKey = publicKey }
}

/// Derives a Diffie-Hellman key from the controller's private key, or from the specification's debug key. LE
/// Generate DHKey Complete follows.
package struct LEGenerateDHKeyV2: HCICommand {
    /// Core Specification 5.4, Vol 4, Part E, 7.8.37.
    package static let definition = command(.leGenerateDHKeyV2, "Key_X_Coordinate, Key_Type", Self.init) {
        ($0.publicKey, $0.keyType)
    }
    /// LE Generate DHKey Complete follows.
    package static let answer = HCIAnswer.status

    /// The private key from which the controller derives the Diffie-Hellman key.
    package struct KeyType: HCICode {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The private key that LE Read Local P-256 Public Key generated.
        package static let generated = KeyType(rawValue: 0x00)
        /// The debug private key, which is publicly known.
        package static let debug = KeyType(rawValue: 0x01)
    }

    /// The peer's public key on the P-256 curve.
    package var publicKey: P256PublicKey
    package var keyType: KeyType

    package init(publicKey: P256PublicKey, keyType: KeyType = .generated) {
        (self.publicKey, self.keyType) = (publicKey, keyType)
    }
}
