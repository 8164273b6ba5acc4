import BLECore

/// A value that the application has set, on its way to those who subscribed to it.
public struct ValueUpdate: Hashable, Sendable {
    /// The attribute.
    public let handle: AttributeHandle
    /// Its type.
    public let uuid: BluetoothUUID
    /// The whole value.
    public let value: [UInt8]

    /// A value of an attribute.
    public init(_ handle: AttributeHandle, _ uuid: BluetoothUUID, _ value: [UInt8]) {
        (self.handle, self.uuid, self.value) = (handle, uuid, value)
    }
}
