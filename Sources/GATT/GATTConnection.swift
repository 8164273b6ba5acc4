import ATT
import BLECore
import DequeModule
import GATTClient
import GATTServer

/// The GATT layer of one link: the ATT bearer in both roles, and the peer as a client of the server that all
/// links share (Core Specification 5.4, Vol 3, Part G).
///
/// It answers the peer's requests and does its commands, sends it the values that it subscribed to, and says
/// which services have come and gone. For the client's role of this host, which is its `session`, it sends
/// requests and commands, and takes the values that the peer sends by itself.
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
/// Taking a frame may make room and so make events: after the last frame, look for events again, and so after
/// everything that is asked of the connection or its session. Kernel sockets, ACL links, replay and tests all
/// do just this.
package struct GATTConnection: Sendable {
    /// The number of the client at the other end.
    package let client: ClientID
    /// Whether the answer to a write waits for `release(_:isKept:)`, for owners that keep what clients write.
    package var holdsChanges = false
    /// The client's role: what it asks, what it knows of the server at the other end, and who listens to its
    /// values. After something was asked of it, look for events and frames.
    package var session: ClientSession

    private var bearer: ATTBearer
    private var events = Deque<Event>()
    private var notifications = Lane()
    private var indications = Lane()
    /// How many of its lanes a delivery has something in.
    private var openLanes: [DeliveryID: Int] = [:]
    private var lastDelivery: UInt64 = 0
    /// The indication of a value that is to be confirmed.
    private var indication: OpenIndication?
    /// The indication of Service Changed that is to be confirmed.
    private var serviceChange: ATTTransactionID?
    /// Whether changed services may be indicated to the client now.
    private var mayReportServices = false
    /// Whether something that waits may go now.
    private var looksAgain = false
    /// Those who wait for room for a value.
    private var waiting: [(id: TicketID, isIndication: Bool)] = []
    /// The request of the session that waits for its answer.
    private var asked: (id: ATTTransactionID, offersMTU: Bool)?
    /// Whether the peer was offered the MTU of this side.
    private var hasOfferedMTU = false
    /// The end, until it is reported.
    private var end: ATTBearer.Closure?
    private var held: (number: HeldResponse, response: ATTResponse)?
    /// Whether the open request was refused as overdue, and the server does not know that yet.
    private var isOverdue = false
    private var lastHeld: UInt64 = 0
    /// When the last PDU was received.
    private var received = Instant.zero

    /// Values of deliveries that go in order.
    private struct Lane: Sendable {
        struct Part: Sendable {
            let delivery: DeliveryID
            let updates: [ValueUpdate]
            let packs: Bool
            let truncates: Bool
            /// The first that is not sent.
            var next = 0

            /// How many go in the next PDU.
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
        /// Whether its delivery has no other.
        let isLast: Bool
    }

    /// A connection over a channel that was just opened, to a client that the server knows by that number.
    package init(_ client: ClientID, _ configuration: ATTBearer.Configuration = ATTBearer.Configuration()) {
        self.client = client
        session = ClientSession(link: client.rawValue)
        bearer = ATTBearer(configuration)
    }

    /// The configuration that the owner chose.
    package var configuration: ATTBearer.Configuration { bearer.configuration }
    /// The ATT_MTU that is in use.
    package var mtu: ATTMTU { bearer.mtu }
    /// Why the bearer carries nothing any more; nil while it does.
    package var closure: ATTBearer.Closure? { bearer.closure }
    /// What the peer sent and was of no use.
    package var ignored: ATTBearer.Ignored { bearer.ignored }
}

// MARK: - Frames, time and events

extension GATTConnection {
    /// Takes one PDU from the peer.
    package mutating func receive(_ frame: Span<UInt8>, at now: Instant) {
        received = now
        bearer.receive(frame, at: now)
    }

    /// Acts on what was due by `now`.
    package mutating func expire(at now: Instant) {
        if let due = bearer.answerDeadline, due <= now { (isOverdue, held) = (true, nil) }
        bearer.expire(at: now)
        session.expire(at: now)
    }

    /// When `expire(at:)` is to be called, if nothing else happens before.
    package var deadline: Instant? { earlier(bearer.deadline, session.deadline) }

    /// Writes the next PDU for the peer, or returns false when there is none; `output` has room for `ATTMTU.maximum`
    /// octets.
    package mutating func nextFrame(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        for _ in 0..<session.takeConfirmations() { bearer.confirm() }
        guard bearer.nextFrame(into: &output, at: now) else { return false }
        if !waiting.isEmpty || !notifications.parts.isEmpty { looksAgain = true }
        return true
    }

    /// Sets whether the channel takes more frames. The time limits of the last frames that it took depend on it.
    package mutating func setWritable(_ isWritable: Bool, at now: Instant) {
        bearer.setWritable(isWritable, at: now)
    }

    /// Ends the connection, as when its link is gone: all that waits ends by an event before `.closed`, and
    /// nothing more is sent or received.
    package mutating func close(_ reason: ATTBearer.Closure) { bearer.close(reason) }

    /// Returns the next event, oldest first. What the peer asks is answered by `server` on the way. `.closed` follows
    /// the last event of the session.
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

    /// Acts on an event of the bearer; returns what is the owner's business and comes before anything else.
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
        // Of what was given up, of an indication, or of what made the peer forget.
        case .response, .failed: break
        case .mtu(let mtu): return .mtu(mtu)
        }
        return nil
    }
}

// MARK: - Answers

