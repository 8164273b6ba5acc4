import BLECore
import HCI

/// A procedure that starts with a command or a request of L2CAP signaling, and ends with an event.
enum LinkProcedure: Hashable, Sendable {
    case timing
    case phys
    case version
    case features
    case encryption

    /// The activity that an error names when the procedure takes too long.
    var activity: BLEError.Activity {
        switch self {
        case .timing: .connectionUpdate
        case .phys: .phyUpdate
        case .version: .remoteVersion
        case .features: .remoteFeatures
        case .encryption: .encryption
        }
    }
}

/// The version of the peer's controller (Core Specification 5.4, Vol 6, Part B, 2.4.2.13).
public struct RemoteVersion: Hashable, Sendable {
    /// The Core Specification that its link layer follows.
    public var version: CoreVersion
    /// The manufacturer, by the SIG's company identifiers.
    public var company: UInt16
    /// The number that the manufacturer has given this revision.
    public var subversion: UInt16

    package init(version: CoreVersion, company: UInt16, subversion: UInt16) {
        (self.version, self.company, self.subversion) = (version, company, subversion)
    }
}

/// The power with which this host sends on a link, in dBm.
public struct TransmitPower: Hashable, Sendable {
    /// The current power, in dBm.
    public var current: Int
    /// The maximum power that the controller can use, in dBm.
    public var maximum: Int

    package init(current: Int, maximum: Int) { (self.current, self.maximum) = (current, maximum) }
}
