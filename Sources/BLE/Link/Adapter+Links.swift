import ATT
import BLECore
import GATT
import HCI
import HCISocket
import Logging
import SMP
import SystemPackage

extension Adapter {
    /// Adds a link that has been established.
    @discardableResult
    func addLink(
        to peer: DeviceAddress, as role: LinkRole, over channel: Link.Channel,
        onAir: AddressesOnAir? = nil,
        radio: RadioParameters = .unknown, mtu: ATTMTU? = nil
    ) -> LinkID {
        let id = links.nextID()
        // The kernel reports no address but the identity.
        let peerOnAir: DeviceAddress? = if case .acl = channel { onAir?.peer ?? peer } else { nil }
        let bond = bond(with: peer, onAir: peerOnAir, as: role)
        let link = Link(
            id, to: peer, onAir: peerOnAir, as: role, over: channel, radio: radio, mtu: mtu ?? self.mtu,
            pairing: securityManager(
                between: onAir ?? AddressesOnAir(own: identity, peer: peer), as: role, bond),
            bond: bond)
        if let bond { isProven(bond, of: link) }
        link.pairing.attempts = security.attempts[bond?.peer ?? peer]
        link.gatt.holdsChanges = server.kept != nil || stateFolder != nil
        if case .socket(let channel) = channel {
            kernel?.lease.note(peer)
            do throws(PortError) {
                try start(channel, of: link)
            } catch {
                log.warning("the link to \(peer) cannot be used: \(error)")
                channel.port.close()
                if role == .central { failPending(peer, .connectFailed(DisconnectReason(error))) }
                return id
            }
        }
        links.insert(link)
        callers.links.append(LinkCallers(of: id, in: waits), of: id)
        log.debug("link to \(peer) as \(role)")
        if case .acl(let handle) = channel { acl.open(handle) }
        linkConnected(link)
        handOver(link, to: peer)
        return id
    }

    /// Removes the record of a link that has ended, and ends every wait on it.
    func drop(_ link: Link, _ reason: DisconnectReason) {
        guard let removed = links.remove(link) else { return }
        log.debug("link to \(link.peer) ended: \(reason)")
        let error = link.closing ?? .disconnected(reason)
        clients.noteEnd(
            of: link.id, reason, error, unsent: unsent(on: link), hasServed: link.gatt.session.hasServed)
        switch link.channel {
        case .acl(let handle): acl.close(handle)
        case .socket(let channel): channel.port.close()
        }
        if let handle = removed.handle { withdrawCommands(about: handle) }
        endWaits(on: link, error)
        callers.links.remove(link.id)
        link.pairing.countFailure(at: loop.now)
        shareFailures(of: link)
        endDeliveries(on: link.id)
        waits.end(all: .ends(of: link.id), .success(reason))
        waits.end(all: .departures(on: link.id), .success(false))
        kernelPairing?.forget(link.peer)
        // Once a peer's identity is known, no attempts are kept under its earlier address.
        security.attempts[link.peer] = PairingAttempts()
        security.attempts[link.protection.bond?.peer ?? link.peer] = link.pairing.attempts
        linkDisconnected(link, reason)
        noteDisconnected(link, reason)
        radio.linkEnded()
        settle()
        meetPostponed()
        seekAgain(link.peer)
        if link.identity != link.peer { seekAgain(link.identity) }
        // Other callers may wait for the peer by its identity.
        lookAgain()
        // A question for this link may have been withdrawn.
        reviewLoss()
    }

    /// Withdraws the queued commands about a link that has ended, so that they do not affect the next link
    /// with its handle.
    private func withdrawCommands(about handle: ConnectionHandle) {
        for ticket in commands.withdraw(where: { $0.concerns(handle) }) {
            owners[ticket] = nil
            waits.end(
                .answer(ticket), .failure(.hci(.unknownConnectionIdentifier, command: ticket.opcode)))
        }
    }

