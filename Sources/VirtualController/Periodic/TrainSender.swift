import BLECore
import HCI

/// The periodic train of an advertising set (Core Specification 5.4, Vol 6, Part B, 4.4.2.12).
struct TrainSender: Sendable {
    typealias Parameters = LESetPeriodicAdvertisingParameters

    var parameters: Parameters
    var data = AdvertisingPayload()
    var dataID: UInt16 = 0
    /// Whether the host has enabled the train. It begins when the set advertises, and then continues
    /// independently of the set.
    private(set) var isEnabled = false
    private(set) var includesADI = false
    /// The train, while it is being sent.
    private(set) var train: AirSignal.Train?
    private(set) var nextEvent = Instant.zero
    private(set) var events: UInt64 = 0

    init(_ parameters: Parameters) { self.parameters = parameters }

    var deadline: Instant? { train == nil ? nil : nextEvent }

    mutating func enable(includingADI: Bool) { (isEnabled, includesADI) = (true, includingADI) }

    mutating func disable() { (isEnabled, train) = (false, nil) }

    /// Begins to send the train as `id` on `phy`, with an interval that has room for packets of `airtime`.
    mutating func begin(_ id: AirTrainID, on phy: PHY, _ airtime: Duration, at now: Instant) {
        guard isEnabled, train == nil else { return }
        let unit = ConnectionInterval(rawValue: 1).duration.nanoseconds
        let least = UInt16(clamping: (airtime.nanoseconds + unit - 1) / unit)
        let interval = ConnectionInterval(rawValue: max(parameters.intervalMin.rawValue, least))
        train = AirSignal.Train(id: id, interval: interval, phy: phy)
        nextEvent = now + interval.duration
        events = 0
    }

    /// Returns the packet that is due by `now`, if any.
    mutating func nextPacket(_ power: Int8, by now: Instant) -> AirSignal.TrainPacket? {
        guard let train, nextEvent <= now else { return nil }
        nextEvent = nextEvent + train.interval.duration
        events += 1
        return AirSignal.TrainPacket(
            train: train.id, event: events, dataID: includesADI ? dataID : nil,
            txPower: parameters.properties.contains(.includesTxPower) ? power : nil, data: data.octets)
    }

    /// The maximum duration of the packets: the interval, which is fixed while the train is being sent.
    var room: Duration { (train?.interval ?? parameters.intervalMax).duration }
}

extension VirtualController {
    /// Whether the controller supports periodic advertising, as sender and receiver.
    var hasPeriodic: Bool { (configuration.extended?.periodicSyncs ?? 0) > 0 }

    /// Begins to send the train of a set, if the host has enabled the train and the set advertises it.
    mutating func beginTrain(of index: Int, at now: Instant) {
        let own = settings.advertisers[index]
        guard let train = own.train, train.isEnabled, train.train == nil, own.isEnabled else { return }
        let id = newTrainID()
        settings.advertisers[index].train?.begin(
            id, on: own.parameters.secondaryPHY,
            AdvertisingChain.periodic.duration(of: train.data.octets.count, on: own.parameters.secondaryPHY),
            at: now)
    }

    /// Sends the packet of a set's train if it is due.
    mutating func sendTrain(_ index: Int, at now: Instant) {
        let power = settings.advertisers[index].power ?? configuration.transmitPower
        if let packet = settings.advertisers[index].train?.nextPacket(power, by: now) {
            transmit(.train(packet), to: nil, at: power)
        }
    }
}
