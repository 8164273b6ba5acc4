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
        _ id: LinkID, _ handle: ConnectionHandle, with key: LongTermKey
    ) async throws(BLEError) {
        do throws(BLEError) {
            try await perform(.encryption, "encryption", on: id) { handle in
                LEEnableEncryption(
                    connection: handle, random: key.random, diversifier: key.ediv, key: key.value)
            }
        } catch .hci(.pinOrKeyMissing, _) {
            let link = try link(id)
            link.protection.isBondLost = true
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
        recognize(link, byKey: event.diversifier, event.random)
        let key = link.protection.key(named: event.diversifier, event.random)
        if key == nil { log.info("\(link.peer) wants to use a key that is not there") }
        Task(executorPreference: loop) {
            if let key {
                await self.sendTolerant(
                    LELongTermKeyRequestReply(connection: event.connection, key: key.value))
            } else {
                await self.sendTolerant(LELongTermKeyRequestNegativeReply(connection: event.connection))
            }
        }
    }

    /// A link is encrypted, or is not; or it was before and has another key now.
    func encryptionChanged(
        _ handle: ConnectionHandle, _ status: HCIStatus, isOn: Bool, isRefresh: Bool = false
    ) {
        guard kernel == nil else { return kernelEncryptionChanged(handle, status) }
        guard let link = linkOfHandle[handle].flatMap({ links[$0] }) else { return }
        if status == .success {
            link.pairing.encryptionChanged(isOn: isOn, at: loop.now)
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
        if isOn, link.protection.offered != nil {
            // Who pairs anew is as safe as before.
            guard link.security == .none else { return }
            server.gatt.setSecurity(LinkSecurity(level: .encrypted), of: ClientID(link.id))
        } else {
            noteSecurity(isOn ? link.protection.worth : .none, of: link, hasNewKey: isRefresh)
            // So may a central do what its peripheral has asked for.
            if isOn { securings.resume(link.id, with: .success(())) }
        }
    }
}

extension LinkProtection {
    /// The key of that name; while devices pair, that of the pairing, which has none.
    fileprivate func key(named ediv: UInt16, _ random: UInt64) -> LongTermKey? {
        if let offered { return offered }
        guard let key = bond?.peripheralKey, key.ediv == ediv, key.random == random else { return nil }
        return key
    }

    /// What the link is worth that was encrypted with a key from earlier: as much as the bond.
    fileprivate var worth: LinkSecurity {
        bond.map { LinkSecurity($0.strength, isBonded: true) } ?? LinkSecurity(level: .encrypted)
    }
}
