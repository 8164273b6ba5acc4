import BLECore

/// A value that the application has set, on its way to those who subscribed to it.
package struct ValueUpdate: Hashable, Sendable {
    package let handle: AttributeHandle
    /// The type of the attribute, which is the characteristic's UUID.
    package let uuid: BluetoothUUID
    package let value: [UInt8]

    package init(_ handle: AttributeHandle, _ uuid: BluetoothUUID, _ value: [UInt8]) {
        (self.handle, self.uuid, self.value) = (handle, uuid, value)
    }
}