    /// Fails what the callers of a link consume and wait for, when it has ended or is of no use any more.
    func endCalls(on link: Link, _ error: BLEError) {
        callers.links[link.id]?.end(error)
        link.procedures.close(error)
        waits.end(all: .procedures(of: link.id), .failure(error))
        proceed(with: link)
    }

    /// Fails every wait on a link, operations included.
    private func endWaits(on link: Link, _ error: BLEError) {
        if error == .disconnected(.status(.authenticationFailure)) {
            // The kernel may report the end before the reason for which the link was not secured.
            for ticket in (callers.links[link.id]?.raising ?? [:]).keys.sorted() {
                waits.end(.operation(ticket), .failure(.encryption(.authenticationFailure)))
            }
        }
        endCalls(on: link, error)
        waits.end(.security(link.id), .failure(error))
        waits.end(all: .operations(on: link.id), .failure(error))
    }

    /// Removes a user from a link. If that was the last user, ends the link, unless the peer has established
    /// it, and returns when it has ended.
    func release(_ user: LinkUser, _ cause: DisconnectCause = .userTerminated) async {
        if leave(user, cause) { await ended(user.link) }
    }

    /// Removes a user from a link, and returns whether the link ends then. A caller that connects from now on
    /// gets the next link.
    @discardableResult
    func leave(_ user: LinkUser, _ cause: DisconnectCause = .userTerminated) -> Bool {
        guard let link = links[user.link], link.users.remove(user) != nil else { return false }
        let reason = DisconnectReason.status(.connectionTerminatedByLocalHost)
        waits.end(all: .ends(for: user), .success(reason))
        guard link.users.isEmpty else { return false }
        guard link.role == .central else {
            noteDisconnected(link, reason)
            return false
        }
        end(link, cause)
        return true
    }

    /// Ends a link. Returns when it is gone, or when the controller has not reported its end in time.
    func endLink(_ id: LinkID, _ cause: DisconnectCause = .userTerminated) async {
        if let link = links[id] { end(link, cause) }
        await ended(id)
    }

    private func ended(_ id: LinkID) async {
        await uncancelled { _ = try? await $0.disconnection(of: id) }
    }

    /// Starts to end a link, unless that has already started.
    func end(_ link: Link, _ cause: DisconnectCause = .userTerminated) {
        guard link.ending.begin(cause) else { return }
        let id = link.id
        loop.execute { [weak self] in
            self?.assumeIsolated { adapter in
                guard let link = adapter.links[id] else { return }
                link.ending.proceed(at: adapter.loop.now)
                adapter.pump(link)
            }
        }
    }

    /// Advances a link's end, and the waits for its packets to be sent.
    private func advance(_ link: Link) {
        // A watch of the socket that is no longer needed is removed below.
        guard link.ending.isActive || link.isWatchingDepartures else { return }
        link.ending.advance(under: endingConditions(of: link))
        if case .socket(let channel) = link.channel { watchDepartures(on: channel.port, of: link) }
        while let event = link.ending.nextEvent() { handle(event, of: link) }
        wake(by: link.ending.deadline)
    }

    private func endingConditions(of link: Link) -> LinkEnding.Conditions {
        let (sent, queued) = (sendState(of: link), link.gatt.queued)
        return LinkEnding.Conditions(
            unsent: link.gatt.unsent + sent.waiting, queued: queued + sent.awaited, departed: sent.departed,
            others: link.handle.map { acl.unsentFrames($0).others } ?? 0,
            isAsking: link.gatt.session.isAsking, isClosed: link.closing != nil,
            supervisionTimeout: link.radio.timing?.supervisionTimeout ?? LinkEnding.longestSupervision,
            now: loop.now)
    }

