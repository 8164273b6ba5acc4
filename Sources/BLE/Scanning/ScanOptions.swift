import BLEAdvertising
import BLECore

/// The filters and parameters of a scan.
///
/// A device passes when it matches every filter that is set: it has one of `services`, its name matches `name`,
/// and so on. The filters apply to all that is known of the device: its last advertisement and its last scan
/// response together.
///
/// Several scans of one adapter share the radio: it listens as much as the most demanding of them requires, and
/// each scan receives the packets that pass its own filters.
public struct ScanOptions: Hashable, Sendable {
    /// The duty cycle of the receiver: its scan window in each scan interval (Core Specification 5.4, Vol 3, Part
    /// C, Appendix A).
    public enum Preset: String, Hashable, Sendable, CaseIterable {
        /// 11.25 ms of every 1.28 s: 1 % of the time.
        case lowPower = "low-power"
        /// 30 ms of every 60 ms.
        case balanced
        /// All the time, in windows of 60 ms.
        case lowLatency = "low-latency"
    }

    /// Which packets of a device are reported, of those that pass the filters. Each advertising set of a device
    /// counts separately, and anonymous advertisers are distinguished by their data. Beyond
    /// `AdapterOptions.rememberedDevices` sets, 4,096 by default, the least recently received one is forgotten,
    /// and counts as new when it is received again.
    public enum Repeats: Hashable, Sendable {
        /// The first packet of each device that passes the filters.
        case once
        /// The first packet, and each that differs from the last one reported. Two legacy advertisements of one
        /// kind and address count as one that changes all the time, since nothing in them distinguishes them.
        case changes
        /// Every packet that passes the filters.
        case all
        /// The first packet, and then the first one that arrives when this time has passed since the last one
        /// reported.
        case every(Duration)
    }

    /// The kinds of advertising that a scan listens for.
    public enum Family: String, Hashable, Sendable, CaseIterable {
        /// Extended and legacy advertising, as far as the controller supports them.
        case auto
        /// Extended advertising as well as legacy, or an error.
        case on
        /// Legacy advertising only, whatever the controller can receive.
        case off
    }

    /// Reports only devices that list one of these services, in a complete or an incomplete list; empty for all
    /// devices. A short UUID and its 128-bit form are equal. As in Core Bluetooth, service data and solicited
    /// services do not count.
    public var services: [BluetoothUUID] = []
    /// The services that iOS applications in the background advertise by bits of `AppleOverflowArea`, by the number of
    /// the bit, 0 to 127. A device of Apple that has set the bit of one of `services` passes that filter as well. It is
    /// no proof that it offers the service, because other services share the bit.
    public var overflowServices: [Int: BluetoothUUID] = [:]
    /// Reports devices that solicit one of these services, which they search for in other devices, besides those that
    /// offer one of `services`; all devices if both are empty. Core Bluetooth's
    /// `CBCentralManagerScanOptionSolicitedServiceUUIDsKey`.
    public var solicitedServices: [BluetoothUUID] = []
    /// Reports only devices whose name matches this pattern of `*` and `?`, in either case; nil for all
    /// devices.
    public var name: String?
    /// Reports only these devices; empty for all devices. An address without a type matches both types. When all
    /// scans of an adapter name devices, and these fit into the controller's list, the controller reports no
    /// others; except on kernel adapters.
    public var addresses: [AddressFilter] = []
    /// Reports only devices with manufacturer data of one of these companies; empty for all devices.
    public var companies: [CompanyIdentifier] = []
    /// Reports only packets that are received at least this strongly, in dBm; nil for all packets.
    public var minimumRSSI: Int8?
    /// Listens only, and asks no advertiser for its scan response.
    public var isPassive = false
    /// Which packets of a device are reported.
    public var repeats = Repeats.changes
    /// The duty cycle of the receiver; by default it listens all the time.
    public var preset = Preset.lowLatency
    /// The scan interval and window; nil for those of `preset`.
    public var timing: ScanTiming?
    /// The scan interval and window on LE Coded; nil for those of LE 1M. PHYs that together require more than all
    /// of the time share it.
    public var codedTiming: ScanTiming?
    /// Whether the scan listens for extended advertising.
    public var extended = Family.auto
    /// The PHYs to listen on: LE 1M, LE Coded, which has a long range and needs the extended commands, or both.
    public var phys: Set<PHY> = [.le1M]
    /// The maximum number of advertisements that wait for a slow consumer; older ones are dropped and
    /// counted.
    public var buffer = 1024

    /// Creates options for an active scan that reports all devices, when they are new and when they change.
    public init() {}
}

/// A device by address, whose type may be unknown.
public struct AddressFilter: Hashable, Sendable {
    /// The 48 bits of the address.
    public var value: UInt64
    /// The type of the address; nil matches both types.
    public var type: DeviceAddress.AddressType?

    /// Creates a filter for an address of 48 bits, of one type or of both.
    public init(_ value: UInt64, type: DeviceAddress.AddressType? = nil) {
        self.value = value
        self.type = type
    }

    /// Creates a filter for exactly this address.
    public init(_ address: DeviceAddress) { self.init(address.value, type: address.type) }

    /// Whether the filter matches `address`.
    package func matches(_ address: DeviceAddress) -> Bool {
        address.value == value && (type == nil || type == address.type)
    }
}
