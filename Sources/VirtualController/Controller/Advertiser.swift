import BLECore
import HCI

/// One advertising set: its parameters, its data and its state. The legacy commands use a set of their own
/// with legacy packets.
struct Advertiser: Sendable {
    typealias Parameters = LESetExtendedAdvertisingParameters

    /// The handle that the host has assigned; nil for the set of the legacy commands.
    let handle: AdvertisingHandle?
    var parameters: Parameters
    /// The transmit power in dBm; nil for the maximum power of the controller.
    var power: Int8?
    /// The random address that the host has set for this set.
    var randomAddress: DeviceAddress?
    var data = AdvertisingPayload()
    var scanResponse = AdvertisingPayload()
    /// The data ID, which changes when the data change, so that scanners can detect it (Core Specification
    /// 5.4, Vol 6, Part B, 4.4.2.11).
    var dataID: UInt16 = 0
    /// The periodic train of the set.
    var train: TrainSender?

    /// The own address; nil unless advertising is enabled.
    private(set) var address: DeviceAddress?
    /// The private address in the last advertising event, if it had one.
    fileprivate(set) var privateAddress: DeviceAddress?
    private(set) var nextEvent = Instant.zero
    /// The time and status with which advertising ends automatically.
    private(set) var end: End?
    /// The number of events so far. Advertising ends after `eventLimit` events; zero means no limit.
    private(set) var events = 0
    private var eventLimit = 0
    /// The number of events since the set was created.
    private var allEvents: UInt64 = 0

    struct End: Sendable {
        var time: Instant
        var status: HCIStatus
    }

    /// Creates the advertiser of the legacy commands, with its parameters after a reset.
    init() {
        handle = nil
        parameters = Parameters(
            set: AdvertisingHandle(rawValue: 0), properties: [.legacy, .connectable, .scannable],
            intervalMin: LongSlots(rawValue: 0x0800), intervalMax: LongSlots(rawValue: 0x0800))
    }

    /// Creates a set for the host.
    init(_ parameters: Parameters) {
        handle = parameters.set
        self.parameters = parameters
    }

    var properties: Parameters.Properties { parameters.properties }
    var isEnabled: Bool { address != nil }
    /// Whether the set or its train is enabled.
    var isSent: Bool { isEnabled || train?.isEnabled == true }
    /// The address that is currently on air.
    var shownAddress: DeviceAddress? { isEnabled ? privateAddress ?? address : nil }
    /// The peer at which advertising is directed, or towards which private addresses are generated.
    var peer: DeviceAddress? { parameters.peer.deviceAddress }
    var deadline: Instant? {
        earlier(isEnabled ? earlier(nextEvent, end?.time) : nil, train?.deadline)
    }

    /// Starts advertising at `now`; with a duration or a number of events, it ends automatically. If it is
    /// already enabled, it restarts.
    mutating func start(
        as address: DeviceAddress, at now: Instant, for duration: Duration? = nil, events limit: UInt8 = 0
    ) {
        self.address = address
        privateAddress = nil
        nextEvent = now
        end = duration.map { End(time: now + $0, status: .advertisingTimeout) }
        events = 0
        eventLimit = Int(limit)
    }

    mutating func stop() {
        address = nil
        end = nil
    }

    /// Sets the time of the event after `now`: the interval and a random delay of up to 10 ms (4.4.2.2.1), or
    /// 3.75 ms in the high duty cycle (4.4.2.4.3). After the last event, advertising ends within 2.5 ms,
    /// which leaves time for responses.
    mutating func schedule(after now: Instant, jitter seed: UInt64) {
        nextEvent =
            now + (properties.contains(.highDutyCycle) ? .microseconds(3750) : interval + jitter(seed))
        events += 1
        allEvents += 1
        let last = now + .microseconds(2500)
        if events == eventLimit, end.map({ last < $0.time }) ?? true {
            end = End(time: last, status: .limitReached)
        }
    }

