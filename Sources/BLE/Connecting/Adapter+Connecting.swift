import BLECore
import HCI
import HCISocket
import Logging
import SystemPackage

extension Adapter {
    /// Connects to `peer`; waits for as long as that takes. Cancelling the task cancels the attempt.
    ///
    /// A connection request that the peer never heard, since another central's came first or the air was
    /// full, looks like a link until it ends with Connection Failed to be Established (Core Specification
    /// 5.4, Vol 1, Part F, 2.59): that is no answer of the peer's, so it is tried again, a few times.
    func connect(to peer: DeviceAddress, _ options: ConnectionOptions) async throws(BLEError) -> LinkID {
        var attempts = 0
        while true {
            attempts += 1
            let link = try await connects.wait(in: self) { adapter, id in
                adapter.cancel(id)
            } start: { () throws(BLEError) in
                try beginConnecting(to: peer, options)
            }
            do throws(BLEError) {
                try await prepare(link, options)
                return link
            } catch .disconnected(.status(.connectionFailedToBeEstablished)) {
                guard attempts < Self.connectionAttempts else {
                    throw .connectFailed(.status(.connectionFailedToBeEstablished))
                }
                log.info("the connection to \(peer) was not established; trying again")
            }
        }
    }

    private static let connectionAttempts = 6

    private func beginConnecting(
        to peer: DeviceAddress, _ options: ConnectionOptions
    ) throws(BLEError) -> ConnectAttempt {
        if let end { throw end }
        guard !links.values.contains(where: { $0.peer == peer }) else {
            throw .adapter(.inUse("a link to \(peer) that exists already"))
        }
        connecting.nextID += 1
        let attempt = ConnectState.Attempt(
            id: ConnectAttempt(number: connecting.nextID), peer: peer, options: options)
        if kernel != nil {
            try begin(kernel: attempt)
        } else {
            connecting.queue.append(attempt)
            advanceConnecting()
        }
        return attempt.id
    }

    /// What a new link of ours does first: the timing that the kernel was not asked for, the security that
    /// was, and the MTU.
    private func prepare(_ link: LinkID, _ options: ConnectionOptions) async throws(BLEError) {
        do throws(BLEError) {
            try self.link(link).client.raisesSecurity = options.raisesSecurity
            if kernel != nil, let timing = options.timing, let handle = try self.link(link).handle {
                _ = try await send(
                    LEConnectionUpdate(connection: handle, parameters: ConnectionParameters(timing)))
            }
            if options.security > .low { try secure(link, options.security) }
            try await exchangeMTU(on: link)
        } catch {
            await disconnect(link)
            throw error
        }
    }

    private func cancel(_ id: ConnectAttempt) {
        if let pending = connecting.kernel.removeValue(forKey: id) {
            pending.cancel()
        } else if connecting.queue.first?.id == id, connecting.isUnderWay {
            // The outcome comes as an event, and with it the end of the wait.
            Task(executorPreference: loop) { await self.giveUp(id) }
            return
        } else {
            connecting.queue.removeAll { $0.id == id }
        }
        connects.resume(id, with: .failure(.cancelled))
    }
}

extension Adapter {
    /// Cancels the controller's attempt. Some controllers never tell the outcome, so that is not waited for
    /// longer than 2 s.
    private func giveUp(_ id: ConnectAttempt) async {
        await sendTolerant(LECreateConnectionCancel())
        guard await loop.sleep(for: .seconds(2)), connecting.queue.first?.id == id else { return }
        log.warning("the controller does not tell how the attempt to connect ended")
        finishAttempt(with: .failure(.cancelled))
    }
}

// MARK: - By the controller

extension Adapter {
    /// Tells the controller to make the next connection.
    private func advanceConnecting() {
        guard !connecting.isUnderWay, let attempt = connecting.queue.first else { return }
        connecting.isUnderWay = true
        Task(executorPreference: loop) { await self.create(attempt) }
    }

    private func create(_ attempt: ConnectState.Attempt) async {
        do throws(BLEError) {
            let timing = ScanOptions.Preset.lowLatency.timing
            let parameters = ConnectionParameters(attempt.options.timing ?? ConnectionOptions.Timing())
            if capabilities.hasExtendedFamily {
                _ = try await send(
                    LEExtendedCreateConnection(
                        ownAddressType: ownAddressType, peer: HCIAddress(attempt.peer),
                        phys: PerPHY(
                            le1M: .init(
                                scanInterval: timing.interval, scanWindow: timing.window,
                                parameters: parameters))))
            } else {
                _ = try await send(
                    LECreateConnection(
                        scanInterval: timing.interval, scanWindow: timing.window,
                        peer: HCIAddress(attempt.peer),
                        ownAddressType: ownAddressType, parameters: parameters))
            }
        } catch {
            finishAttempt(with: .failure(error))
        }
    }

