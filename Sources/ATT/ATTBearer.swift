import BLECore
import DequeModule

/// One ATT bearer, client and server at once (Core Specification 5.4, Vol 3, Part F, 3.2.11): on LE a link
/// has one fixed channel for both directions, so one object must tell them apart.
///
/// As client it keeps one request outstanding and queues the others, sends commands without waiting for
/// responses, and closes after 30 s without an answer (3.3.3). As server it hands out one request at a
/// time, answers MTU exchanges, malformed and unknown requests by itself, and keeps one indication in
/// flight. Whatever a peer sends, the bearer lives on; what had to be ignored is counted in `ignored`.
///
/// ```swift
/// bearer.receive(frame, at: now)
/// while let event = bearer.nextEvent() {
///     if case .request(let request) = event { try bearer.respond(answer(request)) }
/// }
/// while bearer.nextFrame(into: &output) { transport.send(output) }
/// ```
/// Taking a frame may make room and so make events: after the last frame, look for events again.
public struct ATTBearer: Machine, Sendable {
    /// What the owner chose.
    public let configuration: Configuration
    /// The MTU that holds now: 23 until an exchange, then the lesser of what both ends receive.
    public private(set) var mtu = ATTMTU.default
    /// What the peer sent and nobody could use.
    public internal(set) var ignored = Ignored()
    /// Why the bearer carries nothing any more; nil while it does.
    public private(set) var closure: Closure?

    var events = Deque<Event>()
    var outbox = Deque<ATTPDU>()
    var lastTransaction: UInt64 = 0
    var client = ClientState()
    var server = ServerState()

    /// A bearer over a channel that was just opened.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// Takes one PDU from the peer.
    public mutating func receive(_ frame: Span<UInt8>, at now: Instant) {
        guard closure == nil else { return }
        guard !frame.isEmpty else {
            ignored.malformed += 1
            return
        }
        let opcode = ATTOpcode(frame[0])
        switch opcode.kind {
        case .request: receiveRequest(frame, opcode, at: now)
        case .response: receiveResponse(frame, opcode, at: now)
        case .command: receiveCommand(frame)
        case .push: receivePush(frame, opcode)
        case .confirmation: receiveConfirmation(frame, at: now)
        case nil where opcode.isCommand: ignored.unknownCommands += 1
        case nil: accept(.refusal(ATTErrorResponse(opcode, .none, .requestNotSupported)))
        }
    }

    /// Closes the bearer when the peer has kept a request or an indication too long, and refuses a request
    /// that the owner has kept too long.
    public mutating func expire(at now: Instant) {
        answerOverdue(at: now)
        if let due = peerDeadline, due <= now { close(.transactionTimeout) }
    }

    /// Writes the next PDU; `output` has room for `ATTMTU.maximum` octets, since what waited may be longer
    /// than an MTU that sank meanwhile.
    public mutating func nextFrame(into output: inout OutputSpan<UInt8>) -> Bool {
        if client.confirmationsOwed > 0 {
            client.confirmationsOwed -= 1
            ATTPDU.confirmation.encode(into: &output)
            return true
        }
        guard let pdu = nextPDU() else { return false }
        pdu.encode(into: &output)
        switch pdu {
        case .request: client.current?.isSent = true
        case .response:
            server.responsesQueued -= 1
            serveWaiting()
        case .push(.indication): server.indicating?.isSent = true
        case .command, .push, .confirmation: break
        }
        if server.refusedPush, pushesQueued < configuration.pushLimit {
            server.refusedPush = false
            events.append(.ready)
        }
        return true
    }

    /// The next thing to tell, oldest first.
    public mutating func nextEvent() -> Event? { events.popFirst() }

    /// When a request or an indication, theirs or ours, will have waited too long.
    public var deadline: Instant? { earlier(peerDeadline, server.answerDue) }

    /// Ends the bearer, as when its link is gone: all that wait hear why, then `.closed` follows, and
    /// nothing more is sent or received.
    public mutating func close(_ reason: Closure) {
        guard closure == nil else { return }
        closure = reason
        let current = client.current.flatMap { $0.isCancelled ? nil : $0 }
        let waiting = client.waiting.map(\.id)
        let unconfirmed = [server.indicating?.id].compactMap(\.self) + server.indications.map(\.id)
        if let current {
            // Why it was not answered is the better reason.
            let stray = reason == .transactionTimeout ? current.stray : nil
            events.append(
                .failed(
                    current.id,
                    stray.map { .unexpectedResponse($0, to: current.request.opcode) } ?? .closed(reason)))
        }
        for id in waiting + unconfirmed {
            events.append(.failed(id, .closed(reason)))
        }
        client = ClientState()
        server = ServerState()
        outbox = []
        events.append(.closed(reason))
    }

    /// The number of the next transaction.
    mutating func newTransaction() -> ATTTransactionID {
        lastTransaction &+= 1
        return ATTTransactionID(rawValue: lastTransaction)
    }

    /// Takes the MTU that both ends can receive.
    mutating func agree(_ ours: UInt16, _ theirs: UInt16) {
        let agreed = ATTMTU(min(ours, theirs))
        guard agreed != mtu else { return }
        mtu = agreed
        events.append(.mtu(agreed))
    }

    /// Queues a command or a notification, if there is room.
    mutating func enqueue(_ pdu: ATTPDU) throws(ATTLimitError) {
        guard closure == nil else { return }
        try ATTLimitError.check(.pdu(pdu.opcode), pdu.encodedCount, atMost: mtu.octets)
        do {
            try ATTLimitError.check(.pushes, pushesQueued + 1, atMost: configuration.pushLimit)
        } catch {
            server.refusedPush = true
            throw error
        }
        outbox.append(pdu)
    }

    /// Whether a command or a notification would be queued.
    public var canPush: Bool { closure == nil && pushesQueued < configuration.pushLimit }

    /// `.ready` is told as soon as one would be queued again.
    public mutating func tellWhenReady() { server.refusedPush = !canPush }

    /// How many commands, notifications and indications wait to be taken by `nextFrame(into:)`; of the indications
    /// the one whose turn it is.
    public var unsentPushes: Int {
        outbox.count {
            switch $0 {
            case .command, .push: true
            case .request, .response, .confirmation: false
            }
        }
    }

    /// The next PDU that may go. Between our MTU request and its response that is no notification or
    /// indication, since the peer may have taken the new MTU already or not yet (3.4.2.2).
    private mutating func nextPDU() -> ATTPDU? {
        guard case .exchangeMTU? = client.current?.request, client.current?.isSent == true else {
            return outbox.popFirst()
        }
        let index = outbox.firstIndex { if case .push = $0 { false } else { true } }
        return index.map { outbox.remove(at: $0) }
    }

    private var peerDeadline: Instant? {
        earlier(client.current?.deadline, server.indicating?.deadline)
    }

    private var pushesQueued: Int { outbox.count - server.responsesQueued }
}
