import BLECore
import GATTServer

/// A remote device that is connected to this host's server.
public struct Central: Hashable, Sendable {
    /// The device.
    public let address: DeviceAddress
    /// The link; the same device connected again has another.
    let link: LinkID

    /// The link, as requests to handlers name it.
    public var id: CentralID { ClientID(link) }
}
