import BLECore

/// A value that the application has set, on its way to those who subscribed to it.
package struct ValueUpdate: Hashable, Sendable {
    /// The attribute.
    package let handle: AttributeHandle
    /// Its type.
    package let uuid: BluetoothUUID
    /// The whole value.
    package let value: [UInt8]

    /// A value of an attribute.
    package init(_ handle: AttributeHandle, _ uuid: BluetoothUUID, _ value: [UInt8]) {
        (self.handle, self.uuid, self.value) = (handle, uuid, value)
    }
}
