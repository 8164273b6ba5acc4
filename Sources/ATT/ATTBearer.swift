import BLECore
import DequeModule

/// An ATT bearer that acts as client and server at the same time (Core Specification 5.4, Vol 3, Part F,
/// 3.2.11). On LE, a link has one fixed channel for both directions, so one object must distinguish them.
///
/// As client, the bearer keeps one request outstanding and queues the others, sends commands without waiting
/// for responses, and closes after 30 s without an answer (3.3.3). As server, it passes one request at a time
/// to its owner, answers MTU exchanges and malformed and unknown requests by itself, and keeps one indication
/// in flight. Nothing that a peer sends ends the bearer; PDUs that it has to ignore are counted in `ignored`.
///
/// ```swift
/// bearer.receive(frame, at: now)
/// while let event = bearer.nextEvent() {
///     if case .request(let request) = event { try bearer.respond(answer(request)) }
/// }
/// while bearer.nextFrame(into: &output, at: now) { transport.send(output) }
/// ```
/// Taking a frame can make room and so add events: after the last frame, check for events again.
package struct ATTBearer: Machine, Sendable {
    /// The configuration that the owner chose.
    package let configuration: Configuration
    /// The current MTU: 23 until an exchange, then the smaller of the two receive MTUs.
    package private(set) var mtu = ATTMTU.default
    /// The counts of PDUs that the peer sent and the bearer had to ignore.
    package private(set) var ignored = Ignored()
    /// The reason for which the bearer was closed; nil while it is open.
    package private(set) var closure: Closure?

    /// A request that this side has sent or queued.
    private struct Transaction: Sendable {
        let id: ATTTransactionID
        let request: ATTRequest
    }

    /// The request of this side that is in progress: in the outbox, or sent.
    private struct CurrentTransaction: Sendable {
        let id: ATTTransactionID
        let request: ATTRequest
        /// When the request times out; nil until the request is sent, because its time starts then (3.3.3).
        var deadline: Instant?
        var isCancelled = false
        /// The last response received meanwhile that does not answer the request.
        var stray: ATTOpcode?

        var isSent: Bool { deadline != nil }
    }

    /// The state of the client's half.
    private struct Client: Sendable {
        var current: CurrentTransaction?
        var waiting = Deque<Transaction>()
        /// The number of received indications that the owner has not confirmed.
        var unconfirmed = 0
        /// The number of confirmations to send; a count, so that a flood of indications takes no memory.
        var confirmationsOwed = 0
    }

    /// A request from the peer that waits for its turn.
    private enum Incoming: Sendable {
        /// A request for the owner, or an MTU exchange, with its time of arrival.
        case request(ATTRequest, at: Instant)
        /// A request that can only be rejected.
        case refusal(ATTErrorResponse)
    }

    /// An indication that waits for its turn.
    private struct Indication: Sendable {
        let id: ATTTransactionID
        let handle: AttributeHandle
        let value: [UInt8]
    }

    /// The indication of this side that is in progress: in the outbox, or sent and not confirmed.
    private struct CurrentIndication: Sendable {
        let id: ATTTransactionID
        /// When the indication times out; nil until it is sent.
        var deadline: Instant?

        var isSent: Bool { deadline != nil }
    }

    /// The state of the server's half.
    private struct Server: Sendable {
        /// The opcode of the request that the owner has not answered yet.
        var serving: ATTOpcode?
        var answerDue: Instant?
        var incoming = Deque<Incoming>()
        var responsesQueued = 0
        var indicating: CurrentIndication?
        var indications = Deque<Indication>()
        var refusedUnsolicited = false
    }

    private var events = Deque<Event>()
    private var outbox = Deque<ATTPDU>()
    private var lastTransaction: UInt64 = 0
    /// The number of commands and notifications that were queued when the bearer closed.
    private var discarded = 0
    /// The opcode of the last PDU that the channel took.
    private var lastTaken: ATTOpcode?
    private var isWritable = true
    private var client = Client()
    private var server = Server()

    /// Creates a bearer over a channel that was just opened.
    package init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// Takes one PDU from the peer.
    package mutating func receive(_ frame: Span<UInt8>, at now: Instant) {
        guard closure == nil else { return }
        guard !frame.isEmpty else {
            ignored.malformed += 1
            return
        }
        let opcode = ATTOpcode(frame[0])
        switch opcode.kind {
        case .request: receiveRequest(frame, opcode, at: now)
        case .response: receiveResponse(frame, opcode)
        case .command: receiveCommand(frame)
        case .unsolicited: receiveUnsolicited(frame, opcode)
        case .confirmation: receiveConfirmation(frame)
        case nil where opcode.isCommand: ignored.unknownCommands += 1
        case nil: accept(.refusal(ATTErrorResponse(opcode, .none, .requestNotSupported)))
        }
    }

    /// Closes the bearer when the peer has not answered a request or an indication in time, and rejects a
    /// request that the owner has not answered in time.
    package mutating func expire(at now: Instant) {
        answerOverdue(at: now)
        if let due = peerDeadline, due <= now { close(.transactionTimeout) }
    }

    /// Writes the next PDU; returns false when there is none. `output` needs room for `ATTMTU.maximum`
    /// octets, because a queued PDU can be longer than an MTU that has decreased meanwhile.
    package mutating func nextFrame(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        if client.confirmationsOwed > 0 {
            client.confirmationsOwed -= 1
            lastTaken = .handleValueConfirmation
            ATTPDU.confirmation.encode(into: &output)
            return true
        }
        guard let pdu = nextPDU() else { return false }
        pdu.encode(into: &output)
        lastTaken = pdu.opcode
        switch pdu {
        case .request: client.current?.deadline = now + configuration.timeout
        case .response:
            server.responsesQueued -= 1
            serveWaiting()
        case .unsolicited(.indication): server.indicating?.deadline = now + configuration.timeout
        case .command, .unsolicited, .confirmation: break
        }
        if server.refusedUnsolicited, unsolicitedQueued < configuration.unsolicitedLimit {
            server.refusedUnsolicited = false
            events.append(.ready)
        }
        return true
    }

    /// Records whether the channel accepts more frames. The channel can have accepted the last frame without
    /// sending it, as the kernel does during pairing. The time that the peer has for its answer to that frame
    /// then starts when the channel accepts frames again, but at most one timeout later than now.
    package mutating func setWritable(_ isWritable: Bool, at now: Instant) {
        guard isWritable != self.isWritable else { return }
        self.isWritable = isWritable
        let limit = isWritable ? configuration.timeout : configuration.timeout + configuration.timeout
        if client.current?.isSent == true, lastTaken == client.current?.request.opcode {
            client.current?.deadline = now + limit
        }
        if server.indicating?.isSent == true, lastTaken == .handleValueIndication {
            server.indicating?.deadline = now + limit
        }
    }

    /// Returns the next event, oldest first.
    package mutating func nextEvent() -> Event? { events.popFirst() }

    /// The time of the next timeout: of a request or an indication of this side, or of the owner's answer to
    /// a request from the peer.
    package var deadline: Instant? { earlier(peerDeadline, answerDeadline) }

    /// When the request that waits for `respond(_:)` is rejected.
    package var answerDeadline: Instant? { server.answerDue }

    /// Closes the bearer, for example when its link is disconnected. All open transactions fail with a
    /// reason, `.closed` follows, and nothing more is sent or received.
    package mutating func close(_ reason: Closure) {
        guard closure == nil else { return }
        closure = reason
        let current = client.current.flatMap { $0.isCancelled ? nil : $0 }
        let waiting = client.waiting.map(\.id)
        let unconfirmed = [server.indicating?.id].compactMap(\.self) + server.indications.map(\.id)
        if let current {
            // The stray response explains better why the request was not answered.
            let stray = reason == .transactionTimeout ? current.stray : nil
            events.append(
                .failed(
                    current.id,
                    stray.map { .unexpectedResponse($0, to: current.request.opcode) } ?? .closed(reason)))
        }
        for id in waiting + unconfirmed {
            events.append(.failed(id, .closed(reason)))
        }
        client = Client()
        server = Server()
        discarded = unsentNotifications
        outbox = []
        events.append(.closed(reason))
    }

    /// Returns the identifier of the next transaction.
    private mutating func newTransaction() -> ATTTransactionID {
        lastTransaction &+= 1
        return ATTTransactionID(rawValue: lastTransaction)
    }

    /// Sets the MTU to the smaller of both receive MTUs, and reports it if it has changed.
    private mutating func agree(_ ours: UInt16, _ theirs: UInt16) {
        let agreed = ATTMTU(min(ours, theirs))
        guard agreed != mtu else { return }
        mtu = agreed
        events.append(.mtu(agreed))
    }

    /// Queues a command or a notification, if there is room.
    private mutating func enqueue(_ pdu: ATTPDU) throws(ATTLimitError) {
        guard closure == nil else { return }
        try ATTLimitError.check(.pdu(pdu.opcode), pdu.encodedCount, atMost: mtu.octets)
        do {
            try ATTLimitError.check(
                .notifications, unsolicitedQueued + 1, atMost: configuration.unsolicitedLimit)
        } catch {
            server.refusedUnsolicited = true
            throw error
        }
        outbox.append(pdu)
    }

    /// Whether a command or a notification can be queued now.
    package var canSendUnsolicited: Bool { unsolicitedRoom > 0 }

    /// The number of commands and notifications that can be queued now.
    package var unsolicitedRoom: Int {
        closure == nil ? max(0, configuration.unsolicitedLimit - unsolicitedQueued) : 0
    }

    /// The number of commands, notifications and indications that `nextFrame(into:at:)` has not taken yet; of
    /// the indications, only the one in progress is counted. Of a closed bearer, the number that it had then.
    package var unsentNotifications: Int {
        discarded
            + outbox.count {
                switch $0 {
                case .command, .unsolicited: true
                case .request, .response, .confirmation: false
                }
            }
    }

    /// Removes and returns the next PDU that can be sent. Between the MTU request of this side and its
    /// response, notifications and indications are held back, because the peer may or may not have applied
    /// the new MTU yet (3.4.2.2).
    private mutating func nextPDU() -> ATTPDU? {
        guard case .exchangeMTU? = client.current?.request, client.current?.isSent == true else {
            return outbox.popFirst()
        }
        let index = outbox.firstIndex { if case .unsolicited = $0 { false } else { true } }
        return index.map { outbox.remove(at: $0) }
    }

    private var peerDeadline: Instant? {
        earlier(client.current?.deadline, server.indicating?.deadline)
    }

    private var unsolicitedQueued: Int { outbox.count - server.responsesQueued }
}

