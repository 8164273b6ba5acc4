/// What becomes of this process's links to peripherals.
public enum ConnectionEvent: Hashable, Sendable {
    /// A device is connected: the first of those in this process who wanted it has it.
    case connected(Peripheral.Identifier)
    /// A request to connect has failed. One that is cancelled is not reported.
    case failedToConnect(Peripheral.Identifier, BLEError)
    /// A device is not connected any more: its link has ended, or the last of those who used it has left it.
    case disconnected(Peripheral.Identifier, DisconnectReason)

    /// The identifier of the device whose link it is.
    public var id: Peripheral.Identifier {
        switch self {
        case .connected(let id), .failedToConnect(let id, _), .disconnected(let id, _): id
        }
    }
}
