import ATT
import BLECore
import GATTServer

/// An event of a central: something that it did, or that the server did for it.
public enum PeripheralEvent: Hashable, Sendable {
    /// The central connected. Its link begins with these parameters.
    case connected(Central, LinkParameters)
    /// The parameters of the central's link have changed.
    case parameters(Central, LinkParameters)
    /// The link of the central ended, for this reason. `error` is why this host ended it, as when the central has not
    /// confirmed an indication in time; nil if the central or the program ended it, or the link was lost.
    case disconnected(Central, DisconnectReason, error: BLEError?)
    /// The security of the central's link has changed: its level, its key, or whether it is bonded.
    case security(Central, LinkSecurity)
    /// A pairing that the central has begun, or that was requested from it, has failed, or was refused:
    /// `PairingFailure.isRefusal` of a `BLEError.pairing` distinguishes the two.
    case pairingFailed(Central, BLEError)
    /// Client and server have agreed on this ATT_MTU, in octets.
    case mtu(Central, Int)
    /// The central has read this value.
    case read(Central, AttributeHandle, BluetoothUUID, [UInt8])
    /// The central has written a value, by this kind of write.
    case write(Central, GATTWrite, GATTWriteKind)
    /// A read or write of the central was refused. The values are the response, which names the request and
    /// the error, and the type of the attribute, which is nil where no attribute has the handle. Refusals of
    /// discovery requests, which end a discovery, are not reported.
    case refused(Central, ATTErrorResponse, BluetoothUUID?)
    /// The central has subscribed to a characteristic.
    case subscribed(Central, AttributeHandle, BluetoothUUID, indications: Bool)
    /// The central has unsubscribed.
    case unsubscribed(Central, AttributeHandle, BluetoothUUID)
    /// The server has sent a value to the central.
    case notified(Central, AttributeHandle, BluetoothUUID, [UInt8])
    /// The central has confirmed an indication.
    case confirmed(Central, AttributeHandle, BluetoothUUID)
}

extension PeripheralEvent: CustomStringConvertible {
    /// One line for a log: the event, the central, and the value in hexadecimal.
    public var description: String {
        switch self {
        case .connected(let central, let parameters): "connected \(central): \(parameters)"
        case .parameters(let central, let parameters): "parameters \(central): \(parameters)"
        case .disconnected(let central, let reason, let error):
            "disconnected \(central): \(reason)\(error.map { ": \($0)" } ?? "")"
        case .pairingFailed(let central, let error): "pairing failed \(central): \(error)"
        case .security(let central, let security): "security \(central): \(security.phrase)"
        case .mtu(let central, let mtu): "mtu \(central): \(mtu) octets"
        case .read(let central, let handle, let uuid, let value):
            "read \(central) \(handle) \(uuid): \(value.hex)"
        case .write(let central, let write, let kind):
            "write \(central) \(write.handle) \(write.uuid): \(write.value.hex) (\(kind.rawValue))"
        case .refused(let central, let refusal, let uuid):
            "refused \(central) \(uuid.map { "\($0): " } ?? "")\(refusal)"
        case .subscribed(let central, let handle, let uuid, let indications):
            "subscribed \(central) \(handle) \(uuid): \(indications ? "indications" : "notifications")"
        case .unsubscribed(let central, let handle, let uuid): "unsubscribed \(central) \(handle) \(uuid)"
        case .notified(let central, let handle, let uuid, let value):
            "notified \(central) \(handle) \(uuid): \(value.hex)"
        case .confirmed(let central, let handle, let uuid): "confirmed \(central) \(handle) \(uuid)"
        }
    }
}

extension LinkParameters: CustomStringConvertible {
    /// The known parameters, such as `interval 15 ms, latency 0, supervision timeout 4 s, 2m, MTU 517`.
    public var description: String {
        var parts: [String] = []
        if let timing {
            parts += [
                "interval \(timing.interval.phrase)", "latency \(timing.latency)",
                "supervision timeout \(timing.supervisionTimeout.phrase)",
            ]
        }
        if let phys {
            parts.append(
                phys.transmit == phys.receive
                    ? "\(phys.transmit)" : "\(phys.transmit) out and \(phys.receive) in")
        }
        if let dataLengths {
            parts.append(
                "\(dataLengths.transmit.octets) octets out and \(dataLengths.receive.octets) in a packet")
        }
        parts.append("MTU \(mtu)")
        if security != .none { parts.append(security.phrase) }
        return parts.joined(separator: ", ")
    }
}

extension LinkSecurity {
    fileprivate var phrase: String {
        self == .none ? "not encrypted" : "\(level), key of \(keySize) octets\(isBonded ? ", bonded" : "")"
    }
}