// MARK: - Client

extension ATTBearer {
    /// Sends a request when its turn comes; the request ends with `.response` or `.failed` and its
    /// identifier. Requests are sent in order, one at a time (Core Specification 5.4, Vol 3, Part F, 3.3.2).
    package mutating func request(_ request: ATTRequest) throws(ATTLimitError) -> ATTTransactionID {
        try ATTLimitError.check(.pdu(request.opcode), request.encodedCount, atMost: mtu.octets)
        try ATTLimitError.check(.requests, client.waiting.count + 1, atMost: configuration.requestLimit)
        let transaction = Transaction(id: newTransaction(), request: request)
        if let closure {
            events.append(.failed(transaction.id, .closed(closure)))
        } else if client.current == nil {
            begin(transaction)
        } else {
            client.waiting.append(transaction)
        }
        return transaction.id
    }

    /// Sends this side's receive MTU to the peer, and uses the smaller of both receive MTUs (3.4.2). To be
    /// called once per link.
    package mutating func exchangeMTU() throws(ATTLimitError) -> ATTTransactionID {
        try request(.exchangeMTU(configuration.receiveMTU.wire))
    }

    /// Sends a command, even while a request waits for its response.
    package mutating func send(_ command: ATTCommand) throws(ATTLimitError) {
        try enqueue(.command(command))
    }

