import BLECore
import HCI

/// What others make the controller of a shared adapter scan: the kernel for its connections and its
/// discovery, or another process. Learnt from the commands that pass by.
struct ForeignScan: Hashable, Sendable {
    /// What to do about it.
    enum Verdict: Hashable, Sendable {
        /// Their scan hears what ours would.
        case join
        /// The radio is silent, or hears only devices that they chose.
        case takeOver
    }

    private var isOn = false
    private var isFiltered = false

    /// Takes a command of somebody else's; whether it switched scanning on or off.
    mutating func note(_ command: Span<UInt8>) -> Bool {
        guard let packet = try? HCICommandPacket(command) else { return false }
        let parameters = packet.parameters
        switch packet.opcode {
        case .leSetScanParameters where parameters.count == 7: isFiltered = Self.filters(parameters[6])
        case .leSetExtendedScanParameters where parameters.count > 1: isFiltered = Self.filters(parameters[1])
        case .leSetScanEnable, .leSetExtendedScanEnable:
            guard let enable = parameters.first else { return false }
            isOn = enable == 1
            return true
        case .reset:
            self = ForeignScan()
            return true
        default: break
        }
        return false
    }

    /// What to do once they have finished.
    var verdict: Verdict { isOn && !isFiltered ? .join : .takeOver }

    /// Whether a filter policy lets only devices of the accept list through (Core Specification 5.4, Vol 4,
    /// Part E, 7.8.10).
    private static func filters(_ policy: UInt8) -> Bool { policy & 1 == 1 }
}
