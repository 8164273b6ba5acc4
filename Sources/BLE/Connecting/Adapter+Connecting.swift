import BLECore
import GATT
import HCI
import HCISocket
import Logging
import SystemPackage

extension Adapter {
    /// Connects to `peer`, and waits for as long as that takes. Cancelling the task ends the wait at once; a
    /// link that is established when no caller waits for it any more is ended. A second request for the same
    /// device joins the first one, or the existing link. A patient request, which has no time limit, is eager
    /// only at first.
    ///
    /// A connection request that the peer never received, because another central's came first or the air was
    /// busy, looks like a link until it ends with Connection Failed to be Established (Core Specification
    /// 5.4, Vol 1, Part F, 2.59). The peer has not rejected such a request, so it is repeated up to the
    /// number of attempts in the options.
    ///
    /// `stage` is what the request waits for.
    func connect(
        to peer: DeviceAddress, _ options: ConnectionOptions, isPatient: Bool,
        _ stage: Lock<BLEError.Activity>
    ) async throws(BLEError) -> LinkUser {
        try check(options)
        // The peer's present address may change, so the request is for its identity address.
        let peer = kernel == nil ? identity(behind: peer) : peer
        // The kernel gets the keys of the bonds before the link, on which the peer may ask for security at once.
        if kernel != nil, options.encryptsIfBonded, isBonded(with: peer) { try await manageKernelPairing() }
        let eagerUntil = isPatient ? loop.now + ListeningPace.eagerTime : nil
        var attempts = 0
        // Whether this attempt omits the exchange of the MTU, because the one before has shown that it has to.
        var omitsMTU = false
        let knowsOmission = clients.omitsMTU(to: peer)
        while true {
            attempts += 1
            stage.withLock { $0 = .connecting }
            do throws(BLEError) {
                let user = try await waits.wait(in: self) { () throws(BLEError) in
                    try request(peer, options, eagerUntil)
                }
                try await prepare(user, options, stage)
                clients.noteLinkWithoutMTU(to: peer)
                noteConnected(user)
                return user
            } catch {
                let hasBegun = !omitsMTU && !knowsOmission && clients.omitsMTU(to: peer)
                // Another link is no better without the exchange.
                if omitsMTU, error != .cancelled, error.failedEstablishment == nil {
                    clients.noteMTU(of: peer)
                }
                omitsMTU = omitsMTU || hasBegun
                if hasBegun, error != .cancelled {
                    log.warning(
                        "\(peer) does not answer the exchange of the MTU: connecting again without it")
                    continue
                }
                guard let reason = error.failedEstablishment else { throw error }
                // The kernel reports the same errno when the peer refuses the link.
                let limit = if case .errno = reason { 6 } else { Int.max }
                guard attempts < min(options.establishmentAttempts, limit) else {
                    throw .connectFailed(reason)
                }
                // A device that is out of reach would fill a log.
                log.log(
                    level: attempts == 1 ? .info : .debug,
                    "the connection to \(peer) was not established (\(reason)); trying again")
                // Two hosts that connect to each other could prevent each other's link forever if they kept
                // in step.
                var random = SplitMix64(seed: identity.value &+ UInt64(attempts))
                let pause = attempts > 1 ? Int.random(in: 0...300, using: &random) : 0
                radio.beginPause(before: peer)
                _ = await loop.sleep(for: .milliseconds(pause))
                radio.endPause(before: peer)
            }
        }
    }

    /// Throws an error when a link cannot have these options.
    func check(_ options: ConnectionOptions) throws(BLEError) {
        _ = try options.parameters?.checked()
        guard options.establishmentAttempts > 0 else {
            throw .outOfRange(
                .establishmentAttempts, allowed: 1...(.max), value: options.establishmentAttempts)
        }
        guard let phys = options.phys else { return }
        _ = try preference(transmit: phys, receive: phys)
    }

    private func request(
        _ peer: DeviceAddress, _ options: ConnectionOptions, _ eagerUntil: Instant?
    ) throws(BLEError) -> WaitBeginning<LinkUser> {
        if let refusal { throw refusal }
        let ticket = radio.nextTicket()
        let present = link(to: peer)
        if !radio.isWaiting(for: peer), let present, present.isUsable {
            return .done(present.join(ticket))
        }
        let isFirst = radio.wait(
            .init(ticket: ticket, options: options, eagerUntil: eagerUntil), for: peer, at: loop.now)
        // While there is a link that is about to end, the next attempt waits for its end.
        guard isFirst, present == nil else {
            settle()
            return .pending(.connection(ticket))
        }
        do throws(BLEError) {
            try seek(peer)
        } catch {
            abandon(peer)
            throw error
        }
        return .pending(.connection(ticket))
    }

    /// Begins to search for a device that requests wait for.
    private func seek(_ peer: DeviceAddress) throws(BLEError) {
        if kernel != nil {
            // During a recovery the adapter may be off; the kernel is asked again afterwards.
            if !recovery.isUnderWay { try askKernel(for: peer) }
        } else {
            radio.look(for: peer, common, at: loop.now)
            settle()
        }
    }