    /// Cancels a request that has no result yet: no event will name it. If the request was sent, the bearer
    /// still waits for its response, because the next request must not be sent before the peer has answered.
    package mutating func cancel(_ id: ATTTransactionID) {
        guard let current = client.current, current.id == id else {
            client.waiting.removeAll { $0.id == id }
            return
        }
        if current.isSent {
            client.current?.isCancelled = true
        } else {
            outbox.removeAll { if case .request = $0 { true } else { false } }
            finish()
        }
    }

    /// Returns whether a request was sent and is not answered yet.
    package func isSent(_ id: ATTTransactionID) -> Bool {
        client.current.map { $0.id == id && $0.isSent } ?? false
    }

    /// Whether another request can be sent or queued.
    package var canRequest: Bool {
        client.current == nil || client.waiting.count < configuration.requestLimit
    }

    /// Confirms the oldest indication that is not confirmed yet (3.4.7.3).
    package mutating func confirm() {
        guard client.unconfirmed > 0 else { return }
        client.unconfirmed -= 1
        client.confirmationsOwed += 1
    }

    /// Handles a response. A malformed response fails only the request in progress: the specification names
    /// no reaction, and the next request can still succeed. So does an Error Response to another request, because
    /// only one request is open. Another response to another request is ignored: if it were taken for the answer,
    /// the real answer would be taken for that of the next request, and so on.
    private mutating func receiveResponse(_ frame: Span<UInt8>, _ opcode: ATTOpcode) {
        guard let current = client.current, current.isSent else {
            ignored.responses += 1
            return
        }
        let event: Event
        do throws(ATTTransactionError) {
            guard let response = try Self.response(frame, opcode, to: current.request.opcode) else {
                ignored.responses += 1
                client.current?.stray = opcode
                return
            }
            if case .exchangeMTU(let theirs) = response, case .exchangeMTU(let ours) = current.request {
                agree(ours, theirs)
            }
            event = .response(current.id, response)
        } catch {
            event = .failed(current.id, error)
        }
        if !current.isCancelled { events.append(event) }
        finish()
    }

