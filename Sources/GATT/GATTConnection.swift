import ATT
import BLECore
import DequeModule
import GATTClient
import GATTServer

/// The GATT layer of one link: the ATT bearer in both roles, and the peer as a client of the server that all
/// links share (Core Specification 5.4, Vol 3, Part G).
///
/// The connection answers the peer's requests, carries out its commands, sends it the values that it
/// subscribed to, and reports which services were added or removed. For the client role of this host, which
/// is its `session`, it sends requests and commands, and receives the values that the peer sends without a
/// request.
///
/// ```swift
/// connection.receive(frame, at: now)
/// var isDone = false
/// while !isDone {
///     while let event = connection.nextEvent(serving: &server) { handle(event) }  // of the link
///     isDone = true
///     while let event = connection.session.nextEvent() {
///         handle(event)  // of the client's role
///         isDone = false
///     }
/// }
/// while let event = server.nextEvent() { handle(event) }  // what clients did
/// while connection.nextFrame(into: &output, at: now) { transport.send(output) }
/// ```
/// Taking a frame can make room and so add events: after the last frame, check for events again, and also
/// after every call to the connection or its session. Kernel sockets, ACL links, replay and tests all work in
/// this way.
package struct GATTConnection: Sendable {
    /// The number of the client at the other end.
    package let client: ClientID
    /// Whether the response to a write waits for `release(_:isKept:)`, for owners that store what clients
    /// write.
    package var holdsChanges = false
    /// The client role: its requests, its knowledge of the server at the other end, and the subscribers of
    /// that server's values. After calling it, check for events and frames.
    package var session: ClientSession

    private var bearer: ATTBearer
    private var events = Deque<Event>()
    private var notifications = Lane()
    private var indications = Lane()
    /// The number of lanes that each delivery has not finished.
    private var openLanes: [DeliveryID: Int] = [:]
    private var lastDelivery: UInt64 = 0
    /// The indication of a value that is not confirmed yet.
    private var indication: OpenIndication?
    /// The indication of Service Changed that is not confirmed yet.
    private var serviceChange: ATTTransactionID?
    /// Whether changed services can be indicated to the client now.
    private var mayReportServices = false
    /// Whether something that waits may be able to proceed now.
    private var looksAgain = false
    /// The callers that wait for room for a value.
    private var waiting: [(id: TicketID, isIndication: Bool)] = []
    /// The request of the session that waits for its answer.
    private var asked: (id: ATTTransactionID, offersMTU: Bool)?
    /// Whether the MTU of this side was offered to the peer.
    private var hasOfferedMTU = false
    /// The reason of the closure, until it is reported.
    private var end: ATTBearer.Closure?
    private var held: (number: HeldResponse, response: ATTResponse)?
    /// Whether the open request was rejected as overdue and the server is not informed yet.
    private var isOverdue = false
    private var lastHeld: UInt64 = 0
    /// When the last PDU was received.
    private var received = Instant.zero

    /// The values of deliveries that are sent in order.
    private struct Lane: Sendable {
        struct Part: Sendable {
            let delivery: DeliveryID
            let updates: [ValueUpdate]
            let packs: Bool
            let truncates: Bool
            /// The index of the first value that is not sent.
            var next = 0

            /// Returns the number of values that go in the next PDU.
            func count(mtu: ATTMTU) -> Int {
                guard packs else { return 1 }
                var room = mtu.octets - 1
                let fitting = updates[next...].prefix {
                    room -= 4 + $0.value.count
                    return room >= 0
                }
                return max(fitting.count, 1)
            }
        }

        var parts = Deque<Part>()

        var count: Int { parts.reduce(0) { $0 + $1.updates.count - $1.next } }

        mutating func append(_ updates: [ValueUpdate], of delivery: Delivery, _ id: DeliveryID) {
            parts.append(
                Part(
                    delivery: id, updates: updates, packs: delivery.packs, truncates: delivery.truncates))
        }
    }

    private struct OpenIndication: Sendable {
        let transaction: ATTTransactionID
        let delivery: DeliveryID
        let update: ValueUpdate
        /// Whether the delivery has no further indication.
        let isLast: Bool
    }

    /// Creates a connection over a channel that was just opened, to the client that has this number at the
    /// server.
    package init(_ client: ClientID, _ configuration: ATTBearer.Configuration = ATTBearer.Configuration()) {
        self.client = client
        session = ClientSession(link: client.rawValue)
        bearer = ATTBearer(configuration)
    }

    /// The configuration that the owner chose.
    package var configuration: ATTBearer.Configuration { bearer.configuration }
    /// The ATT_MTU that is in use.
    package var mtu: ATTMTU { bearer.mtu }
    /// The reason for which the bearer was closed; nil while it is open.
    package var closure: ATTBearer.Closure? { bearer.closure }
    /// The counts of PDUs from the peer that the bearer had to ignore.
    package var ignored: ATTBearer.Ignored { bearer.ignored }
}

