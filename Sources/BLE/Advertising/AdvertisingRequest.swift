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
    /// The data to advertise. An extended plan is sent in extended packets.
    public var plan: AdvertisingPlan
    /// Whether other devices can connect, or can request a scan response.
    public var kind: AdvertisingKind
    /// The device that directed advertising is for; nil for undirected advertising. Directed legacy packets carry
    /// no data, so the plan must be empty.
    public var direction: AdvertisingDirection?
    /// Whether the packets omit the advertiser's address. For extended, nonconnectable advertising only.
    public var isAnonymous = false
    /// The time between two advertising events: 20 ms to 10.24 s, with extended packets up to 10,485.759375 s.
    /// The controller adds a random delay of up to 10 ms to each event.
    public var interval: Duration = .milliseconds(100)
    /// The primary channels to send on, at least one.
    public var channels = AdvertisingChannels.all
    /// The PHY of the primary channels: LE 1M, or LE Coded for extended packets.
    public var primaryPHY = PHY.le1M
    /// The PHY of the secondary channels, on which extended packets carry their data.
    public var secondaryPHY = PHY.le1M
    /// The transmit power to request, in dBm, -127 to 20; nil leaves it to the controller. Only the extended
    /// commands can request one. `Advertising.power` is the power that the controller has chosen.
    public var power: Int8?
    /// Whether the power that the controller chooses replaces the one in the plan's Tx Power Level field, if
    /// the controller reports it.
    public var correctsPowerField = false
    /// Whether extended packets carry the transmit power in their header, which takes one octet from the data.
    public var includesTxPower = false
    /// The advertising set ID (SID), 0 to 15; nil chooses one by the number of the set, which differs between
    /// the first 16 sets of this host.
    public var sid: UInt8?
    /// The periodic train that goes with the advertisement, on controllers that support periodic advertising.
    /// The advertisement must be extended, nonconnectable and not anonymous. The train ends with it.
    public var periodic: PeriodicAdvertisingTrain?
    /// How long to advertise, counted from the first event; nil until the advertisement is stopped.
    public var duration: Duration?
    /// The number of advertising events to send, 1 to 255; nil for no limit. Requires a controller with the
    /// extended commands. When a connection interrupts the advertising, the remaining events are sent after it.
    public var maximumEvents: UInt8?

    /// Creates a request to advertise the packets of `plan`.
    public init(
        _ plan: AdvertisingPlan, kind: AdvertisingKind = .connectable, preset: AdvertisingPreset? = nil
    ) {
        self.plan = plan
        self.kind = kind
        if let preset { interval = preset.interval }
    }

    /// Creates a request for directed advertising in legacy packets, which carry no data.
    public init(to direction: AdvertisingDirection) {
        self.init(.empty)
        self.direction = direction
    }

    /// Whether the request is for extended packets.
    var isExtended: Bool { plan.extended != nil }

    /// Whether centrals can connect, which ends the advertising.
    var isConnectable: Bool { kind == .connectable }

    /// The maximum time on air, by request or because of the high duty cycle.
    var timeLimit: Duration? {
        direction?.dutyCycle == .high
            ? min(duration ?? .seconds(2), AdvertisingDirection.highDutyCycleLimit) : duration
    }

    /// Returns whether a set that sends this request can change to `other` without being taken off the air:
    /// only data differ, and the data that differ fit into one command (Core Specification 5.4, Vol 4, Part
    /// E, 7.8.54, 7.8.55 and 7.8.62).
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

    /// Returns whether `data` can replace `others` while those are on air.
    private func fits(_ data: [UInt8]?, over others: [UInt8]?) -> Bool {
        data == others || data?.count ?? 0 <= AdvertisingDataFragment.capacity
    }
}

/// The checks before any command is sent: against the specification, and against this controller's
/// capabilities.
extension AdvertisingRequest {
    /// Throws an error when the request is invalid, or when a controller with these capabilities does not
    /// support it.
    func check(for controller: ControllerCapabilities) throws(BLEError) {
        if isExtended, !controller.hasExtendedFamily {
            throw .adapter(.unsupported(.extendedAdvertising))
        }
        try checkInterval(controller)
        try checkKind()
        try checkPHYs(controller.features)
        try checkLimits(controller)
        try checkData(controller)
        try periodic?.check(for: controller)
    }

    /// Checks the interval: the range that every legacy controller accepts (Core Specification 5.4, Vol 4,
    /// Part E, 7.8.5), the longer intervals of extended packets (7.8.53), and the minimum of nonconnectable
    /// advertising before 5.0.
    private func checkInterval(_ controller: ControllerCapabilities) throws(BLEError) {
        guard direction?.dutyCycle != .high else { return }
        let isOld = controller.version.map { $0.hciVersion < .v5_0 } ?? false
        let least: Duration = isOld && !isConnectable ? .milliseconds(100) : .milliseconds(20)
        let most: Duration = isExtended ? .microseconds(0xff_ffff * 625) : .milliseconds(10_240)
        guard (least...most).contains(interval) else {
            throw .timeOutOfRange(.advertisingInterval, allowed: least...most, value: interval)
        }
    }