    /// Returns the response to a request with the opcode `asked`. Returns nil when the PDU is a response to
    /// another request, or an error about a PDU without response, which some servers wrongly send. Throws for an error
    /// about another request.
    private static func response(
        _ frame: Span<UInt8>, _ opcode: ATTOpcode, to asked: ATTOpcode
    ) throws(ATTTransactionError) -> ATTResponse? {
        guard opcode == asked.response || opcode == .errorResponse else { return nil }
        let response: ATTResponse
        do {
            response = try ATTResponse(frame)
        } catch {
            throw .malformedResponse(error)
        }
        if case .error(let error) = response, error.requestOpcode != asked {
            // Some servers answer what has no response, such as a confirmation.
            guard (error.requestOpcode.kind ?? .request) == .request, !error.requestOpcode.isCommand else {
                return nil
            }
            throw .foreignError(about: error.requestOpcode, to: asked)
        }
        return response
    }

    /// Reports a notification or an indication. A malformed indication is confirmed as well (3.4.7.2),
    /// because the peer would otherwise wait for the confirmation until it times out.
    private mutating func receiveUnsolicited(_ frame: Span<UInt8>, _ opcode: ATTOpcode) {
        if opcode == .handleValueIndication { client.unconfirmed += 1 }
        do {
            events.append(.unsolicited(try ATTUnsolicited(frame)))
        } catch {
            ignored.malformed += 1
            if opcode == .handleValueIndication { confirm() }
        }
    }

    private mutating func begin(_ transaction: Transaction) {
        client.current = CurrentTransaction(id: transaction.id, request: transaction.request)
        outbox.append(.request(transaction.request))
    }

    private mutating func finish() {
        client.current = nil
        if let next = client.waiting.popFirst() { begin(next) }
    }
}

// MARK: - Server

extension ATTBearer {
    /// Answers the request of the last `.request` event. Returns false, and sends nothing, when no request waits
    /// for an answer or when the response is of another kind. Throws when the response exceeds the MTU; the
    /// request then still waits.
    @discardableResult
    package mutating func respond(_ response: ATTResponse) throws(ATTLimitError) -> Bool {
        guard let asked = server.serving else { return false }
        if case .error(let error) = response {
            guard error.requestOpcode == asked else { return false }
        } else {
            guard response.opcode == asked.response else { return false }
        }
        try ATTLimitError.check(.pdu(response.opcode), response.encodedCount, atMost: mtu.octets)
        answer(response)
        serveWaiting()
        return true
    }

    /// Sends a notification (Core Specification 5.4, Vol 3, Part F, 3.4.7.1). A value longer than the MTU
    /// minus 3 octets is an error, unless `truncating` allows sending only its beginning.
    package mutating func notify(
        _ handle: AttributeHandle, value: [UInt8], truncating: Bool = false
    ) throws(ATTLimitError) {
        try enqueue(.unsolicited(.notification(handle, value: fit(value, truncating))))
    }

    /// Sends several values in one notification (3.4.7.4). A single value is sent as a plain notification,
    /// because the specification requires at least two.
    package mutating func notify(_ values: ATTTupleList<ATTHandleLengthValue>) throws(ATTLimitError) {
        guard let first = values.first else { return }
        if values.index(after: values.startIndex) == values.endIndex {
            try notify(first.handle, value: Array(first.value))
        } else {
            try enqueue(.unsolicited(.multipleNotification(values)))
        }
    }