    private func handle(_ event: LinkEnding.Event, of link: Link) {
        switch event {
        case .waited(let number, let hasLeft):
            waits.end(.departure(link.id, number: number), .success(hasLeft))
        case .disconnect(let cause, let unsent):
            if unsent > 0 {
                log.warning("the link to \(link.peer) ends with \(unsent) packets that were not sent")
            }
            disconnect(link, cause)
        case .givenUp: giveUp(link)
        case .gone: drop(link, .unknown)
        }
    }

    private func disconnect(_ link: Link, _ cause: DisconnectCause) {
        let hasFailed = link.gatt.closure != nil
        let disconnect = link.handle.map { MachineCommand(Disconnect(connection: $0, reason: cause.status)) }
        if case .socket = link.channel, hasFailed || cause == .userTerminated || disconnect == nil {
            // The kernel sends the peer Remote User Terminated Connection, two seconds later.
            drop(link, .status(.connectionTerminatedByLocalHost))
            // That is too late after a failure of ATT: a connection before then would get the same link, on
            // which no ATT PDU may be sent any more (Core Specification 5.4, Vol 3, Part F, 3.3.3).
            // Disconnect is not sent before the socket is closed, because Linux 6.1 crashes when it closes a
            // socket that has received nothing and has lost its link.
            guard hasFailed else { return }
        }
        // A controller that is being recovered may keep its links.
        guard let disconnect, !recovery.isUnderWay else {
            return link.ending.answered(isTaken: disconnect == nil, at: loop.now)
        }
        submit(disconnect, of: .link(link.id))
    }

    /// Handles the controller's answer to the command that ends a link, which is not yet the end of the link.
    func linkAnswered(_ answer: CommandAnswer, of id: LinkID) {
        let isTaken =
            switch answer {
            case .done, .refused(.unknownConnectionIdentifier): true
            default: false
            }
        if !isTaken { log.debug("\(HCIOpcode.disconnect): \(answer)") }
        guard let link = links[id] else { return }
        link.ending.answered(isTaken: isTaken, at: loop.now)
        advance(link)
    }

    /// Gives up a link whose end the controller does not report. The link keeps its place until it must have
    /// ended.
    private func giveUp(_ link: Link) {
        let error = BLEError.disconnected(.unknown)
        link.closing = link.closing ?? error
        endWaits(on: link, error)
        endDeliveries(on: link.id)
        waits.end(all: .ends(of: link.id), .success(.unknown))
    }

    /// Handles the loss of packets from the controller, among which the ends of links may have been. The kernel
    /// reports those of its links on their sockets, too.
    ///
    /// Where the controller may have made connections meanwhile, the handle of a link that has ended may be another
    /// device's, whose packets would count as encrypted. Links on whose encryption this host relies are therefore ended.
    func packetsWereLost(_ count: Int) {
        log.warnOfLostPackets(count, of: "the controller")
        guard kernel == nil, end == nil else { return }
        links.review.packetsWereLost(on: flights, at: loop.now)
        wake(by: links.review.deadline)
        if !radio.isInitiatorQuiet || radio.isConnectable {
            for link in links where link.security.level > .open { abandon(link) }
        }
        reviewLoss()
    }

    private var flights: [LossReview.Flight] {
        links.compactMap { link in
            link.handle.map {
                LossReview.Flight(
                    link: link.id, held: acl.unacknowledged($0), completed: acl.completedPackets($0))
            }
        }
    }

    /// Asks the controller for the next link that it may not have any more, by its signal strength.
    func reviewLoss() {
        guard end == nil, !recovery.isUnderWay, capabilities.commands.contains(.readRSSI) else { return }
        guard let id = links.review.nextQuestion(), let handle = links[id]?.handle else { return }
        submit(MachineCommand(ReadRSSI(connection: handle)), of: .existence(id))
    }

    func existenceAnswered(_ answer: CommandAnswer, of id: LinkID) {
        if links.review.answered(answer, of: id), let link = links[id] {
            log.info("the link to \(link.peer) has ended; the report of it was lost")
            drop(link, .unknown)
        }
        reviewLoss()
    }