    /// Withdraws a request to connect whose caller does not wait any more.
    func cancel(_ ticket: ConnectTicket) {
        if let peer = radio.leave(ticket, at: loop.now) { abandon(peer) } else { settle() }
    }

    /// Gives up connecting to a device. Returns the requests that waited for it.
    @discardableResult
    private func abandon(_ peer: DeviceAddress) -> [ConnectState.Request] {
        let requests = radio.giveUp(peer, at: loop.now)
        if kernelAttempts.cancel(peer) {
            // This does not apply to controllers that the kernel trusts with both roles.
            if kernelLinks.peripheralCount > 0 {
                log.warning("the kernel may connect to no device while a central is connected to \(name)")
            }
        }
        settle()
        return requests
    }

    /// Fails all requests that wait for a device with `error`.
    func failPending(_ peer: DeviceAddress, _ error: BLEError) {
        for request in abandon(peer) { waits.end(.connection(request.ticket), .failure(error)) }
    }

    /// Fails all requests that wait for any device with `error`, and stops the controller's attempts.
    func failAllPending(_ error: BLEError) {
        for peer in radio.wantedDevices { failPending(peer, error) }
    }

    /// Hands a new link over to the requests that wait for one to `peer`. If no caller waits for it any more,
    /// a link that this host established as central is ended.
    func handOver(_ link: Link, to peer: DeviceAddress) {
        let requests = abandon(peer)
        // Set this before the link is used, because the peer may ask for security at once.
        if requests.contains(where: \.options.raisesSecurity) { link.raisesSecurity = true }
        for request in requests {
            waits.end(.connection(request.ticket), .success(link.join(request.ticket)))
        }
        guard requests.isEmpty, link.role == .central else { return }
        log.info("no caller waits for the link to \(peer) any more")
        end(link)
    }

    /// Begins the attempt for requests that waited for the end of a link, which has now ended.
    func seekAgain(_ peer: DeviceAddress) {
        guard end == nil, radio.isWaiting(for: peer), !kernelAttempts.contains(peer) else { return }
        do throws(BLEError) {
            try seek(peer)
        } catch {
            failPending(peer, error)
        }
    }
}

// MARK: - Bonded peers behind private addresses

extension Adapter {
    /// Returns the identity of the bonded peer that uses an address, else the address itself.
    func identity(behind address: DeviceAddress) -> DeviceAddress { common.identity(behind: address) }

    /// Updates the search for the peers that callers wait for, by their current identities, after what is
    /// known of peers has changed.
    func lookAgain() {
        guard kernel == nil else { return }
        for old in radio.wantedDevices {
            let peer = identity(behind: old)
            if peer != old {
                radio.rename(old, peer, at: loop.now)
                settle()
            }
            // A link under another address of the device may have met the requests already.
            guard radio.isWaiting(for: peer) else { continue }
            if let link = link(to: peer), link.isUsable {
                handOver(link, to: peer)
                continue
            }
            guard radio.isLooking(for: peer) || !hasLink(to: peer) else { continue }
            radio.look(for: peer, common, at: loop.now)
            settle()
        }
        settle()
    }

    /// Returns whether there is a link to a device, even if it is being ended.
    func hasLink(to peer: DeviceAddress) -> Bool {
        links.contains { $0.peer == peer || $0.identity == peer }
    }
}

// MARK: - Requirements of a new user of a link

extension Adapter {
    /// Brings a link into the state that one of its users requires: connection parameters, PHYs, security,
    /// and MTU. Whatever is already as required is left unchanged.
    func prepare(
        _ user: LinkUser, _ options: ConnectionOptions,
        _ stage: Lock<BLEError.Activity> = Lock(.linkSetup)
    ) async throws(BLEError) {
        stage.withLock { $0 = .linkSetup }
        do throws(BLEError) {
            let link = try link(user.link)
            let turn = try await enter(\.preparation, of: user.link)
            defer { turn.leave() }
            if options.raisesSecurity { link.raisesSecurity = true }
            // Linux 6.1 crashes when a socket is closed whose link was lost before the socket received
            // anything. That is the case if the peer has lost its key.
            if kernel != nil { try await agreeOnMTU(on: user.link, stage) }
            if options.encryptsIfBonded { try await encryptIfBonded(user.link) }
            if let wanted = options.parameters, try !link.keepsTime(as: wanted) {
                _ = try await setParameters(wanted, of: user.link)
            }
            if options.security > .open { try await secure(user.link, options.security) }
            try await agreeOnMTU(on: user.link, stage)
            try await confirmEstablishment(of: user.link)
            if let phys = options.phys { try await prefer(phys, on: user.link) }
        } catch {
            // The caller receives the error at once, without waiting for the end of the link.
            leave(user)
            throw error
        }
    }

