import BLECore
import DequeModule
import HCI

extension VirtualController {
    /// Processes a signal of the peer on a link.
    mutating func receive(_ signal: LinkSignal, on index: Int, at now: Instant) {
        switch signal {
        case .established:
            links[index].establishment = nil
            flush(index)
        case .silence:
            links[index].silence = links[index].silence ?? now
            links[index].isLost = true
        case .data(let isStart, let data): deliver(data, isStart: isStart, on: index)
        case .acknowledged: acknowledge(on: index, at: now)
        case .terminate(let reason): end(index, reason)
        case .update(let timing):
            let isChanged = links[index].timing != timing
            links[index].timing = timing
            send(.updated(timing), on: index)
            let isWaiting = links[index].pending.remove(.update) != nil
            if isChanged || isWaiting { reportUpdate(links[index]) }
        case .updated(let timing):
            let isChanged = links[index].timing != timing
            links[index].timing = timing
            let isWaiting = links[index].pending.remove(.update) != nil
            if isChanged || isWaiting { reportUpdate(links[index]) }
        case .parameterRequest(let wanted): receiveParameterRequest(wanted, on: index, at: now)
        case .parametersRejected(let reason):
            guard links[index].pending.remove(.update) != nil else { return }
            reportUpdate(links[index], status: reason)
        case .channels(let channels): links[index].channels = channels
        case .featureRequest: send(.features(features), on: index)
        case .features(let features):
            guard links[index].pending.remove(.features) != nil else { return }
            emit(LEReadRemoteFeaturesComplete(connection: links[index].handle, features: features))
        case .versionRequest:
            send(
                .version(
                    configuration.version, company: configuration.company,
                    subversion: configuration.subversion), on: index)
        case .version(let version, let company, let subversion):
            guard links[index].pending.remove(.version) != nil else { return }
            emit(
                ReadRemoteVersionInformationComplete(
                    connection: links[index].handle, version: version, company: company,
                    subversion: subversion))
        case .lengthRequest(let transmit, let receive):
            adopt(peerTransmit: transmit, peerReceive: receive, on: index)
            send(.lengths(transmit: links[index].wantedLength, receive: .maximum), on: index)
        case .lengths(let transmit, let receive):
            adopt(peerTransmit: transmit, peerReceive: receive, on: index)
        case .phyRequest(let preference): receivePHYRequest(preference, on: index)
        case .phyResponse(let preference): receivePHYResponse(preference, on: index)
        case .phys(let central, let peripheral):
            receivePHYs(central: central, peripheral: peripheral, on: index)
        case .physUnknown: receivePHYsUnknown(on: index)
        case .encryption(let signal): receive(signal, on: index, at: now)
        }
    }

    /// Requests a different data length from the peer.
    mutating func sendLengthRequest(on index: Int) {
        send(.lengthRequest(transmit: links[index].wantedLength, receive: .maximum), on: index)
    }

    /// Adopts the data length for each direction, which is the lesser of what one device sends and the other
    /// receives (Vol 6, Part B, 4.5.10).
    private mutating func adopt(peerTransmit: DataLength, peerReceive: DataLength, on index: Int) {
        let transmit = links[index].wantedLength.limited(to: peerReceive)
        let receive = peerTransmit.limited(to: .maximum)
        guard transmit != links[index].transmitLength || receive != links[index].receiveLength else { return }
        links[index].transmitLength = transmit
        links[index].receiveLength = receive
        emit(LEDataLengthChange(connection: links[index].handle, transmit: transmit, receive: receive))
    }
}

// MARK: - Data

extension VirtualController {
    /// Processes data from the host. A packet for an unknown connection is dropped, because the connection
    /// can have just ended. A packet for which there is no buffer is dropped and reported.
    mutating func take(_ packet: ACLPacket, at now: Instant) {
        guard let index = links.indices.first(where: { links[$0].handle == packet.handle }) else { return }
        let buffered = links.indices.reduce(0) { $0 + links[$1].buffered }
        guard buffered < Int(configuration.aclPackets),
            packet.data.count <= Int(configuration.aclPacketLength)
        else { return emit(DataBufferOverflow(linkType: .acl)) }
        links[index].buffered += 1
        // The link layer has no packets for such data, and sends no data after the end of a connection, so
        // the buffer is released at once.
        guard !packet.data.isEmpty, packet.broadcast == .pointToPoint, packet.boundary != .complete,
            !links[index].isEnding
        else { return release(1, on: index) }
        sendData(.data(isStart: packet.boundary != .continuing, packet.data), on: index, at: now)
    }
}

/// The connection events of a link (Core Specification 5.4, Vol 6, Part B, 4.5.1), if they are simulated. A
/// limited number of the host's data packets is sent at each event, and their buffers are released at the
/// next.
extension VirtualController {
    /// Sends data of the host, now or at the link's next connection events.
    mutating func sendData(_ data: LinkSignal, on index: Int, at now: Instant) {
        guard packetsPerConnectionEvent != nil else { return send(data, on: index) }
        links[index].queued.append(data)
        awaitConnectionEvent(on: index, at: now)
    }

    /// Processes the acknowledgment that the peer's host has read a packet.
    mutating func acknowledge(on index: Int, at now: Instant) {
        guard packetsPerConnectionEvent != nil else { return release(1, on: index) }
        links[index].acknowledged += 1
        awaitConnectionEvent(on: index, at: now)
    }

    /// Processes the connection events that are due by `now`.
    mutating func holdConnectionEvents(at now: Instant) {
        for index in links.indices {
            guard let due = links[index].connectionEvent, due <= now else { continue }
            links[index].connectionEvent = nil
            release(links[index].acknowledged, on: index)
            links[index].acknowledged = 0
            for _ in 0..<(packetsPerConnectionEvent ?? .max) {
                guard let data = links[index].queued.popFirst() else { break }
                send(data, on: index)
            }
            if !links[index].queued.isEmpty { awaitConnectionEvent(on: index, at: now) }
        }
    }

    /// Schedules the next connection event. Events are at multiples of the interval, so all links with the
    /// same interval have them at the same times.
    private mutating func awaitConnectionEvent(on index: Int, at now: Instant) {
        guard links[index].connectionEvent == nil else { return }
        let interval = UInt64(max(links[index].timing.interval.duration.nanoseconds, 1))
        links[index].connectionEvent = now + .nanoseconds(Int64(interval - now.nanoseconds % interval))
    }
}