    /// Ends links whose packets the controller does not complete any more.
    func expireReview(at now: Instant) {
        for id in links.review.expire(at: now, flights) {
            if let link = links[id] { abandon(link) }
        }
    }

    /// Ends a link at once: nothing is sent or received on it any more.
    private func abandon(_ link: Link) {
        guard link.closing == nil else { return }
        log.warning("the link to \(link.peer) is ended, because packets were lost")
        let error = BLEError.disconnected(.unknown)
        link.closing = error
        if let handle = link.handle { acl.dropFrames(of: handle) }
        endWaits(on: link, error)
        endDeliveries(on: link.id)
        end(link, .lowResources)
    }

    /// Waits until everything that is queued for a link now has been sent: the bearer's queue, the queue of ACL
    /// data and what the controller has, or the socket's. Packets that are queued later, and those that still
    /// wait for room in the bearer's queue, do not extend the wait. Gives up after 2 s without progress,
    /// and after 10 s in all. Returns whether everything was sent; false when the link ended before that.
    func untilSent(on id: LinkID) async throws(BLEError) -> Bool {
        try await waits.wait(in: self) { () throws(BLEError) in
            guard let link = links[id], link.closing == nil else { return .done(false) }
            let number = nextNumber()
            link.ending.wait(number, under: endingConditions(of: link))
            return .pending(.departure(id, number: number))
        } then: {
            if let link = links[id] { advance(link) }
        }
    }

    /// Returns the number of callers' packets that were accepted for a link and have not been sent.
    func unsent(on link: Link) -> Int { link.gatt.unsent + sendState(of: link).waiting }

    /// Returns the state of the packets below the bearer. On a link of this host, only callers' packets count.
    private func sendState(of link: Link) -> L2CAPSendState {
        switch link.channel {
        case .acl(let handle):
            let awaited = acl.unsentFrames(handle).awaited
            return L2CAPSendState(waiting: awaited, awaited: awaited, departed: acl.departedFrames(handle))
        case .socket(let channel): return channel.port.sendState
        }
    }

    /// Watches a kernel socket only while a caller, or the end of the link, waits for packets to be sent,
    /// because each sent packet would wake this process. A new watch calls back at once, so it is set only
    /// once.
    private func watchDepartures(on port: any L2CAPSocket, of link: Link) {
        let (id, isWanted) = (link.id, link.ending.awaitsPackets)
        guard isWanted != link.isWatchingDepartures else { return }
        link.isWatchingDepartures = isWanted
        let packetLeft: @Sendable () -> Void = { [weak self] in self?.assumeIsolated { $0.packetsLeft(id) } }
        do throws(PortError) {
            try port.watchDepartures(isWanted ? packetLeft : nil)
        } catch {
            log.warning("what the kernel sends cannot be watched: \(error)")
        }
    }

    private func packetsLeft(_ id: LinkID) {
        if let link = links[id] { pump(link) }
    }

    /// Waits for a link's end, or for `user` to leave it, and returns the reason.
    func disconnection(
        of id: LinkID, for user: LinkUser? = nil
    ) async throws(BLEError) -> DisconnectReason {
        try await waits.wait(in: self) { () throws(BLEError) in
            guard let link = links[id] else { return .done(clients.reason(of: id) ?? .unknown) }
            if link.ending.isGivenUp { return .done(.unknown) }
            if let user, !link.users.contains(user) {
                return .done(.status(.connectionTerminatedByLocalHost))
            }
            return .pending(.linkEnd(id, user, number: nextNumber()))
        }
    }

    /// Returns the identity address of a link's peer if it is bonded, else the peer's address; nil when the
    /// link has ended.
    func peer(of id: LinkID) -> DeviceAddress? { links[id]?.identity }

    /// Returns the link. Throws the reason why there is none.
    func link(_ id: LinkID) throws(BLEError) -> Link {
        guard let link = links[id] else { throw end ?? clients.end(of: id) ?? .disconnected(.unknown) }
        if let closing = link.closing { throw closing }
        return link
    }

