/// A change of this process's connection to a peripheral.
public enum ConnectionEvent: Hashable, Sendable {
    /// A device is connected, for the first caller in this process that requested it.
    case connected(Peripheral.Identifier)
    /// A request to connect has failed. A request that is cancelled is not reported.
    case failedToConnect(Peripheral.Identifier, BLEError)
    /// A device is no longer connected: its link has ended, or the last caller that used the link has
    /// disconnected.
    case disconnected(Peripheral.Identifier, DisconnectReason)

    /// The identifier of the device that the event is about.
    public var id: Peripheral.Identifier {
        switch self {
        case .connected(let id), .failedToConnect(let id, _), .disconnected(let id, _): id
        }
    }
}
