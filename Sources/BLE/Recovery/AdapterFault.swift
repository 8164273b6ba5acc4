import BLECore
import HCI

/// What a controller did that means that it has failed.
public enum AdapterFault: Hashable, Sendable {
    /// It did not answer a command within the command's time limit.
    case silence(command: HCIOpcode)
    /// It said so, with a number of its maker's (Core Specification 5.4, Vol 4, Part E, 7.7.16).
    case hardwareError(UInt8)
    /// Octets were lost on the line to it, so that it had to be reset.
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