    private func checkKind() throws(BLEError) {
        if let direction {
            if isExtended, direction.dutyCycle == .high {
                throw .invalidRequest(.advertising(.extendedHighDutyCycle))
            }
            if !isExtended, !isConnectable {
                throw .invalidRequest(.advertising(.directedNotConnectable))
            }
            if !isExtended, !plan.data.isEmpty || !plan.scanResponse.isEmpty {
                throw .invalidRequest(.advertising(.directedData))
            }
        }
        if isAnonymous, !isExtended || kind != .nonconnectable {
            throw .invalidRequest(.advertising(.anonymous))
        }
        if periodic != nil, !isExtended || kind != .nonconnectable || isAnonymous {
            throw .invalidRequest(.advertising(.periodic))
        }
        if includesTxPower, !isExtended {
            throw .invalidRequest(.advertising(.legacyPower))
        }
        if kind == .nonconnectable, !isExtended, !plan.scanResponse.isEmpty {
            throw .invalidRequest(.advertising(.scanResponse))
        }
        if kind == .scannable, plan.extended?.isEmpty == true {
            throw .invalidRequest(.advertising(.emptyScanResponse))
        }
    }

    private func checkPHYs(_ features: LEFeatures) throws(BLEError) {
        guard [.le1M, .leCoded].contains(primaryPHY) else {
            throw .invalidRequest(.advertising(.primaryPHY(primaryPHY)))
        }
        guard [.le1M, .le2M, .leCoded].contains(secondaryPHY) else {
            throw .invalidRequest(.advertising(.secondaryPHY(secondaryPHY)))
        }
        if !isExtended, primaryPHY != .le1M || secondaryPHY != .le1M {
            throw .invalidRequest(.advertising(.legacyPHY))
        }
        let phys = [primaryPHY, secondaryPHY]
        if phys.contains(.leCoded), !features.contains(.leCodedPHY) {
            throw .adapter(.unsupported(.advertising(on: .leCoded)))
        }
        if phys.contains(.le2M), !features.contains(.le2MPHY) {
            throw .adapter(.unsupported(.advertising(on: .le2M)))
        }
    }

    /// The durations that can be requested: any positive one. A controller that measures the time does so in
    /// steps of 10 ms, at least one of them (Core Specification 5.4, Vol 4, Part E, 7.8.56).
    private static let durations: ClosedRange<Duration> = .microseconds(1) ... .seconds(Int64.max)

    private func checkLimits(_ controller: ControllerCapabilities) throws(BLEError) {
        if channels.isEmpty || !channels.isSubset(of: .all) {
            throw .invalidRequest(.advertising(.channels))
        }
        if let power, !(-127...20).contains(power) {
            throw .outOfRange(.transmitPower, allowed: -127...20, value: Int(power))
        }
        if let sid, sid > 15 { throw .outOfRange(.advertisingSetID, allowed: 0...15, value: Int(sid)) }
        if let duration, !Self.durations.contains(duration) {
            throw .timeOutOfRange(.advertisingDuration, allowed: Self.durations, value: duration)
        }
        if let maximumEvents {
            guard maximumEvents > 0 else {
                throw .outOfRange(.advertisingEvents, allowed: 1...255, value: Int(maximumEvents))
            }
            guard controller.hasExtendedFamily else {
                throw .adapter(.unsupported(.advertisingEventCount))
            }
        }
    }

    private func checkData(_ controller: ControllerCapabilities) throws(BLEError) {
        guard let extended = plan.extended else { return }
        if isConnectable {
            guard extended.count <= connectableCapacity else {
                throw .limit(.connectableData, maximum: connectableCapacity, value: extended.count)
            }
        }
        let limit = controller.maximumAdvertisingDataLength
        guard extended.count <= limit else {
            throw .limit(.advertisingData, maximum: limit, value: extended.count)
        }
    }
}

/// The contents of the commands to the controller.
extension AdvertisingRequest {
    /// The payloads to set. An extended scannable set has data only in its scan response, and legacy directed
    /// advertising has none.
    var payloads: (data: [UInt8]?, scanResponse: [UInt8]?) {
        switch (plan.extended, kind) {
        case (let extended?, .scannable): (nil, extended)
        case (let extended?, _): (extended, nil)
        case (nil, _) where direction != nil: (nil, nil)
        case (nil, .nonconnectable): (plan.data, nil)
        case (nil, _): (plan.data, plan.scanResponse)
        }
    }

