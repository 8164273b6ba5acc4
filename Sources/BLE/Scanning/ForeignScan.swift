import BLECore
import HCI

/// What others make the controller of a shared adapter scan: the kernel for its connections and its
/// discovery, or another process. Learnt from the commands that pass by.
struct ForeignScan: Hashable, Sendable {
    private var isOn = false
    private var isFiltered = false
    private var isActive = false
    private var isOnOneMegabit = true
    private var isOnCoded = false
    /// Whether the controller leaves out what it takes for a repetition of what it has reported.
    private(set) var filtersDuplicates = false

    /// Takes a command of somebody else's; whether it switched scanning on or off.
    mutating func note(_ command: Span<UInt8>) -> Bool {
        guard let packet = try? HCICommandPacket(command) else { return false }
        let parameters = packet.parameters
        switch packet.opcode {
        case .leSetScanParameters where parameters.count == 7:
            isFiltered = Self.filters(parameters[6])
            isActive = parameters[0] == 1
            (isOnOneMegabit, isOnCoded) = (true, false)
        case .leSetExtendedScanParameters where parameters.count > 3:
            isFiltered = Self.filters(parameters[1])
            (isOnOneMegabit, isOnCoded) = (parameters[2] & 1 == 1, parameters[2] & 4 == 4)
            // Of the PHYs each has its type; the first stands for both.
            isActive = parameters[3] == 1
        case .leSetScanEnable, .leSetExtendedScanEnable:
            guard let enable = parameters.first else { return false }
            isOn = enable == 1
            filtersDuplicates = parameters.count > 1 && parameters[1] != 0
            return true
        case .reset:
            self = ForeignScan()
            return true
        default: break
        }
        return false
    }

    /// This host has ended it.
    mutating func wasEnded() { isOn = false }

    /// Whether their scan hears what one with these parameters would, but for what the controller leaves out.
    func hears(_ wanted: ScanParameters) -> Bool {
        isOn && !isFiltered && (isActive || !wanted.isActive) && (isOnOneMegabit || wanted.oneMegabit == nil)
            && (isOnCoded || wanted.coded == nil)
    }

    /// Whether a filter policy lets only devices of the accept list through (Core Specification 5.4, Vol 4,
    /// Part E, 7.8.10).
    private static func filters(_ policy: UInt8) -> Bool { policy & 1 == 1 }
}
