import BLEAdvertising
import BLECore
import HCI

/// What to advertise and how.
///
/// ```swift
/// let service = try await peripheral.advertise(AdvertisingRequest(plan), maximumLinks: 2)
/// var request = AdvertisingRequest(beaconPlan, kind: .nonconnectable, preset: .background)
/// request.duration = .seconds(600)
/// let beacon = try await peripheral.advertise(request)  // beside the service
/// print(await beacon.power ?? 0)                        // dBm, as the controller has chosen
/// request.plan = newBeaconPlan
/// try await beacon.update(request)                      // without a gap
/// print(try await beacon.ended())                       // "its time is over"
/// ```
public struct AdvertisingRequest: Hashable, Sendable {
    /// The packets. With an extended plan they are extended ones.
    public var plan: AdvertisingPlan
    /// Whether others may connect or ask for a scan response.
    public var kind: AdvertisingKind
    /// The one device that it is for. In legacy packets that is all it says, so the plan must be empty.
    public var direction: AdvertisingDirection?
    /// Whether it hides the address. Extended and nonconnectable only.
    public var isAnonymous = false
    /// Time between two advertising events, 20 ms to 10.24 s, or of extended packets to 10,485.759375 s.
    /// The controller adds up to 10 ms by chance to each.
    public var interval: Duration = .milliseconds(100)
    /// The primary channels to send on, at least one.
    public var channels = AdvertisingChannels.all
    /// Where advertising events begin: LE 1M, or of extended packets LE Coded.
    public var primaryPHY = PHY.le1M
    /// Where the data of extended packets are.
    public var secondaryPHY = PHY.le1M
    /// The transmit power to ask for in dBm, -127 to 20, where the controller lets one choose: with the
    /// extended commands. What it has chosen is `Advertising.power`.
    public var power: Int8?
    /// Whether the power that the controller chooses replaces the one in the plan's Tx Power Level field, as
    /// far as the controller reports it.
    public var correctsPowerField = false
    /// Whether extended packets carry the transmit power in their header, for one octet of data.
    public var includesTxPower = false
    /// The number of the set for scanners, 0 to 15; nil chooses one that no other set of this host has.
    public var sid: UInt8?
    /// The periodic train that goes with it, on controllers that have periodic advertising. Extended and
    /// nonconnectable only, and not anonymous. It ends with the advertisement.
    public var periodic: PeriodicAdvertisingTrain?
    /// How long it is wanted, counted from its first event; nil until it is stopped.
    public var duration: Duration?
    /// How many advertising events are wanted, 1 to 255, on controllers that count them: those with the
    /// extended commands. After a connection what is left of them is sent.
    public var maximumEvents: UInt8?

    /// A request for the packets of `plan`.
    public init(
        _ plan: AdvertisingPlan, kind: AdvertisingKind = .connectable, preset: AdvertisingPreset? = nil
    ) {
        self.plan = plan
        self.kind = kind
        if let preset { interval = preset.interval }
    }

    /// A request for directed advertising in legacy packets, which say nothing else.
    public init(to direction: AdvertisingDirection) {
        self.init(.empty)
        self.direction = direction
    }

    /// Whether it is of extended packets.
    var isExtended: Bool { plan.extended != nil }

    /// Whether centrals end it by connecting.
    var isConnectable: Bool { kind == .connectable }

    /// How long it may be on air at most, by what was asked or by its nature.
    var timeLimit: Duration? {
        direction?.dutyCycle == .high
            ? min(duration ?? .seconds(2), AdvertisingDirection.highDutyCycleLimit) : duration
    }

    /// Whether a set that sends this can change to `other` without being taken off the air: only data
    /// differ, and those that do fit into one command (Core Specification 5.4, Vol 4, Part E, 7.8.54, 7.8.55
    /// and 7.8.62).
    func becomesInPlace(_ other: AdvertisingRequest) -> Bool {
        switch (periodic, other.periodic) {
        case (nil, nil): break
        case (let own?, let next?): guard own.becomesInPlace(next) else { return false }
        default: return false
        }
        var same = self
        (same.plan, same.periodic) = (other.plan, other.periodic)
        guard same == other, isExtended == other.isExtended else { return false }
        let (own, next) = (payloads, other.payloads)
        return fits(next.data, over: own.data) && fits(next.scanResponse, over: own.scanResponse)
    }

    /// Whether data can replace others while they are on air.
    private func fits(_ data: [UInt8]?, over others: [UInt8]?) -> Bool {
        data == others || data?.count ?? 0 <= AdvertisingDataFragment.capacity
    }
}
