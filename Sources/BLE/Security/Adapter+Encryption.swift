import GATTServer
import HCI
import HCISocket
import Logging
import SMP

/// A link's encryption: keys to the controller, and what it says came of them (Core Specification 5.4, Vol 4, Part E,
/// 7.8.24 to 7.8.26, and Vol 6, Part B, 5.1.3).
extension Adapter {
    /// Encrypts a link as its central; returns when it is encrypted with that key. A peer without it has lost the
    /// bond: it is not asked again on this link.
    func encrypt(
        _ id: LinkID, _ handle: ConnectionHandle, with key: LongTermKey, of owner: GivenKey
    ) async throws(BLEError) {
        do throws(BLEError) {
            try await run(.encryption, by: .encryption(key, owner), on: id)
        } catch .hci(.pinOrKeyMissing, _) {
            let link = try link(id)
            link.protection.isBondLost = true
            tellServerSecurity(of: link)
            throw .bondLost(link.peer)
        } catch .hci(let status, _) {
            throw .encryption(status)
        } catch {
            throw error
        }
    }

    /// The peer's controller asks for the key that the central wants to use: the one of the pairing under way, or
    /// the bond's.
    func longTermKeyRequested(_ event: LELongTermKeyRequest) {
        guard kernel == nil, let link = linkOfHandle[event.connection].flatMap({ links[$0] }) else { return }
        let key = key(named: event.diversifier, event.random, for: link)
        if key == nil { log.info("\(link.peer) wants to use a key that is not there") }
        let id = link.id
        Task(executorPreference: loop) { await self.reply(key, to: event.connection, on: id) }
    }

    private func reply(_ key: LongTermKey?, to connection: ConnectionHandle, on id: LinkID) async {
        // The handle may be another link's by now.
        guard links[id] != nil else { return }
        if let key {
            await sendTolerant(LELongTermKeyRequestReply(connection: connection, key: key.value))
        } else {
            await sendTolerant(LELongTermKeyRequestNegativeReply(connection: connection))
        }
    }

    /// The key of that name, of which is noted what it is worth: while devices pair, that of the pairing, which has none
    /// (Core Specification 5.4, Vol 3, Part H, 2.4.4.1), and no other; else that of the bond with the peer, or with one
    /// whose address tells nothing and that names its key (2.4.4.2).
    private func key(named ediv: UInt16, _ random: UInt64, for link: Link) -> LongTermKey? {
        if let offered = link.protection.offered {
            guard ediv == 0, random == 0 else { return nil }
            link.protection.given = .pairing
            return offered
        }
        guard let bond = link.protection.bond ?? bondOfStranger(link, byKey: ediv, random),
            let key = bond.peripheralKey, key.ediv == ediv, key.random == random
        else { return nil }
        link.protection.given = .bond(bond)
        return key
    }

    /// A link is encrypted, or is not; or it was before and has another key now.
    func encryptionChanged(
        _ handle: ConnectionHandle, _ status: HCIStatus, isOn: Bool, isRefresh: Bool = false
    ) {
        guard kernel == nil else { return kernelEncryptionChanged(handle, status) }
        guard let link = linkOfHandle[handle].flatMap({ links[$0] }) else { return }
        if status == .success {
            // A pairing goes on under its own key only.
            if !isOn || link.protection.given == .pairing || !link.pairing.isPairing {
                link.pairing.encryptionChanged(isOn: isOn, at: loop.now)
            }
            noteEncryption(isOn, isRefresh: isRefresh, of: link)
        } else if link.protection.offered != nil {
            link.pairing.encryptionChanged(isOn: false, at: loop.now)
        }
        drain(link)
        end(.encryption, on: handle, status, of: .leEnableEncryption)
        pump(link)
    }
}

extension Adapter {
    /// While devices pair, the link is encrypted before it is known what that is worth: the end of the pairing tells,
    /// but what only wants encryption is served.
    private func noteEncryption(_ isOn: Bool, isRefresh: Bool, of link: Link) {
        guard isOn else { return noteSecurity(.none, of: link) }
        switch link.protection.given {
        case .pairing?:
            // Who pairs anew is as safe as before.
            guard link.security == .none else { return }
            server.gatt.setSecurity(LinkSecurity(level: .encrypted), of: ClientID(link.id))
            return
        case .failed?:
            log.warning("the link to \(link.peer) is encrypted with the key of a pairing that has failed")
            noteSecurity(.none, of: link)
            end(link)
            return
        case .paired(let security)?: noteSecurity(security, of: link, hasNewKey: isRefresh)
        case .bond(let bond)?:
            // It may have been removed, or replaced, since the controller was given its key.
            let isKept = bondRecord(of: bond.peer)?.bond == bond
            // The peer has shown that it is that device.
            if isKept, link.protection.bond?.id != bond.id { adopt(bond, for: link) }
            noteSecurity(LinkSecurity(bond.strength, isBonded: isKept), of: link, hasNewKey: isRefresh)
        case nil: noteSecurity(LinkSecurity(level: .encrypted), of: link, hasNewKey: isRefresh)
        }
        // So may a central do what its peripheral has asked for.
        if !link.pairing.isPairing { securings.resume(link.id, with: .success(())) }
    }
}
