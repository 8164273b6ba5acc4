import ATT
import BLECore
import GATT
import GATTServer
import HCI
import HCISocket
import Logging
import SMP

extension Adapter {
    /// Raises a link's security to `level`, if it is lower: with the key of a bond if that is strong enough,
    /// else by pairing. Returns when the link has reached the level, and a bond that was made on it is on the
    /// disk.
    ///
    /// A peripheral can only request that; the central has 30 s to begin.
    ///
    /// With `isForOwnerOfAddress`, which only the user can decide, a peer that does not have the key of a device that has
    /// claimed its address gets a bond of its own.
    func secure(
        _ id: LinkID, _ level: SecurityLevel, isForOwnerOfAddress: Bool = false
    ) async throws(BLEError) {
        let (link, callers) = (try link(id), try callers(of: id))
        guard case .acl(let handle) = link.channel else {
            if case .socket(let channel) = link.channel { try await raise(id, on: channel, to: level) }
            return try await saveBond(of: link, callers)
        }
        let turn = try await enter(\.elevation, of: id)
        defer { turn.leave() }
        // An encryption that its caller has given up may still succeed.
        try await settle(.encryption, on: id)
        do throws(BLEError) {
            switch link.protection.way(to: level) {
            case .reached: break
            case .encryption(let key, let bond):
                try await encrypt(id, handle, with: key, of: bond)
                if !bond.strength.reaches(level) { try await pair(link, level) }
            case .pairing: try await pair(link, level)
            case .lost: throw .bondLost(link.peer)
            }
        } catch .bondLost(let peer) {
            guard isForOwnerOfAddress, let claimed = link.protection.bond, link.doubts(claimed) else {
                throw .bondLost(peer)
            }
            link.protection.dropBond()
            protect(link)
            link.pairing.policy.existing = claimed.strength
            try await pair(link, level)
        }
        try await saveBond(of: link, callers)
    }

    /// Encrypts a link to a bonded peer with the bond's key, which proves the peer's identity, before anything of
    /// the user is sent or received on it. A peer that does not have the key has lost the bond, or is another
    /// device that uses the peer's address: then the link must not be used.
    func encryptIfBonded(_ id: LinkID) async throws(BLEError) {
        let link = try link(id)
        guard case .acl(let handle) = link.channel else { return try await encryptByKernel(id) }
        guard knownBond(of: link) != nil, !link.security.isBonded else { return }
        guard link.role == .central else {
            // Only the central encrypts. It may have pretended to be the bonded device.
            guard link.protection.bond != nil else { throw .bondLost(link.peer) }
            try await secure(id, .encrypted)
            guard link.security.isBonded else { throw .bondLost(link.peer) }
            return
        }
        let turn = try await enter(\.elevation, of: id)
        defer { turn.leave() }
        try await settle(.encryption, on: id)
        guard link.protection.bond != nil, !link.security.isBonded else { return }
        guard let (key, bond) = link.protection.ownKey else {
            throw .invalidRequest(.noEncryptionKey(link.peer))
        }
        guard !link.protection.isBondLost else { throw .bondLost(link.peer) }
        try await encrypt(id, handle, with: key, of: bond)
    }
}

extension Adapter {
    /// Raises a link's security because the server refused a request with `code`, if the link's options allow
    /// that. Returns false when nothing can be raised, so that the request would be refused again.
    ///
    /// On kernel links, the kernel raises the security through the link's socket, and pairs if necessary; on
    /// other links their security manager does.
    func elevateSecurity(of link: Link, for code: ATTErrorCode) async throws(BLEError) -> Bool {
        guard link.raisesSecurity else { return false }
        noteSecurity(of: link)
        guard let wanted = link.security.reached.level(after: code) else { return false }
        do throws(BLEError) {
            try await secure(link.id, wanted)
            return true
        } catch {
            switch error {
            case .port, .adapter(.unsupported), .cannotPair(.unsupported):
                // The server's error is more useful than that this host cannot raise the security.
                log.debug("raising the security of the link to \(link.peer): \(error)")
                return false
            default: throw error
            }
        }
    }

