import BLECore
import DequeModule

extension ATTBearer {
    /// A request of ours.
    struct Transaction: Sendable {
        let id: ATTTransactionID
        let request: ATTRequest
    }

    /// The request of ours whose turn it is.
    struct CurrentTransaction: Sendable {
        let id: ATTTransactionID
        let request: ATTRequest
        let deadline: Instant
        var isSent = false
        var isCancelled = false
        /// The last response that came meanwhile and is no answer to it.
        var stray: ATTOpcode?
    }

    /// What the client's half remembers.
    struct ClientState: Sendable {
        var current: CurrentTransaction?
        var waiting = Deque<Transaction>()
        /// Indications that the owner has not confirmed.
        var unconfirmed = 0
        /// Confirmations to send; a number, so that a flood of indications takes no memory.
        var confirmationsOwed = 0
    }

    /// Sends a request when its turn comes; its end is `.response` or `.failed` with the identifier.
    /// Requests go out in order, one at a time (Core Specification 5.4, Vol 3, Part F, 3.3.2).
    public mutating func send(_ request: ATTRequest, at now: Instant) throws(ATTLimitError)
        -> ATTTransactionID
    {
        try ATTLimitError.check(.pdu(request.opcode), request.encodedCount, atMost: mtu.octets)
        try ATTLimitError.check(.requests, client.waiting.count + 1, atMost: configuration.requestLimit)
        let transaction = Transaction(id: newTransaction(), request: request)
        if let closure {
            events.append(.failed(transaction.id, .closed(closure)))
        } else if client.current == nil {
            begin(transaction, at: now)
        } else {
            client.waiting.append(transaction)
        }
        return transaction.id
    }

    /// Tells the peer which MTU we receive and takes the lesser of both (3.4.2). Once a link.
    public mutating func exchangeMTU(at now: Instant) throws(ATTLimitError) -> ATTTransactionID {
        try send(.exchangeMTU(configuration.receiveMTU.wire), at: now)
    }

    /// Sends a command, past any request that waits for its response.
    public mutating func send(_ command: ATTCommand) throws(ATTLimitError) {
        try enqueue(.command(command))
    }

    /// Forgets a request: no event will name it. One that is on its way is still waited for, since the next
    /// must not go before the peer has answered.
    public mutating func cancel(_ id: ATTTransactionID, at now: Instant) {
        guard let current = client.current, current.id == id else {
            client.waiting.removeAll { $0.id == id }
            return
        }
        if current.isSent {
            client.current?.isCancelled = true
        } else {
            outbox.removeAll { if case .request = $0 { true } else { false } }
            finish(at: now)
        }
    }

    /// Confirms the oldest indication that is not confirmed yet (3.4.7.3).
    public mutating func confirm() {
        guard client.unconfirmed > 0 else { return }
        client.unconfirmed -= 1
        client.confirmationsOwed += 1
    }

    /// A malformed response fails the request that waits and nothing else: the specification names no reaction, and the
    /// next request may well go right. One that answers another request is ignored: were it taken for the answer, the
    /// true one would be taken for that of the next request, and so on.
    mutating func receiveResponse(_ frame: Span<UInt8>, _ opcode: ATTOpcode, at now: Instant) {
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
        finish(at: now)
    }

    /// The response to a request with the opcode `asked`; nil when it is one to another request, or an error about a
    /// command, which some servers wrongly send after a bad signature.
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
        if case .error(let error) = response, error.requestOpcode != asked { return nil }
        return response
    }

    /// A malformed indication is confirmed all the same (3.4.7.2), or the peer would wait for ever.
    mutating func receivePush(_ frame: Span<UInt8>, _ opcode: ATTOpcode) {
        if opcode == .handleValueIndication { client.unconfirmed += 1 }
        do {
            events.append(.push(try ATTPush(frame)))
        } catch {
            ignored.malformed += 1
            if opcode == .handleValueIndication { confirm() }
        }
    }

    private mutating func begin(_ transaction: Transaction, at now: Instant) {
        client.current = CurrentTransaction(
            id: transaction.id, request: transaction.request, deadline: now + configuration.timeout)
        outbox.append(.request(transaction.request))
    }

    private mutating func finish(at now: Instant) {
        client.current = nil
        if let next = client.waiting.popFirst() { begin(next, at: now) }
    }
}