    /// Returns the random delay of this event. It depends on the set and the number of the event alone, so that a run with
    /// one command more has the same delays.
    private func jitter(_ seed: UInt64) -> Duration {
        var random = SplitMix64(
            seed: seed ^ UInt64(handle.map { Int($0.rawValue) + 1 } ?? 0) << 48 ^ allEvents)
        return .microseconds(Int64.random(in: 0...10_000, using: &random))
    }

    /// The minimum interval that the host allows and that has room for the data.
    private var interval: Duration { max(parameters.intervalMin.duration, airtime) }

    /// Whether the data can be sent within the maximum interval that the host allows.
    var fits: Bool { airtime <= parameters.intervalMax.duration }

    /// The duration of an extended advertising event: its announcements, and its data or its response (Vol 6,
    /// Part B, 4.4.2.4).
    private var airtime: Duration {
        guard !properties.contains(.legacy) else { return .zero }
        return ExtendedAdvertisingPacket.announcements(on: parameters.channels, parameters.primaryPHY)
            + AdvertisingChain.advertising.duration(
                of: max(data.octets.count, scanResponse.octets.count), on: parameters.secondaryPHY)
    }

    /// The maximum number of data octets in a connectable packet: 255 less the header's length, flags,
    /// address, ADI, and optional fields (Vol 6, Part B, 2.3.1.7, 2.3.4).
    var connectableCapacity: Int {
        255 - 1 - 1 - 6 - 2 - (properties.contains(.directed) ? 6 : 0)
            - (properties.contains(.includesTxPower) ? 1 : 0)
    }
}

extension Advertiser.Parameters.Properties {
    /// Whether advertising of this type carries advertising data: legacy advertising that is not directed, or
    /// extended advertising that is not scannable (Core Specification 5.4, Vol 4, Part E, 7.8.53).
    var carryData: Bool { contains(.legacy) ? !contains(.directed) : !contains(.scannable) }

    /// Creates the properties from the advertising type of a legacy command.
    init(_ type: AdvertisingType) {
        switch type {
        case .connectable: self = [.legacy, .connectable, .scannable]
        case .directedHighDutyCycle: self = [.legacy, .connectable, .directed, .highDutyCycle]
        case .directedLowDutyCycle: self = [.legacy, .connectable, .directed]
        case .scannable: self = [.legacy, .scannable]
        default: self = .legacy
        }
    }
}

extension VirtualController {
    /// Sends the advertising events that are due, and ends advertising that has reached its time limit.
    mutating func advertise(at now: Instant) {
        for index in settings.advertisers.indices { advertise(index, at: now) }
    }

    private mutating func advertise(_ index: Int, at now: Instant) {
        sendTrain(index, at: now)
        let own = settings.advertisers[index]
        guard own.isEnabled else { return }
        if let end = own.end, end.time <= now {
            settings.advertisers[index].stop()
            guard let handle = own.handle else { return reportNoConnection(end.status, as: .peripheral) }
            return emit(
                LEAdvertisingSetTerminated(
                    status: end.status, set: handle, completedEvents: UInt8(clamping: own.events)))
        }
        guard own.nextEvent <= now else { return }
        settings.advertisers[index].privateAddress = privateAddress(
            own.parameters.ownAddressType, towards: own.peer, at: now)
        let target =
            own.properties.contains(.directed)
            ? own.peer.map { settings.resolvingList.target($0, at: now, &random) } : nil
        transmit(
            .advertising(signal(of: settings.advertisers[index], at: target)), to: nil, at: own.power)
        settings.advertisers[index].schedule(after: now, jitter: jitter)
    }

    /// Returns the signal of a set's advertising event or scan response.
    private func signal(
        of own: Advertiser, at target: DeviceAddress? = nil, isResponse: Bool = false
    ) -> AirSignal.Advertising {
        let (parameters, properties) = (own.parameters, own.properties)
        let isLegacy = properties.contains(.legacy)
        let data = isResponse ? own.scanResponse.octets : properties.carryData ? own.data.octets : []
        return AirSignal.Advertising(
            properties: properties, set: own.handle,
            advertiser: properties.contains(.anonymous) ? nil : own.shownAddress, target: target,
            sid: isLegacy ? nil : parameters.sid, dataID: isLegacy ? 0 : own.dataID,
            primaryPHY: parameters.primaryPHY, secondaryPHY: isLegacy ? .none : parameters.secondaryPHY,
            txPower: properties.contains(.includesTxPower) && !isLegacy ? own.power : nil,
            isResponse: isResponse, knowsAlgorithm2: isExtended, train: own.train?.train, data: data)
    }

