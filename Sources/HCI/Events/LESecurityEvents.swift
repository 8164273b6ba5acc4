import BLECore

/// The controller generated a key pair, or failed to.
package struct LEReadLocalP256PublicKeyComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.8.
    package static let definition = event(
        .readLocalP256PublicKeyComplete, "Status, Key_X_Coordinate", Self.init
    ) {
        ($0.status, $0.publicKey)
    }

    package var status: HCIStatus
    package var publicKey: P256PublicKey

    package init(status: HCIStatus = .success, publicKey: P256PublicKey) {
        (self.status, self.publicKey) = (status, publicKey)
    }
}

/// The controller derived a Diffie-Hellman key, or failed to.
package struct LEGenerateDHKeyComplete: LEEventParameters {
    /// Core Specification 5.4, Vol 4, Part E, 7.7.65.9.
    package static let definition = event(.generateDHKeyComplete, "Status, DH_Key", Self.init) {
        ($0.status, $0.key)
    }

    package var status: HCIStatus
    package var key: DHKey

    package init(status: HCIStatus = .success, key: DHKey) { (self.status, self.key) = (status, key) }
}
