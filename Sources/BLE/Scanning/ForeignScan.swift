import BLECore
import HCI

/// The scan that other users run on the controller of a shared adapter: the kernel for its connections and
/// its discovery, or another process. It is derived from the commands that they send.
struct ForeignScan: Hashable, Sendable {
    private var isOn = false
    private var isFiltered = false
    private var isActive = false
    /// The share of the time in which the scan listens on LE 1M, and on LE Coded; 0 where it does not, or
    /// nothing is known yet.
    private var oneMegabit = 0.0
    private var coded = 0.0
    /// Whether the controller leaves out reports that it considers repetitions.
    private(set) var filtersDuplicates = false

    /// Notes a command of another user of the controller; returns whether it switched scanning on or off.
    mutating func note(_ command: Span<UInt8>) -> Bool {
        guard let packet = try? HCICommandPacket(command) else { return false }
        let parameters = packet.parameters
        switch packet.opcode {
        case .leSetScanParameters where parameters.count == 7:
            isFiltered = Self.filters(parameters[6])
            isActive = parameters[0] == 1
            (oneMegabit, coded) = (Self.share(parameters[1..<5]), 0)
        case .leSetExtendedScanParameters where parameters.count > 3:
            isFiltered = Self.filters(parameters[1])
            // Each PHY has its own scan type; the first one is used for both.
            isActive = parameters[3] == 1
            let phys = [1, 4].filter { parameters[2] & $0 != 0 }
            let shares = phys.indices.map { Self.share(parameters.dropFirst(4 + 5 * $0).prefix(4)) }
            oneMegabit = phys.firstIndex(of: 1).map { shares[$0] } ?? 0
            coded = phys.firstIndex(of: 4).map { shares[$0] } ?? 0
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

    /// Notes that this host has ended the scan.
    mutating func wasEnded() { isOn = false }

    /// Returns whether their scan receives what a scan with these parameters would, except for what the
    /// controller leaves out.
    func receives(_ wanted: ScanParameters) -> Bool {
        isOn && !isFiltered && (isActive || !wanted.isActive) && oneMegabit >= wanted.oneMegabit?.share ?? 0
            && coded >= wanted.coded?.share ?? 0
    }

    /// Returns the share of the time from the octets of an interval and a window; 0 when they are truncated,
    /// or the interval is 0.
    private static func share(_ octets: ArraySlice<UInt8>) -> Double {
        guard octets.count == 4, let first = octets.indices.first else { return 0 }
        let interval = Int(octets[first]) | Int(octets[first + 1]) << 8
        let window = Int(octets[first + 2]) | Int(octets[first + 3]) << 8
        return interval > 0 ? Double(window) / Double(interval) : 0
    }

    /// Returns whether a filter policy accepts only devices of the accept list (Core Specification 5.4, Vol
    /// 4, Part E, 7.8.10).
    private static func filters(_ policy: UInt8) -> Bool { policy & 1 == 1 }
}
