import BLECore

/// What a scan looks for and how.
public struct ScanOptions: Hashable, Sendable {
    /// How long the receiver listens, of how much time (Core Specification 5.4, Vol 3, Part C, appendix A).
    public enum Preset: String, Hashable, Sendable, CaseIterable {
        /// 11.25 ms of every 1.28 s: 1 % of the time.
        case lowPower = "low-power"
        /// 30 ms of every 60 ms.
        case balanced
        /// All the time.
        case lowLatency = "low-latency"
    }

    /// Which sightings of a device are told.
    public enum Repeats: Hashable, Sendable {
        /// The first of each device.
        case once
        /// The first, and whenever what the device sends changes.
        case changes
        /// Every packet.
        case all
        /// At most one in this time from each device.
        case every(Duration)
    }

    /// Which command family to use. The extended one hears all advertisers.
    public enum Family: String, Hashable, Sendable, CaseIterable {
        /// Extended when the controller has it.
        case auto
        /// Extended, or an error.
        case on
        /// Legacy only.
        case off
    }

    /// A PHY that advertisers start on.
    public enum PrimaryPHY: String, Hashable, Sendable, CaseIterable {
        /// LE 1M.
        case oneMegabit = "1m"
        /// LE Coded: long range. Needs the extended family.
        case coded
    }

    /// Only devices that advertise one of these services; empty: all.
    public var services: [BluetoothUUID] = []
    /// Only devices whose name matches this pattern of `*` and `?`, in either case.
    public var name: String?
    /// Only these devices; empty: all. An address without type matches both.
    public var addresses: [AddressFilter] = []
    /// Only packets received at least this strongly, in dBm.
    public var minimumRSSI: Int8?
    /// Listens only, and asks no advertiser for its scan response.
    public var isPassive = false
    /// Which sightings of a device are told.
    public var repeats = Repeats.changes
    /// How long the receiver listens.
    public var preset = Preset.lowLatency
    /// Which command family to use.
    public var extended = Family.auto
    /// The PHYs to listen on.
    public var phys: Set<PrimaryPHY> = [.oneMegabit]
    /// Advertisements that wait for a slow consumer; older ones are dropped and counted.
    public var buffer = 1024

    /// Everything nearby, actively, told when it is new or changes.
    public init() {}
}

/// A device by address, whose type may be unknown.
public struct AddressFilter: Hashable, Sendable {
    /// The 48 bits.
    public var value: UInt64
    /// The type, when it matters.
    public var type: DeviceAddress.AddressType?

    /// An address to look for.
    public init(_ value: UInt64, type: DeviceAddress.AddressType? = nil) {
        self.value = value
        self.type = type
    }

    /// An address to look for.
    public init(_ address: DeviceAddress) { self.init(address.value, type: address.type) }

    /// Whether `address` is meant.
    public func matches(_ address: DeviceAddress) -> Bool {
        address.value == value && (type == nil || type == address.type)
    }
}