// MARK: - Frames, time and events

extension GATTConnection {
    /// Takes one PDU from the peer.
    package mutating func receive(_ frame: Span<UInt8>, at now: Instant) {
        received = now
        bearer.receive(frame, at: now)
    }

    /// Handles the timeouts that are due by `now`.
    package mutating func expire(at now: Instant) {
        if let due = bearer.answerDeadline, due <= now { (isOverdue, held) = (true, nil) }
        bearer.expire(at: now)
        session.expire(at: now)
    }

    /// The time at which `expire(at:)` is to be called, if nothing else happens before.
    package var deadline: Instant? { earlier(bearer.deadline, session.deadline) }

    /// Writes the next PDU for the peer, or returns false when there is none; `output` needs room for
    /// `ATTMTU.maximum` octets.
    package mutating func nextFrame(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        for _ in 0..<session.takeConfirmations() { bearer.confirm() }
        guard bearer.nextFrame(into: &output, at: now) else { return false }
        if !waiting.isEmpty || !notifications.parts.isEmpty { looksAgain = true }
        return true
    }

    /// Sets whether the channel accepts more frames. The time limits of the last frames that it took depend
    /// on that.
    package mutating func setWritable(_ isWritable: Bool, at now: Instant) {
        bearer.setWritable(isWritable, at: now)
    }

    /// Ends the connection, for example when its link is disconnected: everything that waits ends by an event
    /// before `.closed`, and nothing more is sent or received.
    package mutating func close(_ reason: ATTBearer.Closure) { bearer.close(reason) }

    /// Returns the next event, oldest first, after `server` has answered the peer's requests up to that
    /// event. `.closed` follows the last event of the session.
    package mutating func nextEvent(serving server: inout GATTServer) -> Event? {
        while true {
            if let event = events.popFirst() { return event }
            if let event = bearer.nextEvent() {
                if let taken = take(event, &server) { return taken }
            } else if looksAgain {
                looksAgain = false
                reportServices(&server)
                sendNotifications()
                sendIndication()
                reportWaiting()
            } else {
                takeRequests()
                takeCommands()
                guard let end, !session.hasEvents else { return nil }
                self.end = nil
                return .closed(end)
            }
        }
    }

    /// Handles an event of the bearer. Returns an event that the owner must handle before any other, if there
    /// is one.
    private mutating func take(_ event: ATTBearer.Event, _ server: inout GATTServer) -> Event? {
        switch event {
        case .request(let request): reply(server.handle(request, from: client, mtu: mtu))
        case .command(let command): server.handle(command, from: client, mtu: mtu)
        case .overdue(let opcode):
            isOverdue = false
            server.abandonRequest(of: client)
            return .overdue(opcode)
        case .confirmed(let id): confirmed(id, &server)
        case .closed(let reason):
            endDeliveries(.closed(reason))
            endClient(reason)
            end = reason
        case .ready: looksAgain = true
        case .unsolicited(let unsolicited): session.receive(unsolicited, mtu: mtu, at: received)
        case .response(let id, let response) where id == asked?.id:
            asked = nil
            session.receive(response)
        case .failed(let id, let error) where id == asked?.id:
            asked = nil
            session.requestFailed(error)
        // The end of a cancelled request, of an indication, or of a request that discards a procedure at the
        // peer.
        case .response, .failed: break
        case .mtu(let mtu): return .mtu(mtu)
        }
        return nil
    }
}

// MARK: - Answers

extension GATTConnection {
    /// Completes a request that a handler answered with `.later`: a read with the whole value, a write with
    /// any value. Does nothing if the request is no longer open.
    package mutating func complete(
        _ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>,
        serving server: inout GATTServer
    ) {
        guard !isOverdue, let answer = server.complete(pending, with: result) else { return }
        reply(answer)
    }

    /// Sends a held response if the change by the write was stored, otherwise an error in its place. Does
    /// nothing if the request was rejected as overdue meanwhile.
    package mutating func release(_ response: HeldResponse, isKept: Bool) {
        guard let held, held.number == response else { return }
        self.held = nil
        if isKept { respond(held.response) } else { refuse(held.response) }
    }

