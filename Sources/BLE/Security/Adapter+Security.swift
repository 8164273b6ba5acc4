import ATT
import BLECore
import GATTServer
import HCI
import HCISocket
import Logging
import SMP

extension Adapter {
    /// Raises a link's security to `level`, if it is lower: with the key of a bond where that is good enough, else
    /// by a pairing. Returns when the link is so safe.
    ///
    /// A peripheral can only ask for that; the central has 30 s to begin.
    func secure(_ id: LinkID, _ level: LinkSecurityLevel) async throws(BLEError) {
        let link = try link(id)
        guard case .acl(let handle) = link.channel else {
            if case .socket(let channel) = link.channel { try await raise(id, on: channel, to: level) }
            return
        }
        try await link.elevation.enter(self, of: id, at: \.elevation)
        defer { link.elevation.leave() }
        // One that was given up by its caller may still succeed.
        try await settle(.encryption, on: id)
        guard !link.security.reaches(level) else { return }
        if link.role == .central, let bond = link.protection.bond, let key = bond.centralKey,
            bond.strength.reaches(level)
        {
            guard !link.protection.isBondLost else { throw .bondLost(link.peer) }
            return try await encrypt(id, handle, with: key, of: .bond(bond))
        }
        try await pair(link, level)
    }

    /// Encrypts a new link to a bonded peer, so that it knows this host again: it keeps subscriptions for it, and
    /// sends nothing of them before. A peer that has lost the bond, or a controller that cannot encrypt, is no reason
    /// to give up the link; what needs security will say so.
    func encryptIfBonded(_ id: LinkID) async throws(BLEError) {
        let link = try link(id)
        guard link.role == .central, let bond = link.protection.bond, let key = bond.centralKey else {
            return
        }
        guard case .acl(let handle) = link.channel else {
            // A kernel that has not the key would pair.
            if kernelPairing?.isSetUp == true { try await secure(id, .medium) }
            return
        }
        try await link.elevation.enter(self, of: id, at: \.elevation)
        defer { link.elevation.leave() }
        try await settle(.encryption, on: id)
        guard link.security == .none, !link.protection.isBondLost else { return }
        do throws(BLEError) {
            try await encrypt(id, handle, with: key, of: .bond(bond))
        } catch .bondLost {
            log.warning("\(link.peer) has lost the bond: its links are not encrypted until it is paired anew")
        } catch .encryption(let status) {
            log.warning("the link to \(link.peer), which is bonded, cannot be encrypted: \(status)")
        } catch {
            throw error
        }
    }

    /// A link's security has changed, or its key: the server, and who watches it, hear of that.
    func noteSecurity(_ security: LinkSecurity, of link: Link, hasNewKey: Bool = false) {
        guard security != link.security || hasNewKey else { return }
        link.security = security
        tellServerSecurity(of: link)
        if let bond = link.protection.bond, security.isBonded, !link.protection.isRestored {
            link.protection.isRestored = true
            restore(bond, of: link)
        }
        log.info(
            "the link to \(link.peer) is now \(security.level), with a key of \(security.keySize) octets")
        if link.role == .peripheral { server.tell(.security(Central(link), security)) }
        for watcher in link.watchers.values { watcher.yield(link.parameters) }
    }

    /// What the server goes by: a central that has a key for its link need only encrypt it, and is told so when it is
    /// refused (Core Specification 5.4, Vol 3, Part C, 10.3.1).
    func servedSecurity(of link: Link) -> LinkSecurity {
        var security = link.security
        if security.level == .none {
            security.isBonded = link.protection.bond != nil && !link.protection.isBondLost
        }
        return security
    }

    /// A link's security has changed, or whether there is a key for it.
    func tellServerSecurity(of link: Link) {
        server.gatt.setSecurity(servedSecurity(of: link), of: ClientID(link.id))
    }
}