    /// The controller's attempt has ended, one way or the other.
    func finishAttempt(with result: Result<LinkID, BLEError>) {
        connecting.isUnderWay = false
        guard !connecting.queue.isEmpty else { return }
        let attempt = connecting.queue.removeFirst()
        connects.resume(attempt.id, with: result)
        advanceConnecting()
    }

    /// A connection was made, or an attempt to make one failed.
    func connectionCompleted(_ event: LEConnectionComplete) {
        guard event.status == .success else {
            guard kernel == nil, connecting.isUnderWay else { return }
            // Unknown Connection Identifier is what a cancelled attempt ends with.
            let error: BLEError =
                event.status == .unknownConnectionIdentifier
                ? .cancelled : .connectFailed(.status(event.status))
            return finishAttempt(with: .failure(error))
        }
        // Of extended advertising the end of the set is told by an event of its own.
        if event.role == .peripheral, advertising.family == .legacy { advertisingWasConsumed() }
        guard kernel == nil else {
            // The kernel has the link; its socket comes by itself.
            kernelLinks[event.connection] = (LinkParameters.Timing(event), .initial)
            return
        }
        guard let peer = event.peer.deviceAddress else { return }
        let link = addLink(
            to: peer, as: event.role == .peripheral ? .peripheral : .central, over: .acl(event.connection),
            timing: LinkParameters.Timing(event),
            mtu: event.role == .central ? connecting.queue.first?.options.mtu : nil)
        if event.role == .central { finishAttempt(with: .success(link)) }
    }
}

// MARK: - By the kernel

extension Adapter {
    private func begin(kernel attempt: ConnectState.Attempt) throws(BLEError) {
        let (id, peer) = (attempt.id, attempt.peer)
        var attempt = attempt
        attempt.asked = loop.now
        do throws(PortError) {
            connecting.kernel[id] = try L2CAPSockets.connect(from: identity, to: peer, on: loop) {
                [weak self, attempt] result in
                self?.assumeIsolated { $0.kernelConnected(attempt, result) }
            }
        } catch {
            throw .kernel(error, operation: "connecting")
        }
    }

    private func kernelConnected(_ attempt: ConnectState.Attempt, _ result: Result<L2CAPChannel, PortError>) {
        guard connecting.kernel.removeValue(forKey: attempt.id) != nil else { return }
        switch result {
        case .success(let channel):
            let link = addLink(
                to: attempt.peer, as: .central, over: .socket(channel), mtu: attempt.options.mtu)
            connects.resume(attempt.id, with: .success(link))
        case .failure(let error) where attempt.ranOut(error, at: loop.now):
            do throws(BLEError) {
                try begin(kernel: attempt)
            } catch {
                connects.resume(attempt.id, with: .failure(error))
            }
        case .failure(let error):
            let reason = error.errno.map { DisconnectReason.errno($0.rawValue) } ?? .unknown
            let busy = error.errno == .resourceBusy
            connects.resume(
                attempt.id,
                with: .failure(
                    busy
                        ? .adapter(.inUse("another program that has the link to \(attempt.peer)"))
                        : .connectFailed(reason)))
        }
    }
}

extension ConnectState.Attempt {
    /// Whether the kernel's own time limit ended it, and not the caller's: then it is asked again. After 40 s
    /// it says "connection refused", as it does at once when LE is off.
    fileprivate func ranOut(_ error: PortError, at now: Instant) -> Bool {
        switch error.errno {
        case .timedOut?, .hostIsDown?: true
        case .connectionRefused?: asked + .seconds(10) <= now
        default: false
        }
    }
}

extension ConnectionParameters {
    /// The parameters as the controller takes them.
    init(_ timing: ConnectionOptions.Timing) {
        self.init(
            intervalMin: ConnectionInterval(timing.interval.lowerBound),
            intervalMax: ConnectionInterval(timing.interval.upperBound),
            latency: UInt16(clamping: timing.latency),
            supervisionTimeout: Centiseconds(timing.supervisionTimeout))
    }
}
