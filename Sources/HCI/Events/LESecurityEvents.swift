import BLECore

/// The controller made a key pair, or did not.
public struct LEReadLocalP256PublicKeyComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.8.
    public static let definition = event(.readLocalP256PublicKeyComplete, "status, public key", Self.init) {
        ($0.status, $0.publicKey)
    }

    /// How it went.
    public var status: HCIStatus
    /// The public key.
    public var publicKey: P256PublicKey

    /// That key.
    public init(status: HCIStatus = .success, publicKey: P256PublicKey) {
        (self.status, self.publicKey) = (status, publicKey)
    }
}

/// The controller derived a Diffie-Hellman key, or did not.
public struct LEGenerateDHKeyComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.9.
    public static let definition = event(.generateDHKeyComplete, "status, key", Self.init) {
        ($0.status, $0.key)
    }

    /// How it went.
    public var status: HCIStatus
    /// The key.
    public var key: DHKey

    /// That key.
    public init(status: HCIStatus = .success, key: DHKey) { (self.status, self.key) = (status, key) }
}