    private mutating func reply(_ answer: GATTAnswer) {
        guard case .respond(let response) = answer else { return }
        switch response {
        case .write, .executeWrite:
            guard holdsChanges else { return respond(response) }
            lastHeld &+= 1
            held = (HeldResponse(number: lastHeld), response)
            events.append(.changed(HeldResponse(number: lastHeld)))
        default: respond(response)
        }
    }

    /// Sends a response. If the response is too long, because the MTU decreased while a handler took its
    /// time, an Unlikely Error is sent instead.
    private mutating func respond(_ response: ATTResponse) {
        do throws(ATTLimitError) { try bearer.respond(response) } catch { refuse(response) }
    }

    private mutating func refuse(_ response: ATTResponse) {
        let request = ATTOpcode(response.opcode.rawValue &- 1)
        // An Error Response fits any MTU.
        _ = try? bearer.respond(.error(ATTErrorResponse(request, .none, .unlikelyError)))
    }
}

// MARK: - Values

extension GATTConnection {
    /// Sends values to the client, all or none: if one does not fit the MTU, nothing is sent. Notifications
    /// are sent as far as there is room, after those of earlier deliveries. Each indication is sent when the
    /// one before it is confirmed. Notifications and indications do not wait for each other. `.sent` and
    /// `.confirmed` report each value, `.delivered` the end.
    package mutating func deliver(_ delivery: Delivery) -> DeliveryID {
        lastDelivery &+= 1
        let id = DeliveryID(rawValue: lastDelivery)
        if let end = end(of: delivery) {
            events.append(.delivered(id, end))
            return id
        }
        openLanes[id] = (delivery.notifications.isEmpty ? 0 : 1) + (delivery.indications.isEmpty ? 0 : 1)
        if !delivery.notifications.isEmpty {
            notifications.append(delivery.notifications, of: delivery, id)
            sendNotifications()
        }
        if !delivery.indications.isEmpty {
            indications.append(delivery.indications, of: delivery, id)
            sendIndication()
        }
        return id
    }

    /// Cancels the values of a delivery that are not sent. The end of the delivery is then not reported, unless
    /// it was already. An indication that was sent still waits for its confirmation.
    package mutating func cancel(_ delivery: DeliveryID) {
        guard openLanes.removeValue(forKey: delivery) != nil else { return }
        notifications.parts.removeAll { $0.delivery == delivery }
        indications.parts.removeAll { $0.delivery == delivery }
    }

    /// Returns whether a value would be sent at once, or would wait within the limits of `configuration`: an
    /// indication for confirmations, a notification for the channel.
    package func hasRoom(forIndication isIndication: Bool) -> Bool {
        guard isIndication else { return notifications.parts.isEmpty && bearer.canSendUnsolicited }
        return closure == nil && indications.count < configuration.indicationLimit
    }

    /// Returns how a delivery ends that cannot begin; nil if it can begin.
    private func end(of delivery: Delivery) -> DeliveryEnd? {
        if let closure { return .closed(closure) }
        if delivery.isEmpty { return .complete }
        guard !delivery.truncates else { return nil }
        func refusal(_ updates: [ValueUpdate], _ opcode: ATTOpcode) -> DeliveryEnd? {
            updates.first { $0.value.count > mtu.notificationValue }.map {
                .refused(ATTLimitError(.pdu(opcode), maximum: mtu.octets, value: $0.value.count + 3))
            }
        }
        return refusal(delivery.notifications, .handleValueNotification)
            ?? refusal(delivery.indications, .handleValueIndication)
    }

    private mutating func sendNotifications() {
        while let part = notifications.parts.first,
            bearer.unsolicitedRoom > (session.hasWaitingCommands && bearer.unsentNotifications > 0 ? 1 : 0)
        {
            let group = part.updates[part.next..<(part.next + part.count(mtu: mtu))]
            do throws(ATTLimitError) {
                try notify(group, truncating: part.truncates)
            } catch {
                // The MTU decreased meanwhile.
                end(part.delivery, .refused(error))
                continue
            }
            for update in group { events.append(.sent(update)) }
            if group.endIndex < part.updates.endIndex {
                notifications.parts[0].next = group.endIndex
            } else {
                notifications.parts.removeFirst()
                finishLane(of: part.delivery)
            }
        }
    }

    private mutating func notify(
        _ group: ArraySlice<ValueUpdate>, truncating: Bool
    ) throws(ATTLimitError) {
        if let only = group.first, group.count == 1 {
            return try bearer.notify(only.handle, value: only.value, truncating: truncating)
        }
        var list = ATTTupleList<ATTHandleLengthValue>(capacity: mtu.octets - 1)
        for update in group { list.append(ATTHandleLengthValue(update.handle, update.value)) }
        try bearer.notify(list)
    }

