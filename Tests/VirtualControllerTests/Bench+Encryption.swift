import BLECore
import HCI
import Testing
import VirtualController

/// Helpers for tests of encryption.
extension Bench {
    static let key: UInt128 = 0x4c68_3841_39f5_74d8_36bc_f34e_9dfb_01bf

    /// Encrypts a link, or refreshes its key, and drops all events about it.
    mutating func encrypt(
        _ central: (ID, ConnectionHandle), _ peripheral: (ID, ConnectionHandle), key: UInt128 = key
    ) {
        perform(LEEnableEncryption(connection: central.1, key: key), on: central.0)
        run(for: .milliseconds(50))
        perform(LELongTermKeyRequestReply(connection: peripheral.1, key: key), on: peripheral.0)
        run(for: .milliseconds(50))
        _ = (events(central.0), events(peripheral.0))
        #expect(isEncrypted(central.0, central.1) && isEncrypted(peripheral.0, peripheral.1))
    }

    func isEncrypted(_ id: ID, _ handle: ConnectionHandle) -> Bool {
        air.controller(id)?.isEncrypted(handle) ?? false
    }

    static func request(_ handle: ConnectionHandle, random: UInt64 = 0, diversifier: UInt16 = 0) -> HCIEvent {
        .leMeta(
            .longTermKeyRequest(
                LELongTermKeyRequest(connection: handle, random: random, diversifier: diversifier)))
    }

    static func change(
        _ handle: ConnectionHandle, _ mode: EncryptionMode = .on, _ status: HCIStatus = .success
    ) -> HCIEvent {
        .encryptionChange(EncryptionChange(status: status, connection: handle, mode: mode))
    }

    /// Sends one data packet for each of the octets.
    mutating func send(_ octets: [UInt8], _ handle: ConnectionHandle, on id: ID) {
        for octet in octets {
            send(.acl(ACLPacket(handle: handle, boundary: .firstNonFlushable, data: [octet])), on: id)
        }
    }
}