    /// Returns whether the peer of a link is bonded. Its server then keeps this host's subscriptions, and
    /// indicates changes of its database on a later link.
    func isBonded(_ link: Link) -> Bool { link.security.isBonded }
}

extension SecurityLevel {
    /// The level to reach when a server refuses a request with `code` on a link of this level; nil when more
    /// security would not help (Core Specification 5.4, Vol 3, Part C, 10.3.2).
    package func level(after code: ATTErrorCode) -> SecurityLevel? {
        switch code {
        case .insufficientEncryption: self < .encrypted ? .encrypted : nil
        // The code does not specify the missing authentication, so the next level is tried.
        case .insufficientAuthentication: SecurityLevel(rawValue: rawValue + 1)
        default: nil
        }
    }
}

/// The encryption of links: the keys for the controller, and the outcomes that it reports (Core Specification
/// 5.4, Vol 4, Part E, 7.8.24 to 7.8.26, and Vol 6, Part B, 5.1.3).
extension Adapter {
    /// Encrypts a link as its central. Returns when the link is encrypted with this key. A peer without the
    /// key has lost the bond, which is not tried again on this link.
    func encrypt(
        _ id: LinkID, _ handle: ConnectionHandle, with key: LongTermKey, of bond: Bond
    ) async throws(BLEError) {
        do throws(BLEError) {
            try await run(.encryption, by: .encryption(key, .bond(bond)), on: id)
        } catch .hci(.pinOrKeyMissing, _) {
            let link = try link(id)
            link.protection.keyMissing(of: bond)
            protect(link)
            throw .bondLost(link.peer)
        } catch .hci(let status, _) {
            throw .encryption(status)
        } catch .disconnected(.status(.connectionTerminatedMICFailure)) {
            // The two sides have different keys.
            throw .encryption(.connectionTerminatedMICFailure)
        } catch {
            throw error
        }
    }

    /// Answers the controller's request for the key that the central uses: the one of the pairing under way,
    /// or the bond's.
    func longTermKeyRequested(_ event: LELongTermKeyRequest) {
        guard kernel == nil, let link = links[event.connection] else { return }
        let isStranger = link.protection.bond == nil
        let stranger = isStranger ? bondOfStranger(link, byKey: event.diversifier, event.random) : nil
        let found = link.protection.key(named: event.diversifier, event.random) { stranger }
        guard let key = found else {
            log.info("\(link.peer) requests encryption with a key that is not stored")
            return sendTolerant(LELongTermKeyRequestNegativeReply(connection: event.connection))
        }
        // From now on the controller accepts only encrypted data.
        if link.protection.isPairingKeyGiven { link.pairing.keyWasGiven() }
        sendTolerant(LELongTermKeyRequestReply(connection: event.connection, key: key.value))
    }

    /// Handles a change of a link's encryption: it is on, off, or on with another key than before, or could
    /// not be changed.
    func encryptionChanged(
        _ handle: ConnectionHandle, _ status: HCIStatus, isOn: Bool, isRefresh: Bool = false
    ) {
        guard kernel == nil else { return kernelEncryptionChanged(handle, status) }
        guard let link = links[handle] else { return }
        let before = link.security
        if status == .success {
            link.protection.encryptionChanged(
                isOn: isOn, isRefresh: isRefresh, isPairing: link.pairing.isPairing,
                isKept: { bondRecord(of: $0.peer)?.bond == $0 })
        } else {
            link.protection.encryptionFailed()
        }
        protect(link)
        dropValues(of: link, before: before)
        drain(link)
        end(.encryption, on: handle, status, of: .leEnableEncryption)
        pump(link)
    }

    /// Drops the values of a bonded server that came before its link was encrypted, when that begins: any device
    /// could have sent them.
    func dropValues(of link: Link, before security: LinkSecurity) {
        guard link.role == .central, security == .none, link.security.isBonded else { return }
        link.gatt.session.dropEarlyValues()
    }
}
