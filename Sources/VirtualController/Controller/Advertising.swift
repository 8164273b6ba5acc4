import BLECore
import HCI

extension VirtualController {
    /// Sends the advertising events that are due, and ends advertising whose time is up.
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
        settings.advertisers[index].schedule(after: now, &random)
    }

    /// What an advertising event of a set says, or its scan response.
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

    /// Answers a scan request, if it is meant for an advertiser here and its filter lets it pass.
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

    /// Makes the connection that an initiator asks for, if an advertiser here is meant and may.
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
        // The host learns of the connection first (Core Specification 5.4, Vol 4, Part E, 7.7.65.18).
        if let handle = own.handle, let connection = links.last?.handle {
            emit(
                LEAdvertisingSetTerminated(
                    status: .success, set: handle, connection: connection,
                    completedEvents: UInt8(clamping: own.events)))
        }
    }

    /// The set of that number, if it advertises as `address`. A response names the set, since several may have
    /// the same address; on air, timing distinguishes them.
    private func advertiser(_ set: AdvertisingHandle?, at address: DeviceAddress) -> Advertiser? {
        settings.advertisers.first { $0.handle == set && $0.shownAddress == address }
    }
}
