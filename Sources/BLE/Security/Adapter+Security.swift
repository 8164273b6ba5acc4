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
    func secure(_ id: LinkID, _ level: SecurityLevel) async throws(BLEError) {
        let link = try link(id)
        guard case .acl(let handle) = link.channel else {
            if case .socket(let channel) = link.channel { try await raise(id, on: channel, to: level) }
            return
        }
        try await link.elevation.enter(self, of: id, at: \.elevation)
        defer { link.elevation.leave() }
        // One that was given up by its caller may still succeed.
        try await settle(.encryption, on: id)
        switch link.protection.way(to: level) {
        case .reached: break
        case .encryption(let key, let bond): try await encrypt(id, handle, with: key, of: .bond(bond))
        case .pairing: try await pair(link, level)
        case .lost: throw .bondLost(link.peer)
        }
    }

    /// Encrypts a new link to a bonded peer, so that it knows this host again: it keeps subscriptions for it, and
    /// sends nothing of them before. A peer that has lost the bond, or a controller that cannot encrypt, is no reason
    /// to give up the link; what needs security will say so.
    func encryptIfBonded(_ id: LinkID) async throws(BLEError) {
        let link = try link(id)
        guard link.protection.ownKey != nil else { return }
        guard case .acl(let handle) = link.channel else {
            // A kernel that has not the key would pair.
            if kernelPairing?.isSetUp == true { try await secure(id, .encrypted) }
            return
        }
        try await link.elevation.enter(self, of: id, at: \.elevation)
        defer { link.elevation.leave() }
        try await settle(.encryption, on: id)
        guard let (key, bond) = link.protection.ownKey, link.security == .none, !link.protection.isBondLost
        else { return }
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
}
