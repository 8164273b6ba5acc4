import BLECore
import DequeModule

extension ATTBearer {
    /// A request from the peer that has to wait for its turn.
    enum Incoming: Sendable {
        /// One for the owner, or an MTU exchange, and when it arrived.
        case request(ATTRequest, at: Instant)
        /// One that can only be refused.
        case refusal(ATTErrorResponse)
    }

    /// An indication that waits for its turn.
    struct Indication: Sendable {
        let id: ATTTransactionID
        let handle: AttributeHandle
        let value: [UInt8]
    }

    /// The indication that waits for its confirmation.
    struct CurrentIndication: Sendable {
        let id: ATTTransactionID
        let deadline: Instant
        var isSent = false
    }

    /// What the server's half remembers.
    struct ServerState: Sendable {
        /// The opcode of the request that the owner has not answered yet.
        var serving: ATTOpcode?
        var answerDue: Instant?
        var incoming = Deque<Incoming>()
        var responsesQueued = 0
        var indicating: CurrentIndication?
        var indications = Deque<Indication>()
        var refusedPush = false
    }

    /// Answers the request that the last `.request` event brought. False, and nothing sent, when none
    /// waits for an answer or the response belongs to another kind of request. A response over the MTU
    /// throws, and the request waits on.
    @discardableResult
    public mutating func respond(_ response: ATTResponse) throws(ATTLimitError) -> Bool {
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

    /// Sends a notification (Core Specification 5.4, Vol 3, Part F, 3.4.7.1). A value over the MTU less 3
    /// octets is an error, unless `truncating` says that its beginning will do.
    public mutating func notify(
        _ handle: AttributeHandle, value: [UInt8], truncating: Bool = false
    ) throws(ATTLimitError) {
        try enqueue(.push(.notification(handle, value: fit(value, truncating))))
    }

    /// Sends several values in one notification (3.4.7.4); a single value goes as a plain one, since the
    /// specification wants two at least.
    public mutating func notify(_ values: ATTTupleList<ATTHandleLengthValue>) throws(ATTLimitError) {
        guard let first = values.first else { return }
        if values.index(after: values.startIndex) == values.endIndex {
            try notify(first.handle, value: Array(first.value))
        } else {
            try enqueue(.push(.multipleNotification(values)))
        }
    }

    /// Sends an indication when the one before it is confirmed (3.4.7.2); its end is `.confirmed` or
    /// `.failed` with the identifier. A value over the MTU less 3 octets is an error, unless `truncating`
    /// says that its beginning will do.
    public mutating func indicate(
        _ handle: AttributeHandle, value: [UInt8], truncating: Bool = false, at now: Instant
    ) throws(ATTLimitError) -> ATTTransactionID {
        let value = fit(value, truncating)
        try ATTLimitError.check(.pdu(.handleValueIndication), value.count + 3, atMost: mtu.octets)
        try ATTLimitError.check(
            .indications, server.indications.count + 1, atMost: configuration.indicationLimit)
        let indication = Indication(id: newTransaction(), handle: handle, value: value)
        if let closure {
            events.append(.failed(indication.id, .closed(closure)))
        } else if server.indicating == nil {
            begin(indication, at: now)
        } else {
            server.indications.append(indication)
        }
        return indication.id
    }

    /// Whether an indication would be queued.
    public var canIndicate: Bool {
        closure == nil && server.indications.count < configuration.indicationLimit
    }

    mutating func receiveRequest(_ frame: Span<UInt8>, _ opcode: ATTOpcode, at now: Instant) {
        // An echo of a request over the MTU would be over it too, and a PDU that cannot be read has no handle
        // that could be in error.
        if frame.count <= mtu.octets, let request = try? ATTRequest(frame) {
            accept(.request(request, at: now))
        } else {
            accept(.refusal(ATTErrorResponse(opcode, .none, .invalidPDU)))
        }
    }

    mutating func receiveCommand(_ frame: Span<UInt8>) {
        do {
            events.append(.command(try ATTCommand(frame)))
        } catch {
            ignored.malformed += 1
        }
    }

    mutating func receiveConfirmation(_ frame: Span<UInt8>, at now: Instant) {
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
        if let next = server.indications.popFirst() { begin(next, at: now) }
    }

    /// Refuses the request that the owner has kept too long, so that the client does not give up the link.
    mutating func answerOverdue(at now: Instant) {
        guard let due = server.answerDue, due <= now, let asked = server.serving else { return }
        events.append(.overdue(asked))
        answer(.error(ATTErrorResponse(asked, .none, .unlikelyError)))
        serveWaiting()
    }

    /// Serves a request at once, or when those before it are answered.
    mutating func accept(_ incoming: Incoming) {
        if canServe, server.incoming.isEmpty {
            serve(incoming)
        } else if server.incoming.count < configuration.earlyRequestLimit {
            server.incoming.append(incoming)
        } else {
            ignored.requests += 1
        }
    }

    /// Serves what waited for its turn.
    mutating func serveWaiting() {
        while canServe, let next = server.incoming.popFirst() { serve(next) }
    }

    /// Responses that the transport does not take hold back the requests, so that a peer that asks and
    /// never reads cannot fill our memory.
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

    private mutating func begin(_ indication: Indication, at now: Instant) {
        server.indicating = CurrentIndication(id: indication.id, deadline: now + configuration.timeout)
        outbox.append(.push(.indication(indication.handle, value: indication.value)))
    }

    private func fit(_ value: [UInt8], _ truncating: Bool) -> [UInt8] {
        truncating && value.count > mtu.pushValue ? Array(value[..<mtu.pushValue]) : value
    }
}
