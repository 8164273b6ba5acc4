import BLECore
import GATTServer
import HCI
import HCISocket
import SMP

/// New keys for a link that is encrypted already. Data wait while the controllers change them, and none is lost (Core
/// Specification 5.4, Vol 6, Part B, 5.1.3.2).
extension Adapter {
    /// Gives an encrypted link another session key, made from the long term key that the bond has; the peripheral asks
    /// its central for that (Vol 3, Part H, 2.4.6). Returns when the link has it.
    func refreshEncryption(of id: LinkID) async throws(BLEError) {
        let (link, handle) = try bondedLink(id)
        try await link.elevation.enter(self, of: id, at: \.elevation)
        defer { link.elevation.leave() }
        guard link.role == .central else { return try await pair(link, .encrypted) }
        guard let (key, bond) = link.protection.ownKey else {
            throw .invalidRequest(.noEncryptionKey(link.peer))
        }
        try await encrypt(id, handle, with: key, of: .bond(bond))
    }

    /// Pairs with a bonded peer anew, on a link that shows with the present key who it is: the next one takes its
    /// place, and is worth no less.
    func renewBond(of id: LinkID, _ level: SecurityLevel) async throws(BLEError) {
        let (link, _) = try bondedLink(id)
        guard link.role == .central else {
            throw .invalidRequest(.onlyCentralPairs)
        }
        try await link.elevation.enter(self, of: id, at: \.elevation)
        defer { link.elevation.leave() }
        try await pair(link, level)
    }

    /// A link of ours that is encrypted with the key of a bond.
    private func bondedLink(_ id: LinkID) throws(BLEError) -> (Link, ConnectionHandle) {
        let link = try link(id)
        guard case .acl(let handle) = link.channel else {
            throw .adapter(.unsupported(.keyRefresh))
        }
        guard link.security.isBonded, link.protection.bond != nil else {
            throw .invalidRequest(.notEncryptedByBond(link.peer))
        }
        return (link, handle)
    }
}

extension Peripheral {
    /// Gives the encrypted link another session key, made from the key of the bond, which stays: for links that are up
    /// for very long. What is sent meanwhile waits, and none of it is lost.
    ///
    /// For another bond see `renewBond`. `BLEError.bondLost`: the peripheral has no key any more, and a link that was
    /// encrypted ends with that (Core Specification 5.4, Vol 6, Part B, 5.1.3.2).
    public func refreshEncryption() async throws(BLEError) { try await adapter.refreshEncryption(of: link) }

    /// Pairs anew with a peripheral that is bonded and whose link is encrypted with that: all keys of the bond are
    /// replaced, on both sides, by such of a pairing that is worth no less. Returns what the link is worth then.
    ///
    /// Only where another key is what is meant: `refreshEncryption` is enough against too much data under one key, and
    /// a peer that has lost its bond cannot be paired with by this.
    @discardableResult
    public func renewBond(_ level: SecurityLevel = .encrypted) async throws(BLEError) -> LinkSecurity {
        try await adapter.renewBond(of: link, level)
        return try await security
    }
}

extension PeripheralManager {
    /// Asks a bonded central for another session key, made from the key of the bond, which stays. Returns when the link
    /// has it; the central has 30 s.
    public func refreshEncryption(of central: Central) async throws(BLEError) {
        try await adapter.refreshEncryption(of: central.link)
    }
}
