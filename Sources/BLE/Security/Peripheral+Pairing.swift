import ATT
import GATTClient
import GATTServer
import HCISocket

extension Peripheral {
    /// The security level of the link, and the size of its key.
    public var security: LinkSecurity {
        get async throws(BLEError) { try await adapter.security(of: link) }
    }

    /// Encrypts the link so that it has at least `level`: with the key of a bond, and where that is not strong enough, by
    /// pairing, for which the adapter's `PairingDelegate` asks the user. Returns the link's security.
    ///
    /// If this call makes a bond, or the bond has no name yet, the name of the device is read and kept with the
    /// bond. The answer also shows that the device has finished pairing: some devices forget the keys of a link
    /// that ends at once.
    ///
    /// Throws `BLEError.pairing` when the devices did not pair, and `bondLost` when the peer has lost the key of
    /// an earlier pairing.
    @discardableResult
    public func pair(_ level: SecurityLevel = .encrypted) async throws(BLEError) -> LinkSecurity {
        let hadBond = try await adapter.isBonded(link)
        try await adapter.secure(link, level, isForOwnerOfAddress: true)
        let (hasBond, lacksName) = (try await adapter.isBonded(link), await adapter.lacksName(of: link))
        if hasBond, !hadBond || lacksName {
            let name = try? await adapter.run(ReadUsingUUID(.deviceName), raising: false, on: link).first?
                .value
            await adapter.noteName(name.map { String(decoding: $0, as: UTF8.self) }, of: link)
        }
        return try await adapter.security(of: link)
    }

    /// Encrypts the link with the key of the bond, if there is one, which proves that the peer is the bonded device.
    /// Throws `BLEError.bondLost` if it does not have the key.
    package func proveIdentity() async throws(BLEError) { try await adapter.encryptIfBonded(link) }
}

extension Peripheral {
    /// Writes a value without a response, signed with the key that this host gave the peripheral when they
    /// bonded (Core Specification 5.4, Vol 3, Part G, 4.9.2). This is for links that are not encrypted, as
    /// with `ConnectionOptions.encryptsIfBonded` false. On an encrypted link a signature is of no use, and
    /// this is a write without response (Part C, 10.4.1). Kernel adapters keep a link, and its encryption,
    /// for up to 2 s after its last user has left. The value can have at most the MTU minus 15 octets.
    public func writeSigned(
        _ value: [UInt8], to attribute: some AttributeReference
    ) async throws(BLEError) {
        guard try await security.level == .open else {
            return try await writeInPlaceOfSigned(value, to: attribute)
        }
        let (key, counter) = try await adapter.signature(of: link)
        try await writeSigned(value, to: attribute, with: key, counter: counter)
    }
}

extension PeripheralManager {
    /// Returns the security level of a central's link, and the size of its key.
    public func security(of central: Central) async throws(BLEError) -> LinkSecurity {
        try await adapter.security(of: central.link)
    }

    /// Asks a central to encrypt its link with at least `level`, and to pair if necessary. Returns the security
    /// of the link when the level is reached; the central has 30 s to begin.
    @discardableResult
    public func requestSecurity(
        _ level: SecurityLevel = .encrypted, of central: Central
    ) async throws(BLEError) -> LinkSecurity {
        try await adapter.secure(central.link, level)
        return try await adapter.security(of: central.link)
    }
}

extension Adapter {
    fileprivate func isBonded(_ id: LinkID) throws(BLEError) -> Bool { isBonded(try link(id)) }

    fileprivate func security(of id: LinkID) throws(BLEError) -> LinkSecurity {
        let link = try link(id)
        noteSecurity(of: link)
        return link.reportedSecurity
    }
}
