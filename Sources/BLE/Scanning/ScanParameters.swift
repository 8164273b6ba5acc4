import BLECore
import HCI

/// The parameters with which the controller has to scan: the union of what the scans of this process require.
struct ScanParameters: Hashable {
    /// Whether the scan requests scan responses.
    var isActive: Bool
    var family: CommandFamily
    /// The timing on LE 1M, and on LE Coded.
    var oneMegabit: ScanTiming?
    var coded: ScanTiming?
    /// The devices that the controller's accept list admits; nil for all devices.
    var acceptList: Set<DeviceAddress>?
}

/// The conditions that determine how far the requirements of scans can be met.
struct ScanConditions {
    var hasExtendedFamily = false
    /// The filter accept list; nil where it is not this host's.
    var acceptList: AcceptList?
    /// The devices that can use private addresses that the controller does not know; nil if there are none.
    var hiddenPeers: HiddenPeers?
    /// Whether a connection attempt needs a share of the time.
    var isConnecting = false

    /// The share of the time that a scan beside a connection attempt can have, and the length of its turns.
    static let shareBesideConnecting = 0.5, turnBesideConnecting = Duration.milliseconds(30)
}

extension ScanParameters {
    /// Creates the union of what scans with these options require; nil when there are none.
    init?(_ options: [ScanOptions], under conditions: ScanConditions) {
        guard !options.isEmpty else { return nil }
        let isExtended = conditions.hasExtendedFamily
        isActive = !options.allSatisfy(\.isPassive)
        family = isExtended ? .extended : .legacy
        oneMegabit = Self.eagerest(
            options.filter { !isExtended || $0.phys.contains(.le1M) }.map(\.oneMegabitTiming))
        coded =
            isExtended
            ? Self.eagerest(options.filter { $0.phys.contains(.leCoded) }.map(\.codedPHYTiming)) : nil
        share(isBesideConnecting: conditions.isConnecting)
        let devices = Self.devices(of: options)
        if let list = conditions.acceptList, let devices, list.hasRoom(forScanOf: devices),
            !devices.contains(where: { conditions.hiddenPeers?.contains($0) == true })
        {
            acceptList = devices
        }
    }

    /// Returns the timing that listens most; of equal ones, the one with the shorter interval.
    private static func eagerest(_ timings: [ScanTiming]) -> ScanTiming? {
        timings.max { ($0.share, $1.interval) < ($1.share, $0.interval) }
    }

    /// Makes the windows of both PHYs and of a connection attempt fit into the available time.
    private mutating func share(isBesideConnecting: Bool) {
        let total = (oneMegabit?.share ?? 0) + (coded?.share ?? 0)
        let limit = isBesideConnecting ? ScanConditions.shareBesideConnecting : 1
        let scale = min(1, limit / total)
        let turn = isBesideConnecting ? ScanConditions.turnBesideConnecting : nil
        oneMegabit = oneMegabit.map { $0.limited(to: $0.share * scale, inTurnsOf: turn) }
        coded = coded.map { $0.limited(to: $0.share * scale, inTurnsOf: turn) }
    }

    /// The devices that all scans together search for; nil when one of them accepts any device.
    private static func devices(of options: [ScanOptions]) -> Set<DeviceAddress>? {
        var devices: Set<DeviceAddress> = []
        for each in options {
            if each.addresses.isEmpty { return nil }
            for address in each.addresses { devices.formUnion(address.meant) }
        }
        return devices
    }
}

extension ScanOptions {
    /// The timing to listen on LE 1M.
    fileprivate var oneMegabitTiming: ScanTiming { timing ?? preset.timing }
    /// The timing to listen on LE Coded.
    fileprivate var codedPHYTiming: ScanTiming { codedTiming ?? oneMegabitTiming }
}

extension AddressFilter {
    /// The addresses that the filter matches.
    fileprivate var meant: [DeviceAddress] {
        guard let type else {
            return [DeviceAddress(value, type: .public), DeviceAddress(value, type: .random)]
        }
        return [DeviceAddress(value, type: type)]
    }
}