    /// Returns what belongs to the callers of a link. Throws when the link has ended or is of no use any more.
    func callers(of id: LinkID) throws(BLEError) -> LinkCallers {
        _ = try link(id)
        guard let callers = callers.links[id] else { throw .disconnected(.unknown) }
        return callers
    }

    /// Waits for the caller's turn in a queue of a link. The caller ends it with `leave`.
    func enter(_ place: SerialQueue.Place, of id: LinkID) async throws(BLEError) -> SerialQueue {
        let queue = try callers(of: id)[keyPath: place]
        try await queue.enter(self, at: place)
        return queue
    }

    /// Returns the link, unless it is being ended: then only what was accepted before is still sent.
    func linkThatTakes(_ id: LinkID) throws(BLEError) -> Link {
        let link = try link(id)
        guard !link.ending.isBegun else { throw .disconnected(.status(.connectionTerminatedByLocalHost)) }
        return link
    }
}

// MARK: - Frames in

extension Adapter {
    /// Handles data from a controller that this host runs itself: a fragment of an L2CAP frame.
    func receive(_ data: Span<UInt8>, _ header: ACLHeader) {
        guard kernel == nil, let link = links[header.handle], link.closing == nil else { return }
        let now = loop.now
        do throws(ACLReassemblyError) {
            try link.receive(header.boundary, data, at: now, log)
        } catch {
            log.warning("dropping data of \(link.peer): \(error)")
        }
        pump(link)
    }

    /// Connects a link that is about to be added to its kernel socket.
    private func start(_ channel: L2CAPChannel, of link: Link) throws(PortError) {
        let id = link.id
        if let handle = try? channel.port.connectionHandle(), !kernelLinks.isTaken(handle, notBy: link.peer) {
            link.handle = handle
            link.radio = kernelLinks.channelCame(of: handle) ?? .unknown
        }
        try channel.port.start(
            PacketPortHandlers(
                receive: { [weak self] frame in self?.assumeIsolated { $0.receive(frame, on: id) } },
                writable: { [weak self] in self?.assumeIsolated { $0.socketWritable(id) } },
                closed: { [weak self] error in self?.assumeIsolated { $0.socketClosed(id, error) } },
                lost: { [log, peer = link.peer] in log.warnOfLostPackets($0, of: peer.description) }))
    }

    private func receive(_ frame: Span<UInt8>, on id: LinkID) {
        guard let link = links[id], link.closing == nil else { return }
        link.gatt.receive(frame, at: loop.now)
        pump(link)
    }

    private func socketClosed(_ id: LinkID, _ error: PortError) {
        // The raw socket has the controller's reason, and may not have delivered it yet.
        port.readNow()
        loop.execute { [weak self] in self?.assumeIsolated { $0.socketEnded(id, error) } }
    }

    private func socketEnded(_ id: LinkID, _ error: PortError) {
        guard let link = links[id] else { return }
        let reported = link.handle.map { kernelLinks.channelEnded(of: $0) } ?? link.reason
        drop(link, reported.map { .status($0) } ?? DisconnectReason(error))
    }
}

extension DisconnectReason {
    /// Creates the reason from a socket's error, if no other reason is known.
    init(_ error: PortError) { self = error.errno.map { .errno($0.rawValue) } ?? .unknown }
}

// MARK: - Frames out

extension Adapter {
    /// Handles the events of a link's machines, sends the frames that its channel takes, and sets the timer.
    func pump(_ link: Link) {
        drain(link)
        flush(link)
        sendData()
    }

    /// Moves a link's frames into its channel. The room that this makes can lead to more frames. Then sets
    /// the timer, because requests that were sent start to wait for their answers.
    func flush(_ link: Link) {
        while moveFrames(of: link) { drain(link) }
        advance(link)
        wake(by: link.deadline)
    }