extension GATTConnection {
    /// Completes what a handler answered with `.later`: a read with the whole value, a write with anything. Nothing
    /// happens when the request is not open any more.
    package mutating func complete(
        _ pending: PendingAnswer, with result: Result<[UInt8], ATTErrorCode>,
        serving server: inout GATTServer
    ) {
        guard !isOverdue, let answer = server.complete(pending, with: result) else { return }
        reply(answer)
    }

    /// Sends a response that was held: when what the write changed is kept, else an error in its place. Nothing happens
    /// when the request was refused as overdue meanwhile.
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

    /// An answer that became too long, because the MTU sank while a handler took its time, is an Unlikely Error.
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
    /// Sends values to the client, all or none: when one does not fit the MTU nothing is sent. Notifications
    /// go as far as there is room, behind those of earlier deliveries; each indication goes when the one
    /// before it is confirmed, and neither waits for the other. `.sent` and `.confirmed` report each value,
    /// `.delivered` the end.
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

    /// Whether a value would go at once, or wait for no more than `configuration` allows: an indication for
    /// confirmations, a notification for the channel.
    package func hasRoom(forIndication isIndication: Bool) -> Bool {
        guard isIndication else { return notifications.parts.isEmpty && bearer.canSendUnsolicited }
        return closure == nil && indications.count < configuration.indicationLimit
    }

    /// How a delivery ends that does not begin; nil when it does.
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
                // The MTU sank meanwhile.
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

// MARK: - Services that come and go

extension GATTConnection {
    /// Notes that the server's services, or the record of the client, have changed. A client that has subscribed
    /// to Service Changed receives an indication. Changes before its confirmation are in the next indication
    /// (Core Specification 5.4, Vol 3, Part G, 7.1).
    package mutating func servicesChanged() { (mayReportServices, looksAgain) = (true, true) }

    private mutating func reportServices(_ server: inout GATTServer) {
        guard mayReportServices, indication == nil, serviceChange == nil, closure == nil else { return }
        mayReportServices = false
        guard let change = server.serviceChange(for: client) else { return }
        // Four octets fit any MTU, and no other indication is open.
        serviceChange = try? bearer.indicate(change.handle, value: change.value)
    }
}

// MARK: - The client's role of this host

extension GATTConnection {
    /// Sends a command, past any request that waits for its response: at once where there is room, else when
    /// its turn comes.
    ///
    /// - Parameter handles: the handles in it. When it is sent they are checked to be of the present state
    ///   of the database.
    package mutating func send(
        _ command: ATTCommand, about handles: [CheckedHandle] = []
    ) throws(GATTFailure) -> Submission<Void> {
        if try trySend(command, about: handles) { return .done(()) }
        return .pending(session.wait(toSend: command, about: handles))
    }

    /// Sends a command if there is room and no other waits; false when there is not, or when its handles are
    /// of an earlier link, and nothing was sent.
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
    package mutating func waitForRoom() -> Submission<Void> {
        canSend ? .done(()) : .pending(session.wait(toSend: nil))
    }

    package mutating func waitForRoom(forIndication isIndication: Bool) -> Submission<Void> {
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

    /// Ends an operation without its result. A request that is on its way is waited for all the same, before
    /// the next one goes. An operation that has ended is left alone.
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
        // It may have made room.
        looksAgain = true
    }

    /// Offers the MTU of this side to the peer, before the procedures that wait; a server may refuse it. Once
    /// a link: done when it was offered before.
    package mutating func offerMTU() -> Submission<Void> {
        guard !hasOfferedMTU else { return .done(()) }
        return .pending(session.exchangeMTU(configuration.receiveMTU))
    }

    private mutating func takeRequests() {
        // What has no room now is asked when an earlier request has ended.
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

    /// How many commands and notifications wait for the channel; also an indication, when its turn has come.
    package var unsent: Int { bearer.unsentNotifications + notifications.count + session.commandCount }
}

/// Names a delivery on its connection, from `deliver` to its end.
package struct DeliveryID: RawRepresentable, Hashable, Sendable {
    /// The number; each is used once on a connection.
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

package enum DeliveryEnd: Hashable, Sendable {
    /// All notifications are given to the channel's queue, and all indications are confirmed.
    case complete
    /// A value does not fit the MTU. Nothing was sent; where the MTU sank meanwhile, what was not sent by then.
    case refused(ATTLimitError)
    /// The connection ended before the delivery did.
    case closed(ATTBearer.Closure)
}

/// The response to a write that waits until what it changed is kept.
package struct HeldResponse: Hashable, Sendable {
    let number: UInt64
}

extension GATTConnection {
    /// What a connection reports to its owner.
    package enum Event: Hashable, Sendable {
        /// A value of a delivery was given to the channel's queue.
        case sent(ValueUpdate)
        /// The client confirmed the indication of a value.
        case confirmed(ValueUpdate)
        /// The delivery has come to its end.
        case delivered(DeliveryID, DeliveryEnd)
        /// A write was done whose response is held, or prepared writes were executed or cancelled: the server's events
        /// report what changed. It is answered by `release(_:isKept:)`.
        case changed(HeldResponse)
        /// The request with this opcode was kept too long and was refused with Unlikely Error.
        case overdue(ATTOpcode)
        /// The ends have agreed on this MTU.
        case mtu(ATTMTU)
        /// The connection is over. Nothing follows but the ends of deliveries that are begun after it.
        case closed(ATTBearer.Closure)
    }
}
