import BLECore
import DequeModule
import HCI

struct Link: Sendable {
    let id: AirLinkID
    let handle: ConnectionHandle
    let role: ConnectionRole
    /// The controller at the other end.
    let peer: VirtualController.ID
    /// The other end's address: its identity, if that is known.
    let peerAddress: DeviceAddress

    var timing: LinkTiming
    var channels: ChannelMap
    var phys: LinkPHYs
    /// What the host likes to send and to receive on.
    var phyPreference: PHYPreference
    var rssi: Int8
    /// The data length that the host requests, and those in use in each direction.
    var wantedLength: DataLength
    var transmitLength = DataLength.minimum
    var receiveLength = DataLength.minimum

    /// Packets of the host that the peer's host has not taken.
    var buffered = 0
    /// Data of the host, and how many of its packets the peer's host has taken since, at the next connection event.
    var queued: Deque<LinkSignal> = []
    var acknowledged = 0
    /// When that is; nil while nothing waits for it.
    var connectionEvent: Instant?
    /// What waits until the peer can be reached.
    var held: Deque<LinkSignal> = []
    /// The procedures whose events the host expects.
    var pending: Set<Procedure> = []

    /// When the first packet of the peer must have come; nil when it has.
    var establishment: Instant?
    /// When the peer fell silent, if it did.
    var silence: Instant?
    /// Whether nothing will ever be received from the peer again.
    var isLost = false
    /// Why this end ends the connection, when the peer does not know yet.
    var ending: HCIStatus?

    /// Whether data are encrypted, and since when the peer has proved that it has the key.
    var encryption = LinkEncryption()
    var payload = AuthenticatedPayload()

    /// Until when the host must accept or reject the parameters that the peer requests, if it was asked.
    var question: Instant?

    /// A procedure that ends with an event.
    enum Procedure: Hashable, Sendable { case features, version, update, phys }

    var isEstablished: Bool { establishment == nil }
    var isEnding: Bool { ending != nil }
    /// Whether the peer receives what is sent now.
    var isReachable: Bool { isEstablished && silence == nil }

    /// When the connection counts as lost, if nothing comes.
    var deadline: Instant? {
        earlier(earlier(establishment, answer), silence.map { $0 + timing.supervisionTimeout.duration })
    }

    /// When the host or the peer must have answered a procedure.
    private var answer: Instant? { earlier(question, encryption.procedure?.end) }

    /// Why it ends at its deadline.
    var reason: HCIStatus {
        if !isEstablished { return .connectionFailedToBeEstablished }
        return deadline == answer ? .llResponseTimeout : .connectionTimeout
    }
}

extension DataLength {
    /// What every link can do (Core Specification 5.4, Vol 6, Part B, 4.5.10).
    static let minimum = DataLength(octets: 27, time: 328)
    /// What this controller can do: the most that LE has, at 1 Mbit/s.
    static let maximum = DataLength(octets: 251, time: 2120)

    /// The lesser of both, octets and time by themselves.
    func limited(to other: DataLength) -> DataLength {
        DataLength(octets: min(octets, other.octets), time: min(time, other.time))
    }
}

// MARK: - Beginning and end

extension VirtualController {
    func isConnected(to peer: DeviceAddress) -> Bool { links.contains { $0.peerAddress == peer } }

    /// A connection begins. A central learns only from the peer's first packet that it is made, for which it
    /// waits six intervals from `now` (Vol 6, Part B, 4.5.2) beside the time on the way; a peripheral has
    /// received the central's request already.
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
        if wants(.enhancedConnectionComplete) {
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

    /// Reports that no connection was made.
    mutating func reportNoConnection(_ status: HCIStatus, as role: ConnectionRole) {
        let (none, unknown) = (ConnectionHandle(0), HCIAddress(0, type: .public))
        let (interval, timeout) = (ConnectionInterval(rawValue: 0), Centiseconds(rawValue: 0))
        if wants(.enhancedConnectionComplete) {
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

    /// A connection ends. What the host still waits for ends first, with the same reason.
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
    /// Nothing is received from the controller `peer` from `now` on: for ever when it `isGone`, else until
    /// `peerReturned`.
    package mutating func peerFellSilent(_ peer: ID, isGone: Bool, at now: Instant) {
        for index in links.indices where links[index].peer == peer {
            links[index].silence = links[index].silence ?? now
            if isGone { links[index].isLost = true }
        }
    }

    /// The controller `peer` is in range again. What was held back for it is sent.
    package mutating func peerReturned(_ peer: ID) {
        for link in links where link.peer == peer && !link.isLost {
            guard let index = links.firstIndex(where: { $0.id == link.id }) else { continue }
            links[index].silence = nil
            flush(index)
        }
    }

    /// The signals of `peer` arrive with `rssi` dBm now.
    package mutating func peerChanged(_ peer: ID, rssi: Int8) {
        for index in links.indices where links[index].peer == peer { links[index].rssi = rssi }
    }

    /// Sends a signal to the other end, or holds it until that can be reached and may be sent it.
    mutating func send(_ signal: LinkSignal, on index: Int) {
        if links[index].encryption.procedure != nil, !signal.passesEncryption {
            links[index].encryption.waiting.append(replacing: signal)
        } else if links[index].isReachable {
            transmit(.link(links[index].id, signal), to: links[index].peer, in: links[index].timing)
        } else {
            links[index].held.append(replacing: signal)
        }
    }

    /// Sends what was held. The last of it may be the end.
    mutating func flush(_ index: Int) {
        guard links[index].isReachable else { return }
        while let signal = links[index].held.popFirst() {
            transmit(.link(links[index].id, signal), to: links[index].peer, in: links[index].timing)
        }
        if let reason = links[index].ending { end(index, reason) }
    }
}

extension Deque<LinkSignal> {
    /// Appends a signal, which takes the place of those that mean nothing any more.
    fileprivate mutating func append(replacing signal: LinkSignal) {
        removeAll { $0.isReplaced(by: signal) }
        append(signal)
    }
}

extension LinkSignal {
    /// Whether this signal means nothing any more when `later` follows it, so that it need not be held.
    fileprivate func isReplaced(by later: LinkSignal) -> Bool {
        switch (self, later) {
        case (.channels, .channels), (.lengthRequest, .lengthRequest): true
        default: false
        }
    }
}

/// How long an encrypted link may be without a packet that proves its key (Core Specification 5.4, Vol 6,
/// Part B, 5.4). Pings are not simulated: a peer in range always sends one in time.
struct AuthenticatedPayload: Sendable {
    var timeout = Centiseconds(rawValue: 3000)
    /// The start of the time limit.
    private var start = Instant.zero

    /// Starts the time limit anew.
    mutating func restart(at now: Instant) { start = now }

    /// When a silence must be reported to the host.
    func deadline(ofSilence silence: Instant) -> Instant { max(silence, start) + timeout.duration }
}

extension Link {
    /// When too long nothing has come that proves the key.
    var payloadDeadline: Instant? {
        encryption.isOn ? silence.map { payload.deadline(ofSilence: $0) } : nil
    }
}

extension VirtualController {
    /// Reports links whose peers have proved nothing for too long.
    mutating func expirePayloads(at now: Instant) {
        for index in links.indices where links[index].payloadDeadline.map({ $0 <= now }) ?? false {
            links[index].payload.restart(at: now)
            emit(AuthenticatedPayloadTimeoutExpired(connection: links[index].handle))
        }
    }
}