    /// Moves the frames that are ready. Returns false when there is none, or no room.
    private func moveFrames(of link: Link) -> Bool {
        guard link.closing == nil else { return false }
        let now = loop.now
        var isMoved = false
        switch link.channel {
        case .socket(let channel):
            while channel.port.isWritable, link.sendFrame(to: channel.port, at: now) { isMoved = true }
            link.gatt.setWritable(channel.port.isWritable, at: now)
        case .acl(let handle):
            while enqueue(on: .leSignaling, of: handle, { _ = link.signaling.nextFrame(into: &$0, at: now) })
            {
                isMoved = true
            }
            while enqueue(
                on: .securityManager, of: handle, { _ = link.pairing.nextFrame(into: &$0, at: now) })
            {
                isMoved = true
            }
            while enqueue(on: .att, of: handle, { _ = link.gatt.nextFrame(into: &$0, at: now) }) {
                isMoved = true
            }
        }
        return isMoved
    }

    /// Queues the frame that `write` writes, as long as the queue is short, because frames that still wait in
    /// the machines can be cancelled. Returns false when there is no frame, or no room.
    private func enqueue(
        on channel: L2CAPChannelID, of handle: ConnectionHandle, _ write: (inout OutputSpan<UInt8>) -> Void
    ) -> Bool {
        guard acl.queuedFrames(handle) < 4 else { return false }
        do throws(ACLFlowError) {
            // Responses to the peer do not count as packets that this host's callers have sent.
            return try acl.enqueue(
                on: channel, of: handle, upTo: ATTMTU.maximum.octets,
                awaited: { channel == .att && ATTOpcode(rawValue: $0).isUnasked }, write)
        } catch {
            log.error("\(error)")
            return false
        }
    }

    func expire(_ link: Link, at now: Instant) {
        link.gatt.expire(at: now)
        link.signaling.expire(at: now)
        link.pairing.expire(at: now)
        link.procedures.expire(at: now)
        proceed(with: link)
        drain(link)
    }
}

// MARK: - Events of the machines

extension Adapter {
    /// Handles the events of a link's machines.
    func drain(_ link: Link) {
        var isDrained = false
        while !isDrained {
            while let event = link.gatt.nextEvent(serving: &server.gatt) {
                reportServed(to: link)
                handle(event, of: link)
            }
            isDrained = !drainSession(of: link)
        }
        reportServed(to: link)
        while let event = link.signaling.nextEvent() { handle(event, of: link) }
        while let event = link.pairing.nextEvent() { handle(event, of: link) }
    }

    /// Handles the events of the client role. Returns false when there were none.
    private func drainSession(of link: Link) -> Bool {
        var hadEvents = false
        while let event = link.gatt.session.nextEvent() {
            handle(event, of: link)
            hadEvents = true
        }
        return hadEvents
    }

    /// Reports the server's events, after the link's security: a request that needs encryption may have
    /// proven a bonded peer's identity.
    private func reportServed(to link: Link) {
        noteAskedSecurity(of: link)
        reportServerEvents()
    }

    private func handle(_ event: GATTConnection.Event, of link: Link) {
        switch event {
        case .sent(let update): reportSent(update, to: link)
        case .confirmed(let update): server.emit(.confirmed(Central(link), update.handle, update.uuid))
        case .delivered(let id, let end): noteDelivered(DeliveryKey(link: link.id, id: id), end, to: link)
        case .changed(let response): release(response, on: link)
        case .overdue(let opcode):
            log.warning("\(link.peer) waits for an answer to its \(opcode) for too long")
        case .mtu(let mtu): noteMTU(mtu, of: link)
        case .closed(let closure):
            log.info("the ATT bearer to \(link.peer) ended: \(closure)")
            // Callers that wait get this error, not that of the disconnection that follows.
            let error = BLEError(.closed(closure))
            link.closing = error
            endCalls(on: link, error)
            end(link)
        }
    }
}
