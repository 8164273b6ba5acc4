import BLECore
import HCI

extension VirtualController {
    /// Sends the advertising events that are due, and ends advertising whose time is up.
    mutating func advertise(at now: Instant) {
        for index in settings.advertisers.indices { advertise(index, at: now) }
    }

    private mutating func advertise(_ index: Int, at now: Instant) {
        let own = settings.advertisers[index]
        guard own.isEnabled else { return }
        if let end = own.end, end.time <= now {
            settings.advertisers[index].stop()
            guard let handle = own.handle else { return tellNoConnection(end.status, as: .peripheral) }
            return tell(
                LEAdvertisingSetTerminated(
                    status: end.status, set: handle, completedEvents: UInt8(clamping: own.events)))
        }
        guard own.nextEvent <= now else { return }
        transmit(.advertising(signal(of: own)), to: nil)
        settings.advertisers[index].schedule(after: now, &random)
    }

    /// What an advertising event of a set says, or its scan response.
    private func signal(of own: Advertiser, isResponse: Bool = false) -> AirSignal.Advertising {
        let (parameters, properties) = (own.parameters, own.properties)
        let isLegacy = properties.contains(.legacy)
        let data = isResponse ? own.scanResponse.octets : properties.carryData ? own.data.octets : []
        return AirSignal.Advertising(
            properties: properties, set: own.handle,
            advertiser: properties.contains(.anonymous) ? nil : own.address,
            target: properties.contains(.directed) ? parameters.peer.deviceAddress : nil,
            sid: isLegacy ? nil : parameters.sid, dataID: isLegacy ? 0 : own.dataID,
            primaryPHY: parameters.primaryPHY, secondaryPHY: isLegacy ? .none : parameters.secondaryPHY,
            txPower: properties.contains(.includesTxPower) && !isLegacy ? own.power : nil,
            isResponse: isResponse, knowsAlgorithm2: isExtended, data: data)
    }

    /// Answers a scan request, if it is meant for an advertiser here and its filter lets it pass.
    mutating func answerScan(_ request: AirSignal.ScanRequest, from sender: ID) {
        guard let own = advertiser(request.set, at: request.advertiser), own.properties.contains(.scannable),
            !own.parameters.filterPolicy.contains(.filterScanRequests)
                || settings.acceptList.contains(request.scanner)
        else { return }
        if let handle = own.handle, own.parameters.notifiesScanRequests.value == true {
            tell(LEScanRequestReceived(set: handle, scanner: HCIAddress(request.scanner)))
        }
        transmit(.scanResponse(signal(of: own, isResponse: true)), to: sender)
    }

    /// Makes the connection that an initiator asks for, if an advertiser here is meant and may.
    mutating func accept(_ request: AirSignal.ConnectionRequest, from sender: ID, rssi: Int8) {
        guard let own = advertiser(request.set, at: request.advertiser),
            own.properties.contains(.connectable), links.count < configuration.maximumConnections,
            !isConnected(to: request.initiator)
        else { return }
        if own.properties.contains(.directed) {
            guard own.parameters.peer.deviceAddress == request.initiator else { return }
        } else if own.parameters.filterPolicy.contains(.filterConnections) {
            guard settings.acceptList.contains(request.initiator) else { return }
        }
        if let index = settings.advertisers.firstIndex(where: { $0.handle == own.handle }) {
            settings.advertisers[index].stop()
        }
        addLink(request, as: .peripheral, to: request.initiator, at: sender, rssi: rssi)
        // The host learns of the connection first (Core Specification 5.4, Vol 4, Part E, 7.7.65.18).
        if let handle = own.handle, let connection = links.last?.handle {
            tell(
                LEAdvertisingSetTerminated(
                    status: .success, set: handle, connection: connection,
                    completedEvents: UInt8(clamping: own.events)))
        }
    }

    /// The set of that number, if it advertises as `address`. What others answer names the set, since several
    /// may have one address; on air, time tells them apart.
    private func advertiser(_ set: AdvertisingHandle?, at address: DeviceAddress) -> Advertiser? {
        settings.advertisers.first { $0.handle == set && $0.address == address }
    }
}
