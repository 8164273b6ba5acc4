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
            guard case .bond = owner else { throw .encryption(.pinOrKeyMissing) }
            let link = try link(id)
            link.protection.keyMissing(owner)
            protect(link)
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
        let key = link.protection.key(named: event.diversifier, event.random) {
            bondOfStranger(link, byKey: event.diversifier, event.random)
        }
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

    /// A link is encrypted, or is not; or it was before and has another key now.
    func encryptionChanged(
        _ handle: ConnectionHandle, _ status: HCIStatus, isOn: Bool, isRefresh: Bool = false
    ) {
        guard kernel == nil else { return kernelEncryptionChanged(handle, status) }
        guard let link = linkOfHandle[handle].flatMap({ links[$0] }) else { return }
        if status == .success {
            link.protection.encryptionChanged(
                isOn: isOn, isRefresh: isRefresh, isPairing: link.pairing.isPairing,
                isKept: { bondRecord(of: $0.peer)?.bond == $0 })
        } else {
            link.protection.encryptionFailed()
        }
        protect(link)
        drain(link)
        end(.encryption, on: handle, status, of: .leEnableEncryption)
        pump(link)
    }
}