    /// Returns the time within which a device has to answer the exchange of the MTU. Until it has, no other request can
    /// be sent. On a slow link, the request and its answer take two intervals in which the peripheral listens.
    private func mtuLimit(of link: Link) -> Duration {
        guard let timing = link.radio.timing else { return .seconds(5) }
        return max(.seconds(5), timing.interval * (3 * (timing.latency + 1)))
    }

    /// Offers this host's MTU, unless the device is known not to answer. Notes that it does not.
    private func agreeOnMTU(
        on id: LinkID, _ stage: Lock<BLEError.Activity>
    ) async throws(BLEError) {
        let link = try link(id)
        guard !link.omitsMTU else { return }
        guard !clients.omitsMTU(to: link.peer) else {
            // Also other users of this link must not make the exchange, even if it is tried again on the next one.
            link.omitsMTU = true
            return
        }
        let (began, limit) = (loop.now, mtuLimit(of: link))
        // After an error, the stage is what the caller waited for.
        stage.withLock { $0 = .mtuExchange }
        do throws(BLEError) {
            let isAnswered: Void? = try await until(limit) { [self] () throws(BLEError) in
                try await offerMTU(on: id)
            }
            if isAnswered != nil {
                clients.noteMTU(of: link.peer)
                return stage.withLock { $0 = .linkSetup }
            }
        } catch {
            switch error {
            case .peerMisbehaved:
                // The MTU is what it was.
                log.warning("\(link.peer): \(error)")
                return stage.withLock { $0 = .linkSetup }
            case .disconnected(.status(.remoteUserTerminatedConnection)),
                .disconnected(.status(.remoteDeviceTerminatedLowResources)):
                if link.role == .central { clients.noteNoMTU(of: link.peer, hasEndedLink: true) }
                throw error
            case .cancelled where began.duration(until: loop.now) >= limit / 2:
                // The limit of the caller is shorter. Its next attempt is made without the exchange.
                if link.role == .central { clients.noteNoMTU(of: link.peer, hasEndedLink: false) }
                throw error
            default: throw error
            }
        }
        // No user of the link can send another request.
        if link.role == .central {
            clients.noteNoMTU(of: link.peer, hasEndedLink: false)
            end(link)
        }
        throw .timedOut(.mtuExchange, after: limit)
    }

    /// Waits until the peer has answered on a new link, if no exchange of the MTU has shown that. Until then,
    /// the link can still end as not established (Core Specification 5.4, Vol 6, Part B, 4.5.2), and another
    /// attempt is made. The kernel waits for an answer itself.
    private func confirmEstablishment(of id: LinkID) async throws(BLEError) {
        let link = try link(id)
        guard kernel == nil, link.role == .central,
            link.gatt.configuration.receiveMTU == .default || link.omitsMTU,
            link.remoteFeatures == nil
        else { return }
        do throws(BLEError) {
            _ = try await remoteFeatures(of: id)
        } catch .hci(let status, _) where status != .connectionFailedToBeEstablished {
            // The peer refuses, which is an answer, too, or this controller does: then nothing is known.
            log.debug("the features of \(link.peer) are unknown: \(status)")
        }
    }

    /// Requests that a link sends on one of the PHYs, if the peer supports one.
    private func prefer(_ phys: Set<PHY>, on id: LinkID) async throws(BLEError) {
        if let now = try link(id).radio.phys, phys.isSuperset(of: [now.transmit, now.receive]) {
            return
        }
        do throws(BLEError) {
            _ = try await setPHYs(transmit: phys, receive: phys, .any, of: id)
        } catch .hci(.unsupportedRemoteFeature, _) {
            log.info("the peer has LE 1M only")
        }
    }
}

extension BLEError {
    /// The reason why there is no link although neither side refused it; nil for all other errors.
    ///
    /// The peer never took part: the link ended with that reason, or the controller reports it at once. The
    /// kernel has no errno for that and reports ENOSYS. The kernel also hands a link that it is just ending,
    /// two seconds after its last user left, to a process that connects at that moment, which then receives
    /// that end.
    var failedEstablishment: DisconnectReason? {
        switch self {
        case .disconnected(.status(.connectionFailedToBeEstablished)),
            .connectFailed(.status(.connectionFailedToBeEstablished)):
            return .status(.connectionFailedToBeEstablished)
        // A procedure of the link can report its end before the disconnection does.
        case .hci(.connectionFailedToBeEstablished, _), .encryption(.connectionFailedToBeEstablished):
            return .status(.connectionFailedToBeEstablished)
        case .disconnected(.errno(let number)):
            return Errno(rawValue: number) == .noFunction ? .errno(number) : nil
        case .connectFailed(.errno(let number)):
            let errors: [Errno] = [.noFunction, .connectionAbort, .connectionReset]
            return errors.contains(Errno(rawValue: number)) ? .errno(number) : nil
        default: return nil
        }
    }
}
