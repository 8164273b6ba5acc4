import BLECore

/// A device that this host can connect to, or has a link to.
public struct KnownPeripheral: Hashable, Sendable, Identifiable {
    /// The program that has a link to the device.
    public enum LinkOwner: Hashable, Sendable {
        /// This process has the link: a `connect` joins it.
        case thisProcess
        /// Another program has the link, on a kernel adapter: a `connect` throws `BLEError.busy`.
        case otherProcess
    }

    /// The identifier that `connect` accepts.
    public let id: Peripheral.Identifier
    /// How the device is connected to this process.
    public var state: PeripheralState
    /// The program that has a link to the device; nil when there is no link.
    public var linkOwner: LinkOwner?
    /// The name of the device, as `Peripheral.name`: one that it advertises, if this process has received it, otherwise
    /// that of its bond.
    public var name: String?
    /// Whether this host has a bond with the device.
    public var isBonded: Bool
}

/// How a device is connected to this process.
public enum PeripheralState: String, Hashable, Sendable, CaseIterable {
    /// There is no link, and no request waits for one.
    case disconnected
    /// A request waits for a link.
    case connecting
    /// This process has a link to the device.
    case connected
    /// The link is being ended.
    case disconnecting
}

extension KnownPeripheral: CustomStringConvertible {
    /// The identifier, the name if it is known, and the state, as in `3b0c…-9f1e "Lamp", connected, bonded`.
    public var description: String {
        let name = name.map { " \"\($0.printable)\"" } ?? ""
        let state = linkOwner == .otherProcess ? "connected to another program" : state.rawValue
        return "\(id)\(name), \(state)\(isBonded ? ", bonded" : "")"
    }
}