    private mutating func sendIndication() {
        while indication == nil, serviceChange == nil, let part = indications.parts.first {
            let update = part.updates[part.next]
            let isLast = part.next + 1 == part.updates.endIndex
            do throws(ATTLimitError) {
                let transaction = try bearer.indicate(
                    update.handle, value: update.value, truncating: part.truncates)
                indication = OpenIndication(
                    transaction: transaction, delivery: part.delivery, update: update, isLast: isLast)
            } catch {
                end(part.delivery, .refused(error))
                continue
            }
            events.append(.sent(update))
            if isLast { indications.parts.removeFirst() } else { indications.parts[0].next += 1 }
        }
    }

    private mutating func confirmed(_ id: ATTTransactionID, _ server: inout GATTServer) {
        looksAgain = true
        if id == serviceChange {
            serviceChange = nil
            mayReportServices = true
            server.confirmServiceChange(for: client)
        } else if let confirmed = indication, confirmed.transaction == id {
            indication = nil
            events.append(.confirmed(confirmed.update))
            if confirmed.isLast { finishLane(of: confirmed.delivery) }
        }
    }

    private mutating func finishLane(of delivery: DeliveryID) {
        guard let open = openLanes[delivery] else { return }
        openLanes[delivery] = open > 1 ? open - 1 : nil
        if open == 1 { events.append(.delivered(delivery, .complete)) }
    }

    private mutating func end(_ delivery: DeliveryID, _ end: DeliveryEnd) {
        guard openLanes[delivery] != nil else { return }
        cancel(delivery)
        events.append(.delivered(delivery, end))
    }

    private mutating func endDeliveries(_ end: DeliveryEnd) {
        (indication, serviceChange) = (nil, nil)
        for delivery in openLanes.keys.sorted(by: { $0.rawValue < $1.rawValue }) { self.end(delivery, end) }
    }
}

// MARK: - Adding and removing services

extension GATTConnection {
    /// Records that the server's services, or the record of the client, have changed. A client that has
    /// subscribed to Service Changed receives an indication. Changes before its confirmation are reported by
    /// the next indication (Core Specification 5.4, Vol 3, Part G, 7.1).
    package mutating func servicesChanged() { (mayReportServices, looksAgain) = (true, true) }

    private mutating func reportServices(_ server: inout GATTServer) {
        guard mayReportServices, indication == nil, serviceChange == nil, closure == nil else { return }
        mayReportServices = false
        guard let change = server.serviceChange(for: client) else { return }
        // Four octets fit any MTU, and no other indication is open.
        serviceChange = try? bearer.indicate(change.handle, value: change.value)
    }
}

// MARK: - The client role of this host

extension GATTConnection {
    /// Sends a command, even while a request waits for its response: at once if there is room, otherwise when
    /// its turn comes.
    ///
    /// - Parameter handles: the handles in the command. When the command is sent, they are checked to belong
    ///   to the current state of the database.
    package mutating func send(
        _ command: ATTCommand, about handles: [CheckedHandle] = []
    ) throws(GATTFailure) -> Submission<Void> {
        if try trySend(command, about: handles) { return .done(()) }
        return .pending(session.wait(toSend: command, about: handles))
    }

    /// Sends a command if there is room and no other command waits. Returns false, and sends nothing, if that
    /// is not so or if its handles are of an earlier link.
    package mutating func trySend(
        _ command: ATTCommand, about handles: [CheckedHandle] = []
    ) throws(GATTFailure) -> Bool {
        guard session.sendsAtOnce(about: handles), bearer.canSendUnsolicited else { return false }
        try session.check(handles)
        do throws(ATTLimitError) {
            try bearer.send(command)
            return true
        } catch {
            throw .limit(error)
        }
    }

    /// Whether a command would be sent at once.
    package var canSend: Bool { bearer.canSendUnsolicited && !session.hasWaitingCommands }

    /// Waits until a command would be sent at once.
    package mutating func waitUntilReady() -> Submission<Void> {
        canSend ? .done(()) : .pending(session.wait(toSend: nil))
    }

    package mutating func waitUntilReady(forIndication isIndication: Bool) -> Submission<Void> {
        guard !hasRoom(forIndication: isIndication) else { return .done(()) }
        let ticket = session.open(Void.self)
        if let closure {
            session.finish(ticket.id, .failure(.transaction(.closed(closure))))
        } else {
            waiting.append((ticket.id, isIndication))
            looksAgain = true
        }
        return .pending(ticket)
    }

