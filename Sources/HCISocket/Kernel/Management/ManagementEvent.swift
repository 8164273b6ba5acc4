import BLECore
import HCI

/// An event from the kernel about one adapter. Events about BR/EDR devices, and those that this host does not
/// use, contain only their code.
package enum ManagementEvent: Hashable, Sendable {
    /// An adapter was added.
    case added
    /// The adapter was removed.
    case removed
    /// The settings of the adapter have changed to the given ones.
    case settings(Management.Settings)
    /// A pairing has generated a key. `isKept` is true if the key is also for later links. The kernel sends
    /// this event, and the ones below, only to trusted sockets, whose owner has CAP_NET_ADMIN.
    case newLongTermKey(Management.LongTermKey, isKept: Bool)
    /// A peer has distributed its identity key while it used the address `resolved`, or its identity address
    /// if that is nil.
    case newIdentityKey(Management.IdentityKey, resolved: DeviceAddress?, isKept: Bool)
    /// A pairing has generated a signing key.
    case newSigningKey(Management.SigningKey, isKept: Bool)
    case disconnected(DeviceAddress, reason: UInt8)
    /// The user must confirm that the peer shows the same number or, if `isPlain`, that the peer is allowed
    /// to pair.
    case confirmationRequest(DeviceAddress, isPlain: Bool, value: UInt32)
    /// The user must enter the number that the peer shows.
    case passkeyRequest(DeviceAddress)
    case authenticationFailed(DeviceAddress, ManagementStatus)
    /// Another program has removed the device's keys.
    case unpaired(DeviceAddress)
    /// The user must be shown this number, of which `entered` digits have been entered on the peer.
    case passkeyNotify(DeviceAddress, UInt32, entered: UInt8)
    /// The system is about to suspend: the kernel has stopped all activity and closed the links.
    case suspended
    /// The system has resumed from sleep.
    case resumed
    /// An event that concerns a BR/EDR device or that this host does not use: its code.
    case other(UInt16)

    /// Decodes an event. Octets after the known ones are ignored, because later kernels can add some.
    package init(_ packet: Management.Packet) throws(DecodeError) {
        var reader = ByteReader(packet.parameters.span, of: "management event 0x\(packet.code.hex)")
        self =
            switch packet.code {
            case 0x0004: .added
            case 0x0005: .removed
            case 0x0006: .settings(Management.Settings(rawValue: try reader.u32("settings")))
            case 0x002d: .suspended
            case 0x002e: .resumed
            case 0x000a, 0x0018, 0x0019: try Self.key(packet.code, &reader)
            default: try Self.aboutPeer(packet.code, &reader)
            }
    }

    private static func key(
        _ code: UInt16, _ reader: inout ByteReader
    ) throws(DecodeError) -> ManagementEvent {
        let isKept = try reader.u8("store hint") != 0
        switch code {
        case 0x000a: return .newLongTermKey(try Management.LongTermKey(decoding: &reader), isKept: isKept)
        case 0x0018:
            let resolved = try reader.u48("random address")
            return .newIdentityKey(
                try Management.IdentityKey(decoding: &reader),
                resolved: resolved == 0 ? nil : DeviceAddress(resolved, type: .random), isKept: isKept)
        default: return .newSigningKey(try Management.SigningKey(decoding: &reader), isKept: isKept)
        }
    }

    private static func aboutPeer(
        _ code: UInt16, _ reader: inout ByteReader
    ) throws(DecodeError) -> ManagementEvent {
        guard [0x000c, 0x000f, 0x0010, 0x0011, 0x0016, 0x0017].contains(code),
            let peer = try reader.peer()
        else { return .other(code) }
        return switch code {
        case 0x000c: .disconnected(peer, reason: try reader.u8("reason"))
        case 0x000f:
            .confirmationRequest(
                peer, isPlain: try reader.u8("hint") != 0, value: try reader.u32("value"))
        case 0x0010: .passkeyRequest(peer)
        case 0x0011: .authenticationFailed(peer, ManagementStatus(rawValue: try reader.u8("status")))
        case 0x0016: .unpaired(peer)
        default: .passkeyNotify(peer, try reader.u32("passkey"), entered: try reader.u8("entered"))
        }
    }
}
