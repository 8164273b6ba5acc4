import BLECore
import HCI

/// A fault that shows that a controller has failed.
public enum AdapterFault: Hashable, Sendable {
    /// The controller did not answer a command within the command's time limit.
    case silence(command: HCIOpcode)
    /// The controller reported an error, with a code of its manufacturer (Core Specification 5.4, Vol 4, Part
    /// E, 7.7.16).
    case hardwareError(UInt8)
    /// Octets were lost on the line to the controller, so that it had to be reset.
    case lineLost
}

extension AdapterFault: CustomStringConvertible {
    /// A clause: "the controller does not answer LE Set Scan Enable".
    public var description: String {
        switch self {
        case .silence(let command): "the controller does not answer \(command)"
        case .hardwareError(let code): "the controller reports hardware error 0x\(code.hex)"
        case .lineLost: "octets were lost on the line to the controller"
        }
    }
}
