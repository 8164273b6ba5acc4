import BLECore
import DequeModule
import HCI

struct Link: Sendable {
    let id: AirLinkID
    let handle: ConnectionHandle
    let role: ConnectionRole
    /// The controller of the peer.
    let peer: VirtualController.ID
    /// The address of the peer: its identity, if that is known.
    let peerAddress: DeviceAddress

    var timing: LinkTiming
    var channels: ChannelMap
    var phys: LinkPHYs
    /// The PHYs that the host prefers for sending and receiving.
    var phyPreference: PHYPreference
    var rssi: Int8
    /// The data length that the host requests. The lengths in use in each direction follow.
    var wantedLength: DataLength
    var transmitLength = DataLength.minimum
    var receiveLength = DataLength.minimum

    /// The number of the host's packets that the peer's host has not read.
    var buffered = 0
    /// The host's data for the next connection event. `acknowledged` is the number of its packets that the
    /// peer's host has read, which is reported at that event.
    var queued: Deque<LinkSignal> = []
    var acknowledged = 0
    /// The time of the next connection event; nil while nothing waits for it.
    var connectionEvent: Instant?
    /// The signals that wait until the peer is reachable.
    var held: Deque<LinkSignal> = []
    /// The procedures that the host has started and whose events are pending.
    var pending: Set<Procedure> = []

    /// The time by which the peer's first packet must arrive; nil once the connection is established.
    var establishment: Instant?
    /// The time at which the peer fell silent, if it did.
    var silence: Instant?
    /// Whether the peer is lost permanently.
    var isLost = false
    /// The reason with which this controller ends the connection, until the peer has been notified.
    var ending: HCIStatus?

    /// The encryption of the link; `payload` is its authenticated payload timeout.
    var encryption = LinkEncryption()
    var payload = AuthenticatedPayload()

    /// The time by which the host must accept or reject the parameters that the peer requests, if a request
    /// is pending.
    var question: Instant?

    /// A procedure that ends with an event.
    enum Procedure: Hashable, Sendable { case features, version, update, phys }

    var isEstablished: Bool { establishment == nil }
    var isEnding: Bool { ending != nil }
    /// Whether the peer receives signals that are sent now.
    var isReachable: Bool { isEstablished && silence == nil }

    /// The time at which the connection is lost, if nothing is received.
    var deadline: Instant? {
        earlier(earlier(establishment, answer), silence.map { $0 + timing.supervisionTimeout.duration })
    }

    /// The time by which the host or the peer must answer a procedure.
    private var answer: Instant? { earlier(question, encryption.procedure?.end) }

    /// The reason with which the connection ends at its deadline.
    var reason: HCIStatus {
        if !isEstablished { return .connectionFailedToBeEstablished }
        return deadline == answer ? .llResponseTimeout : .connectionTimeout
    }
}

extension DataLength {
    /// The data length that every link supports (Core Specification 5.4, Vol 6, Part B, 4.5.10).
    static let minimum = DataLength(octets: 27, time: 328)
    /// The data length that this controller supports: the maximum of LE at 1 Mbit/s.
    static let maximum = DataLength(octets: 251, time: 2120)

    /// Returns the lesser octets and the lesser time of both lengths.
    func limited(to other: DataLength) -> DataLength {
        DataLength(octets: min(octets, other.octets), time: min(time, other.time))
    }
}

// MARK: - Beginning and end

extension VirtualController {
    func isConnected(to peer: DeviceAddress) -> Bool { links.contains { $0.peerAddress == peer } }

    /// Adds a connection. For a central, the connection is established only with the peer's first packet, for
    /// which it waits six intervals from `now` (Vol 6, Part B, 4.5.2) plus the round-trip time. A peripheral
    /// has already received the central's request.
    mutating func addLink(
        _ request: AirSignal.ConnectionRequest, as role: ConnectionRole, to other: AirPeer,
        showing privateAddress: DeviceAddress?, at peer: ID, rssi: Int8, at now: Instant? = nil
    ) {
        let timing = request.timing
        let link = Link(
            id: request.link, handle: freeHandle(), role: role, peer: peer, peerAddress: other.address,
            timing: timing, channels: request.channels,
            phys: LinkPHYs(transmit: request.phy, receive: request.phy),
            phyPreference: settings.phyPreference, rssi: rssi, wantedLength: settings.suggestedLength,
            establishment: now.map { $0 + timing.interval.duration * 6 + roundTrip })
        links.append(link)
        let none = DeviceAddress(0, type: .random)
        if reports(.enhancedConnectionComplete) {
            emit(
                LEEnhancedConnectionComplete(
                    connection: link.handle, role: role, peer: other.reported,
                    localResolvable: privateAddress ?? none,
                    peerResolvable: other.identity == nil ? none : other.onAir,
                    interval: timing.interval, latency: timing.latency,
                    supervisionTimeout: timing.supervisionTimeout))
        } else {
            emit(
                LEConnectionComplete(
                    connection: link.handle, role: role, peer: HCIAddress(other.onAir),
                    interval: timing.interval, latency: timing.latency,
                    supervisionTimeout: timing.supervisionTimeout))
        }
        if isExtended {
            emit(
                LEChannelSelectionAlgorithm(
                    connection: link.handle, algorithm: request.usesAlgorithm2 ? 1 : 0))
        }
        let index = links.count - 1
        if role == .peripheral { send(.established, on: index) }
        if link.wantedLength != .minimum { sendLengthRequest(on: index) }
    }