    /// Sends an indication when the previous one is confirmed (3.4.7.2); the indication ends with
    /// `.confirmed` or `.failed` and its identifier. A value longer than the MTU minus 3 octets is an error,
    /// unless `truncating` allows sending only its beginning.
    package mutating func indicate(
        _ handle: AttributeHandle, value: [UInt8], truncating: Bool = false
    ) throws(ATTLimitError) -> ATTTransactionID {
        let value = fit(value, truncating)
        try ATTLimitError.check(.pdu(.handleValueIndication), value.count + 3, atMost: mtu.octets)
        try ATTLimitError.check(
            .indications, server.indications.count + 1, atMost: configuration.indicationLimit)
        let indication = Indication(id: newTransaction(), handle: handle, value: value)
        if let closure {
            events.append(.failed(indication.id, .closed(closure)))
        } else if server.indicating == nil {
            begin(indication)
        } else {
            server.indications.append(indication)
        }
        return indication.id
    }

    private mutating func receiveRequest(_ frame: Span<UInt8>, _ opcode: ATTOpcode, at now: Instant) {
        // An echo of a request over the MTU would exceed the MTU too, and a PDU that cannot be decoded has no
        // handle that could be in error.
        if frame.count <= mtu.octets, let request = try? ATTRequest(frame) {
            accept(.request(request, at: now))
        } else {
            accept(.refusal(ATTErrorResponse(opcode, .none, .invalidPDU)))
        }
    }

    private mutating func receiveCommand(_ frame: Span<UInt8>) {
        do {
            events.append(.command(try ATTCommand(frame)))
        } catch {
            ignored.malformed += 1
        }
    }

    private mutating func receiveConfirmation(_ frame: Span<UInt8>) {
        guard frame.count == 1 else {
            ignored.malformed += 1
            return
        }
        guard let confirmed = server.indicating, confirmed.isSent else {
            ignored.confirmations += 1
            return
        }
        server.indicating = nil
        events.append(.confirmed(confirmed.id))
        if let next = server.indications.popFirst() { begin(next) }
    }

    /// Rejects the request that the owner has not answered in time, so that the client does not give up the
    /// link.
    private mutating func answerOverdue(at now: Instant) {
        guard let due = server.answerDue, due <= now, let asked = server.serving else { return }
        events.append(.overdue(asked))
        answer(.error(ATTErrorResponse(asked, .none, .unlikelyError)))
        serveWaiting()
    }

    /// Serves a request at once, or after the requests before it are answered. Drops it when too many
    /// requests wait.
    private mutating func accept(_ incoming: Incoming) {
        if canServe, server.incoming.isEmpty {
            serve(incoming)
        } else if server.incoming.count < configuration.earlyRequestLimit {
            server.incoming.append(incoming)
        } else {
            ignored.requests += 1
        }
    }

    /// Serves the waiting requests in order, as long as `canServe` allows it.
    private mutating func serveWaiting() {
        while canServe, let next = server.incoming.popFirst() { serve(next) }
    }

    /// Whether the next request can be served. Responses that the transport has not taken hold back the
    /// requests, so that a peer that sends requests without reading the responses cannot fill the memory.
    private var canServe: Bool {
        server.serving == nil && server.responsesQueued < configuration.earlyRequestLimit
    }

    private mutating func serve(_ incoming: Incoming) {
        switch incoming {
        case .refusal(let error): answer(.error(error))
        case .request(.exchangeMTU(let theirs), _):
            let ours = configuration.receiveMTU.wire
            answer(.exchangeMTU(ours))
            agree(ours, theirs)
        case .request(let request, let arrival):
            server.serving = request.opcode
            server.answerDue = arrival + configuration.answerTimeout
            events.append(.request(request))
        }
    }

    private mutating func answer(_ response: ATTResponse) {
        server.serving = nil
        server.answerDue = nil
        server.responsesQueued += 1
        outbox.append(.response(response))
    }

    private mutating func begin(_ indication: Indication) {
        server.indicating = CurrentIndication(id: indication.id)
        outbox.append(.unsolicited(.indication(indication.handle, value: indication.value)))
    }

    private func fit(_ value: [UInt8], _ truncating: Bool) -> [UInt8] {
        truncating && value.count > mtu.notificationValue ? Array(value[..<mtu.notificationValue]) : value
    }
}