    /// Returns the parameters of the legacy commands.
    func legacyParameters(_ ownAddressType: OwnAddressType) -> LESetAdvertisingParameters {
        LESetAdvertisingParameters(
            intervalMin: Slots(interval), intervalMax: Slots(interval), type: legacyType,
            ownAddressType: ownAddressType, peer: peer, channels: channels)
    }

    private var legacyType: AdvertisingType {
        switch (direction?.dutyCycle, kind) {
        case (.high, _): .directedHighDutyCycle
        case (.low, _): .directedLowDutyCycle
        case (nil, .connectable): .connectable
        case (nil, .scannable): .scannable
        case (nil, .nonconnectable): .nonconnectable
        }
    }

    /// Returns the parameters of the extended commands.
    func extendedParameters(
        _ set: AdvertisingHandle, _ ownAddressType: OwnAddressType
    ) -> LESetExtendedAdvertisingParameters {
        LESetExtendedAdvertisingParameters(
            set: set, properties: properties, intervalMin: LongSlots(interval),
            intervalMax: LongSlots(interval), channels: channels, ownAddressType: ownAddressType,
            peer: peer, txPower: power ?? 127, primaryPHY: primaryPHY, secondaryPHY: secondaryPHY,
            sid: sid ?? set.defaultSID)
    }

    private var peer: HCIAddress { HCIAddress(direction?.peer ?? DeviceAddress(0, type: .public)) }

    /// The properties for the extended commands: legacy packets, unless the plan is extended.
    private var properties: LESetExtendedAdvertisingParameters.Properties {
        var properties: LESetExtendedAdvertisingParameters.Properties =
            switch kind {
            case .connectable where isExtended || direction != nil: .connectable
            case .connectable: [.connectable, .scannable]
            case .scannable: .scannable
            case .nonconnectable: []
            }
        if !isExtended { properties.insert(.legacy) }
        if isAnonymous { properties.insert(.anonymous) }
        if includesTxPower { properties.insert(.includesTxPower) }
        if let direction {
            properties.insert(.directed)
            if direction.dutyCycle == .high { properties.insert(.highDutyCycle) }
        }
        return properties
    }
}

extension AdvertisingHandle {
    /// The default advertising set ID, which differs from those of the 15 neighboring sets.
    fileprivate var defaultSID: UInt8 { ~rawValue & 0x0f }
}

/// Errors for too much data, as controllers report them.
extension AdvertisingRequest {
    /// Returns the limit that was exceeded in place of Packet Too Long: that of one packet where there can
    /// only be one, otherwise that of an interval (Core Specification 5.4, Vol 4, Part E, 7.8.53 to 7.8.56
    /// and 7.8.61 to 7.8.63). A controller may support less than the specification allows: then it is only
    /// known that the limit is below the length that the controller refused.
    func explaining(_ error: BLEError) -> BLEError {
        guard case .hci(.packetTooLong, let command) = error else { return error }
        if let periodic, Self.ofTrains.contains(command) {
            let room = AdvertisingChain.periodic.octets(
                within: periodic.interval.upperBound, on: secondaryPHY)
            return Self.limit(.periodicDataInInterval, room, met: periodic.data.count)
        }
        let octets = max(payloads.data?.count ?? 0, payloads.scanResponse?.count ?? 0)
        if isConnectable {
            return Self.limit(.connectableData, connectableCapacity, met: octets)
        }
        return Self.limit(
            .advertisingDataInInterval,
            AdvertisingChain.advertising.octets(
                within: interval - ExtendedAdvertisingPacket.announcements(on: channels, primaryPHY),
                on: secondaryPHY), met: octets)
    }

    private static let ofTrains: Set<HCIOpcode> = [
        .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable,
    ]

    private static func limit(_ limit: BLEError.Limit, _ maximum: Int, met octets: Int) -> BLEError {
        .limit(limit, maximum: min(maximum, max(octets - 1, 0)), value: octets)
    }

    /// The maximum length of the data in the single packet of connectable extended advertising, in octets.
    var connectableCapacity: Int {
        AdvertisingLimits(for: .connectable).extended - (direction != nil ? 6 : 0) - (includesTxPower ? 1 : 0)
    }
}

extension AdvertisingRequest {
    /// Returns the request as it is sent when the controller transmits with `power`, in dBm. If
    /// `correctsPowerField` is set, the Tx Power Level field contains that power, also in a periodic train
    /// with the same data as the advertisement. `power` is nil when the controller does not report it; the
    /// request is then returned unchanged.
    package func sent(with power: Int8?) -> AdvertisingRequest {
        guard correctsPowerField, let power else { return self }
        var request = self
        request.plan = plan.stating(power: power)
        if let extended = request.plan.extended, periodic?.data == plan.extended {
            request.periodic?.data = extended
        }
        return request
    }
}