    /// Answers a scan request, if it is addressed to an advertiser of this controller whose filter accepts
    /// it.
    mutating func answerScan(_ request: AirSignal.ScanRequest, from sender: ID) {
        guard let own = advertiser(request.set, at: request.advertiser), own.properties.contains(.scannable),
            let scanner = settings.resolvingList.recognize(request.scanner),
            !own.properties.contains(.directed) || own.peer == scanner.address,
            !own.parameters.filterPolicy.contains(.filterScanRequests)
                || settings.acceptList.contains(scanner.address)
        else { return }
        if let handle = own.handle, own.parameters.notifiesScanRequests.value == true {
            emit(LEScanRequestReceived(set: handle, scanner: scanner.reported))
        }
        transmit(.scanResponse(signal(of: own, isResponse: true)), to: sender, at: own.power)
    }

    /// Accepts the connection that an initiator requests, if it is addressed to an advertiser of this
    /// controller that can accept it.
    mutating func accept(_ request: AirSignal.ConnectionRequest, from sender: ID, rssi: Int8) {
        guard let own = advertiser(request.set, at: request.advertiser),
            own.properties.contains(.connectable), links.count < configuration.maximumConnections,
            let initiator = settings.resolvingList.recognize(request.initiator),
            !isConnected(to: initiator.address)
        else { return }
        if own.properties.contains(.directed) {
            guard own.peer == initiator.address else { return }
        } else if own.parameters.filterPolicy.contains(.filterConnections) {
            guard settings.acceptList.contains(initiator.address) else { return }
        }
        if let index = settings.advertisers.firstIndex(where: { $0.handle == own.handle }) {
            settings.advertisers[index].stop()
        }
        addLink(
            request, as: .peripheral, to: initiator, showing: own.privateAddress, at: sender, rssi: rssi)
        // The host receives the connection event first (Core Specification 5.4, Vol 4, Part E, 7.7.65.18).
        if let handle = own.handle, let connection = links.last?.handle {
            emit(
                LEAdvertisingSetTerminated(
                    status: .success, set: handle, connection: connection,
                    completedEvents: UInt8(clamping: own.events)))
        }
    }

    /// Returns the set with this handle, if it advertises as `address`. Requests contain the handle, because
    /// several sets can have the same address; on air, timing distinguishes them.
    private func advertiser(_ set: AdvertisingHandle?, at address: DeviceAddress) -> Advertiser? {
        settings.advertisers.first { $0.handle == set && $0.shownAddress == address }
    }
}

/// Advertising or scan response data, as a host builds them.
struct AdvertisingPayload: Sendable {
    private(set) var octets: [UInt8] = []
    /// Whether further fragments must arrive first.
    private(set) var isPartial = false

    var isEmpty: Bool { octets.isEmpty }

    /// Adds a fragment. The first fragment replaces all previous data (Core Specification 5.4, Vol 4, Part E,
    /// 7.8.54).
    mutating func take(
        _ operation: AdvertisingDataFragment.Operation, _ data: [UInt8]
    ) throws(HCIStatus) {
        switch operation {
        case .first, .complete: octets = data
        case .intermediate, .last: octets += data
        case .unchanged: return
        default: throw .invalidCommandParameters
        }
        isPartial = operation == .first || operation == .intermediate
    }

    /// Replaces the payload with complete data.
    mutating func set(_ octets: [UInt8]) { self = AdvertisingPayload(octets: octets) }

    mutating func discard() { self = AdvertisingPayload() }

    init() {}

    private init(octets: [UInt8]) { self.octets = octets }
}