/// Identifies a request or an indication of this side on its bearer, from sending it to its end.
package struct ATTTransactionID: RawRepresentable, Hashable, Sendable {
    /// The number; each is used once on a bearer.
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The reason why a request of this side got no response, or an indication no confirmation. A rejection by
/// the server is not such a failure but a response, `.error`.
package enum ATTTransactionError: Error, Hashable, Sendable {
    /// The bearer ended before the response arrived.
    case closed(ATTBearer.Closure)
    /// The peer sent a response that does not answer the request, and no answer in time.
    case unexpectedResponse(ATTOpcode, to: ATTOpcode)
    /// The peer answered with an Error Response that names another request.
    case foreignError(about: ATTOpcode, to: ATTOpcode)
    /// The response could not be decoded as its opcode requires.
    case malformedResponse(DecodeError)
}

extension ATTTransactionError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .closed(let reason): reason.description
        case .unexpectedResponse(let response, let request): "the peer answered \(request) with \(response)"
        case .foreignError(let named, let request):
            "the peer answered \(request) with an error about \(named)"
        case .malformedResponse(let error): error.description
        }
    }
}

extension ATTBearer {
    /// What a bearer reports to its owner.
    package enum Event: Hashable, Sendable {
        /// To the server: a request to answer with `respond(_:)`. The next request is reported only after
        /// that.
        case request(ATTRequest)
        /// To the server: a command to carry out. It has no response.
        case command(ATTCommand)
        /// To the client: a notification or an indication. An indication is confirmed by `confirm()`.
        case unsolicited(ATTUnsolicited)
        /// To the client: the peer's answer to a request, which can be an error.
        case response(ATTTransactionID, ATTResponse)
        /// The transaction ended without an answer.
        case failed(ATTTransactionID, ATTTransactionError)
        /// To the server: the client confirmed the indication.
        case confirmed(ATTTransactionID)
        /// To the server: the owner did not answer the request with this opcode in time, and the bearer
        /// rejected it with Unlikely Error.
        case overdue(ATTOpcode)
        /// The MTU of the bearer has changed to this value.
        case mtu(ATTMTU)
        /// A command or notification that was rejected for lack of room would be accepted now.
        case ready
        /// The bearer is closed; no other event follows.
        case closed(Closure)
    }

    package enum Closure: Hashable, Sendable, CustomStringConvertible {
        /// A request or an indication was not answered in time. No other PDU may follow on this bearer
        /// (3.3.3), so its link is of no further use.
        case transactionTimeout
        /// The link has been disconnected.
        case disconnected

        package var description: String {
            switch self {
            case .transactionTimeout: "the peer did not answer in time"
            case .disconnected: "the link has ended"
            }
        }
    }

    /// The settings that the owner of a bearer chooses.
    package struct Configuration: Hashable, Sendable {
        /// The longest PDU that the owner's channel accepts, sent to the peer in an MTU exchange.
        package var receiveMTU = ATTMTU.maximum
        /// The time limit for the answer to a request or an indication of this side.
        package var timeout = ATTLimits.transactionTimeout
        /// The time limit for the owner's answer to a request; less than a client's time limit of 30 s.
        package var answerTimeout: Duration = .seconds(28)
        /// The maximum number of requests of this side that wait for their turn.
        package var requestLimit = 64
        /// The maximum number of commands and notifications that wait for the transport.
        package var unsolicitedLimit = 64
        /// The maximum number of indications that wait for their turn.
        package var indicationLimit = 64
        /// The maximum number of requests that a peer can send before the one ahead of them is answered, and
        /// of responses that wait for the transport. A peer that obeys 3.3.2 needs 1; requests over the limit
        /// are dropped.
        package var earlyRequestLimit = 16

        package init() {}
    }

    /// The PDUs from a peer that are not answered, counted by kind: the specification gives no way to answer
    /// them, or too many requests wait.
    package struct Ignored: Hashable, Sendable {
        /// Frames without an opcode, and malformed commands, notifications and confirmations.
        package var malformed = 0
        /// Commands that the specification does not define.
        package var unknownCommands = 0
        /// Responses that answer no outstanding request.
        package var responses = 0
        /// Confirmations that came while no indication waited for one.
        package var confirmations = 0
        /// Requests that were dropped because they exceeded `earlyRequestLimit`.
        package var requests = 0

        package var total: Int { malformed + unknownCommands + responses + confirmations + requests }
    }
}