    /// Cancels an operation. If its request was already sent, the response is still awaited before the next
    /// request is sent. An operation that has ended is not affected.
    package mutating func cancel(_ id: TicketID) {
        if let index = waiting.firstIndex(where: { $0.id == id }) {
            waiting.remove(at: index)
            session.finish(id, .failure(.cancelled))
        } else {
            let isSent = asked.map { bearer.isSent($0.id) } ?? false
            if session.cancel(id, isSent: isSent), let asked {
                bearer.cancel(asked.id)
                if asked.offersMTU, !isSent { hasOfferedMTU = false }
                self.asked = nil
            }
        }
        // The cancellation may have made room.
        looksAgain = true
    }

    /// Offers the MTU of this side to the peer, ahead of the waiting procedures; a server can refuse it. The
    /// MTU is offered once per link: a later call does nothing.
    package mutating func offerMTU() -> Submission<Void> {
        guard !hasOfferedMTU else { return .done(()) }
        return .pending(session.exchangeMTU(configuration.receiveMTU))
    }

    private mutating func takeRequests() {
        // A request for which there is no room now is sent when an earlier one has ended.
        while asked == nil, bearer.canRequest, let question = session.nextQuestion(mtu: mtu) {
            switch question {
            case .undo(let request): _ = try? bearer.request(request)
            case .request(let request):
                do throws(ATTLimitError) {
                    let offersMTU = request.opcode == .exchangeMTURequest
                    asked = (try bearer.request(request), offersMTU)
                    if offersMTU { hasOfferedMTU = true }
                } catch {
                    session.requestRefused(error)
                }
            }
        }
    }

    private mutating func takeCommands() {
        while session.hasWaitingCommands, bearer.canSendUnsolicited,
            session.sendNext({ (command) throws(ATTLimitError) in try bearer.send(command) })
        {}
    }

    private mutating func reportWaiting() {
        guard !waiting.isEmpty else { return }
        let (hasRoom, hasIndicationRoom) = (
            hasRoom(forIndication: false), hasRoom(forIndication: true)
        )
        waiting.removeAll { waiter in
            guard waiter.isIndication ? hasIndicationRoom : hasRoom else { return false }
            session.finish(waiter.id, .success(()))
            return true
        }
    }

    private mutating func endClient(_ reason: ATTBearer.Closure) {
        let failure = GATTFailure.transaction(.closed(reason))
        session.end(failure)
        for waiter in waiting { session.finish(waiter.id, .failure(failure)) }
        waiting = []
        asked = nil
    }

    /// The number of commands and notifications in the bearer's queue, including an indication whose turn has
    /// come.
    package var queued: Int { bearer.unsentNotifications }

    /// The number of commands and notifications that wait for the channel, including an indication whose turn
    /// has come.
    package var unsent: Int { bearer.unsentNotifications + notifications.count + session.commandCount }
}

/// Identifies a delivery on its connection, from `deliver` to its end.
package struct DeliveryID: RawRepresentable, Hashable, Sendable {
    /// The number; each is used once on a connection.
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

package enum DeliveryEnd: Hashable, Sendable {
    /// All notifications were passed to the channel's queue, and all indications were confirmed.
    case complete
    /// A value does not fit the MTU. Nothing was sent; if the MTU decreased during the delivery, only the
    /// values that were not sent by then are dropped.
    case refused(ATTLimitError)
    /// The connection ended before the delivery did.
    case closed(ATTBearer.Closure)
}

/// The response to a write, held until the change by the write is stored.
package struct HeldResponse: Hashable, Sendable {
    let number: UInt64
}

extension GATTConnection {
    /// An event that a connection reports to its owner.
    package enum Event: Hashable, Sendable {
        /// A value of a delivery was passed to the channel's queue.
        case sent(ValueUpdate)
        /// The client confirmed the indication of a value.
        case confirmed(ValueUpdate)
        /// The delivery has ended in this way.
        case delivered(DeliveryID, DeliveryEnd)
        /// A write whose response is held was performed, or prepared writes were executed or cancelled. The
        /// server's events report the changes. The response is sent by `release(_:isKept:)`.
        case changed(HeldResponse)
        /// The request with this opcode was not answered in time and was rejected with Unlikely Error.
        case overdue(ATTOpcode)
        /// Both ends have agreed on this MTU.
        case mtu(ATTMTU)
        /// The connection has ended. The only later events are the ends of deliveries that begin after it.
        case closed(ATTBearer.Closure)
    }
}
