import BLECore

/// A remote device that is connected to this host's server.
public struct Central: Hashable, Sendable {
    /// The device's address on the link.
    public let address: DeviceAddress
    /// The link; a device that connects again has another one.
    package let client: ClientID

    /// Creates the device at `address`, at the other end of the link of `client`.
    package init(address: DeviceAddress, client: ClientID) {
        self.address = address
        self.client = client
    }
}

extension Central: CustomStringConvertible {
    /// The address of the device and its type.
    public var description: String { address.description }
}
