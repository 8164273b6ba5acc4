import ATT
import BLECore

/// A value that the application has set, to be sent to its subscribers.
package struct ValueUpdate: Hashable, Sendable {
    package let handle: AttributeHandle
    /// The type of the attribute, which is the characteristic's UUID.
    package let uuid: BluetoothUUID
    package let value: [UInt8]

    package init(_ handle: AttributeHandle, _ uuid: BluetoothUUID, _ value: [UInt8]) {
        (self.handle, self.uuid, self.value) = (handle, uuid, value)
    }
}

/// The values to send to one client, of those that were set together: each by notification or by indication,
/// as the client has subscribed.
package struct Delivery: Hashable, Sendable {
    /// The values to send by notification, in order.
    package var notifications: [ValueUpdate]
    /// The values to send by indication, in order.
    package var indications: [ValueUpdate]
    /// Whether several notifications can be sent in one PDU, as many as fit (Core Specification 5.4, Vol 3,
    /// Part G, 4.10.2).
    package var packs: Bool
    /// Whether only the beginning of a value is sent if it is longer than the MTU minus 3 octets.
    package var truncates: Bool

    package init(
        notifications: [ValueUpdate] = [], indications: [ValueUpdate] = [], packs: Bool = false,
        truncates: Bool = false
    ) {
        (self.notifications, self.indications) = (notifications, indications)
        (self.packs, self.truncates) = (packs, truncates)
    }

    /// Whether there is nothing to send.
    package var isEmpty: Bool { notifications.isEmpty && indications.isEmpty }
}