    /// Reports that no connection was established.
    mutating func reportNoConnection(_ status: HCIStatus, as role: ConnectionRole) {
        let (none, unknown) = (ConnectionHandle(0), HCIAddress(0, type: .public))
        let (interval, timeout) = (ConnectionInterval(rawValue: 0), Centiseconds(rawValue: 0))
        if reports(.enhancedConnectionComplete) {
            emit(
                LEEnhancedConnectionComplete(
                    status: status, connection: none, role: role, peer: unknown, interval: interval,
                    latency: 0, supervisionTimeout: timeout))
        } else {
            emit(
                LEConnectionComplete(
                    status: status, connection: none, role: role, peer: unknown, interval: interval,
                    latency: 0, supervisionTimeout: timeout))
        }
    }

    /// Ends a connection. Its pending procedures end first, with the same reason.
    mutating func end(_ index: Int, _ reason: HCIStatus) {
        let link = links.remove(at: index)
        settings.hostFlow.forget(link.handle)
        if link.pending.contains(.features) {
            emit(LEReadRemoteFeaturesComplete(status: reason, connection: link.handle, features: []))
        }
        if link.pending.contains(.version) {
            emit(
                ReadRemoteVersionInformationComplete(
                    status: reason, connection: link.handle, version: CoreVersion(rawValue: 0), company: 0,
                    subversion: 0))
        }
        if link.pending.contains(.update) { reportUpdate(link, status: reason) }
        if link.pending.contains(.phys) { reportPHYs(link, status: reason) }
        emit(DisconnectionComplete(connection: link.handle, reason: reason))
    }

    mutating func reportUpdate(_ link: Link, status: HCIStatus = .success) {
        emit(
            LEConnectionUpdateComplete(
                status: status, connection: link.handle, interval: link.timing.interval,
                latency: link.timing.latency, supervisionTimeout: link.timing.supervisionTimeout))
    }
}

// MARK: - Reach

extension VirtualController {
    /// Marks the links to controller `peer` as silent from `now`: permanently if the controller `isGone`,
    /// otherwise until `peerReturned`.
    package mutating func peerFellSilent(_ peer: ID, isGone: Bool, at now: Instant) {
        for index in links.indices where links[index].peer == peer {
            links[index].silence = links[index].silence ?? now
            if isGone { links[index].isLost = true }
        }
    }

    /// Marks controller `peer` as in range again, and sends the signals that were held for it.
    package mutating func peerReturned(_ peer: ID) {
        for link in links where link.peer == peer && !link.isLost {
            guard let index = links.firstIndex(where: { $0.id == link.id }) else { continue }
            links[index].silence = nil
            flush(index)
        }
    }

    /// Sets the level at which signals of `peer` arrive to `rssi` dBm.
    package mutating func peerChanged(_ peer: ID, rssi: Int8) {
        for index in links.indices where links[index].peer == peer { links[index].rssi = rssi }
    }

    /// Sends a signal to the peer, or holds it until the peer is reachable and encryption procedures allow
    /// it.
    mutating func send(_ signal: LinkSignal, on index: Int) {
        if links[index].encryption.procedure != nil, !signal.passesEncryption {
            links[index].encryption.waiting.append(replacing: signal)
        } else if links[index].isReachable {
            transmit(.link(links[index].id, signal), to: links[index].peer, in: links[index].timing)
        } else {
            links[index].held.append(replacing: signal)
        }
    }

    /// Sends the held signals. If this controller is ending the connection, it ends afterwards.
    mutating func flush(_ index: Int) {
        guard links[index].isReachable else { return }
        while let signal = links[index].held.popFirst() {
            transmit(.link(links[index].id, signal), to: links[index].peer, in: links[index].timing)
        }
        if let reason = links[index].ending { end(index, reason) }
    }
}

extension Deque<LinkSignal> {
    /// Appends a signal and removes the signals that it makes obsolete.
    fileprivate mutating func append(replacing signal: LinkSignal) {
        removeAll { $0.isReplaced(by: signal) }
        append(signal)
    }
}

extension LinkSignal {
    /// Returns whether `later` makes this signal obsolete, so that it does not have to be held.
    fileprivate func isReplaced(by later: LinkSignal) -> Bool {
        switch (self, later) {
        case (.channels, .channels), (.lengthRequest, .lengthRequest): true
        default: false
        }
    }
}

/// The authenticated payload timeout of an encrypted link: the maximum time without an authenticated packet
/// (Core Specification 5.4, Vol 6, Part B, 5.4). Pings are not simulated, because a peer in range always
/// sends one in time.
struct AuthenticatedPayload: Sendable {
    var timeout = Centiseconds(rawValue: 3000)
    /// The start of the time limit.
    private var start = Instant.zero

    /// Restarts the time limit at `now`.
    mutating func restart(at now: Instant) { start = now }

    /// Returns the time at which a silence must be reported to the host.
    func deadline(ofSilence silence: Instant) -> Instant { max(silence, start) + timeout.duration }
}

extension Link {
    /// The time at which the authenticated payload timeout expires.
    var payloadDeadline: Instant? {
        encryption.isOn ? silence.map { payload.deadline(ofSilence: $0) } : nil
    }
}

extension VirtualController {
    /// Reports links whose authenticated payload timeout has expired.
    mutating func expirePayloads(at now: Instant) {
        for index in links.indices where links[index].payloadDeadline.map({ $0 <= now }) ?? false {
            links[index].payload.restart(at: now)
            emit(AuthenticatedPayloadTimeoutExpired(connection: links[index].handle))
        }
    }
}
