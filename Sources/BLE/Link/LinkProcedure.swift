import BLECore
import HCI

/// A procedure that a command begins, or a request of L2CAP signaling, and an event ends.
enum LinkProcedure: Hashable, Sendable {
    case timing
    case phys
    case version
    case features
    case encryption

    /// What takes too long when it does.
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

/// Names a wait for the end of a procedure.
struct ProcedureKey: Hashable, Sendable {
    let link: LinkID
    let number: UInt64
}

/// What the peer's controller is (Core Specification 5.4, Vol 6, Part B, 2.4.2.13).
public struct RemoteVersion: Hashable, Sendable {
    /// The Core Specification that its link layer follows.
    public var version: CoreVersion
    /// Its maker, by the SIG's company identifiers.
    public var company: UInt16
    /// The number that the manufacturer has given this revision.
    public var subversion: UInt16

    package init(version: CoreVersion, company: UInt16, subversion: UInt16) {
        (self.version, self.company, self.subversion) = (version, company, subversion)
    }
}

/// How strong this host sends on a link, in dBm.
public struct TransmitPower: Hashable, Sendable {
    /// The power at present, in dBm.
    public var current: Int
    /// The greatest power that the controller can use, in dBm.
    public var maximum: Int

    package init(current: Int, maximum: Int) { (self.current, self.maximum) = (current, maximum) }
}
