import BLECore
import HCI

/// What a controller advertises: one set of the parameters, data and state that advertising has.
struct Advertiser: Sendable {
    var parameters = LESetAdvertisingParameters(
        intervalMin: Slots(rawValue: 0x0800), intervalMax: Slots(rawValue: 0x0800))
    var data: [UInt8] = []
    var scanResponse: [UInt8] = []
    /// The own address, while advertising.
    private(set) var address: DeviceAddress?
    private(set) var nextEvent = Instant.zero
    /// When high duty cycle directed advertising ends.
    private(set) var end: Instant?

    var isEnabled: Bool { address != nil }

    var deadline: Instant? { isEnabled ? earlier(nextEvent, end) : nil }

    mutating func start(as address: DeviceAddress, at now: Instant) {
        self.address = address
        nextEvent = now
        // Core Specification 5.4, Vol 6, Part B, 4.4.2.4.3.
        end = parameters.type == .directedHighDutyCycle ? now + .milliseconds(1280) : nil
    }

    mutating func stop() {
        address = nil
        end = nil
    }

    /// Sets the time of the event after the one at `now`: an interval and up to 10 ms more (4.4.2.2.1); in
    /// the high duty cycle 3.75 ms (4.4.2.4.3).
    mutating func schedule(after now: Instant, _ random: inout SplitMix64) {
        nextEvent =
            parameters.type == .directedHighDutyCycle
            ? now + .microseconds(3750)
            : now + parameters.intervalMin.duration
                + .microseconds(Int64.random(in: 0...10_000, using: &random))
    }

    /// What an advertising event says.
    var signal: AirSignal.Advertising? {
        guard let address else { return nil }
        let type = parameters.type
        return AirSignal.Advertising(
            kind: type.reportKind, advertiser: address,
            target: type.isDirected ? parameters.peer.deviceAddress : nil, data: type.isDirected ? [] : data)
    }
}

extension AdvertisingType {
    var isDirected: Bool { self == .directedHighDutyCycle || self == .directedLowDutyCycle }
    var isConnectable: Bool { self == .connectable || isDirected }
    var isScannable: Bool { self == .connectable || self == .scannable }

    var reportKind: LEAdvertisingReports.Report.Kind {
        switch self {
        case .connectable: .connectable
        case .scannable: .scannable
        case .nonconnectable: .nonconnectable
        default: .directed
        }
    }
}

extension VirtualController {
    /// Sends the advertising event that is due, or ends advertising whose time is up.
    mutating func advertise(at now: Instant) {
        guard let signal = settings.advertiser.signal else { return }
        if let end = settings.advertiser.end, end <= now {
            settings.advertiser.stop()
            return tellNoConnection(.advertisingTimeout, as: .peripheral)
        }
        guard settings.advertiser.nextEvent <= now else { return }
        transmit(.advertising(signal), to: nil)
        settings.advertiser.schedule(after: now, &random)
    }

    /// Answers a scan request, if it is meant for this advertiser and its filter lets it pass.
    mutating func answerScan(
        by scanner: DeviceAddress, of advertiser: DeviceAddress, from sender: ID
    ) {
        let own = settings.advertiser
        guard own.address == advertiser, own.parameters.type.isScannable,
            !own.parameters.filterPolicy.contains(.filterScanRequests)
                || settings.acceptList.contains(scanner)
        else { return }
        transmit(.scanResponse(advertiser: advertiser, data: own.scanResponse), to: sender)
    }

    /// Makes the connection that an initiator asks for, if this advertiser is meant and may.
    mutating func accept(
        _ request: AirSignal.ConnectionRequest, from sender: ID, rssi: Int8
    ) {
        let own = settings.advertiser
        guard own.address == request.advertiser, own.parameters.type.isConnectable,
            links.count < configuration.maximumConnections, !isConnected(to: request.initiator)
        else { return }
        if let target = own.signal?.target {
            guard target == request.initiator else { return }
        } else if own.parameters.filterPolicy.contains(.filterConnections) {
            guard settings.acceptList.contains(request.initiator) else { return }
        }
        settings.advertiser.stop()
        addLink(
            request.link, as: .peripheral, to: request.initiator, at: sender, request.timing,
            request.channels, rssi: rssi)
    }
}
