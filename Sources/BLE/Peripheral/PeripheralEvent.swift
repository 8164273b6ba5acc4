import ATT
import BLECore
import GATTServer

/// Something that a central did, or that was done for it.
public enum PeripheralEvent: Hashable, Sendable {
    /// The central connected. Its link begins with these parameters.
    case connected(Central, LinkParameters)
    /// Its link has other parameters now.
    case parameters(Central, LinkParameters)
    /// The link of the central ended, for this reason.
    case disconnected(Central, DisconnectReason)
    /// Its link is encrypted in another way than before: by a key of another worth or size.
    case security(Central, LinkSecurity)
    /// The MTU was agreed on.
    case mtu(Central, Int)
    /// It read a value.
    case read(Central, AttributeHandle, BluetoothUUID, [UInt8])
    /// It wrote a value.
    case write(Central, GATTWrite, GATTWriteKind)
    /// It wants the values of a characteristic.
    case subscribed(Central, AttributeHandle, BluetoothUUID, indications: Bool)
    /// It does not want them any more.
    case unsubscribed(Central, AttributeHandle, BluetoothUUID)
    /// A value was sent to it.
    case notified(Central, AttributeHandle, BluetoothUUID, [UInt8])
    /// It confirmed an indication.
    case confirmed(Central, AttributeHandle, BluetoothUUID)
}
