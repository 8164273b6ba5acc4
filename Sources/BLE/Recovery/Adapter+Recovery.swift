import BLECore
import HCI
import HCISocket
import Logging

/// Sets the controller up, and recovers it when it has failed.
extension Adapter {
    /// Sets the controller up for the first time, and again when it or its line failed meanwhile.
    func setUp(staticAddress: DeviceAddress?) async throws(BLEError) {
        repeat {
            recovery.beginSetUp()
            do throws(BLEError) {
                try await bringUp(staticAddress: staticAddress)
            } catch {
                guard recovery.isDisturbed else { throw error }
            }
        } while try !recovery.setUpEnded(at: loop.now)
        settle()
        observedState.set(.poweredOn)
    }

    /// Handles a failure of the controller. Recovers it at once, unless that would end links: then when they
    /// have ended, or at once if the caller requires it. A controller that was already reset has lost its
    /// links.
    func handle(_ fault: AdapterFault) {
        guard end == nil else { return }
        recovery.handle(fault, links: linkCount, at: loop.now)
        takeRecoveryEvents()
    }

    /// Probes a controller whose recovery is postponed, if nothing was received for too long.
    func expireRecovery(at now: Instant) {
        guard end == nil else { return }
        recovery.expire(at: now)
        takeRecoveryEvents()
    }

    /// Starts a recovery that links have postponed, once the last link has ended.
    func meetPostponed() {
        guard end == nil, linkCount == 0 else { return }
        recovery.linksEnded(at: loop.now)
        takeRecoveryEvents()
    }

    /// Notes that the controller answered this command.
    func noteAnswer(to command: HCIOpcode) {
        recovery.answered(command)
        takeRecoveryEvents()
    }

    private var linkCount: Int { max(links.count, kernelLinks.count) }

    private func takeRecoveryEvents() {
        while let event = recovery.nextEvent() {
            switch event {
            case .note(let event): note(event)
            case .begin(let attempt): begin(attempt)
            case .probe: sendTolerant(ReadBDADDR())
            case .resume(let wasReset):
                beginAnew(wasReset: wasReset)
                observedState.set(.poweredOn)
            case .giveUp(let fault): shutDown(.adapter(.failed(fault)))
            }
        }
        wake(by: recovery.deadline)
    }

    private func begin(_ attempt: Recovery.Attempt) {
        observedState.set(.resetting)
        settle()
        if attempt.losesLinks {
            kernelLinks.removeAll()
            for link in links { drop(link, .status(.hardwareFailure)) }
        }
        Task(executorPreference: loop) { await self.carryOut(attempt) }
    }

    private func carryOut(_ attempt: Recovery.Attempt) async {
        recovery.begun(attempt)
        let outcome = await make(attempt)
        guard end == nil else { return }
        recovery.ended(attempt, outcome, links: linkCount, at: loop.now)
        takeRecoveryEvents()
    }

    private func make(_ attempt: Recovery.Attempt) async -> Recovery.Outcome {
        var wasReset = true
        do throws(BLEError) {
            if kernel != nil {
                switch attempt.step {
                case .powerCycle:
                    // One link is assumed where the kernel does not report their number.
                    let others = attempt.sparesOthers ? (try? await othersLinks()) ?? 1 : 0
                    guard end == nil, !recovery.isDisturbed, others == 0 else {
                        return .notMade(othersLinks: others)
                    }
                    try await cyclePower()
                case .reset: wasReset = attempt.isOfKernel ? await kernelReset() : false
                }
            }
            // The Reset overtakes every unanswered command.
            try await bringUp(staticAddress: identity.type == .random ? identity : nil)
            return .done(wasReset: wasReset)
        } catch {
            log.info("\(attempt.step) did not help: \(error)")
            return .failed
        }
    }

    /// Requests all activities of the controller again. A controller that was reset does nothing any more;
    /// another one may still do what it was commanded before, including what is no longer required.
    private func beginAnew(wasReset: Bool) {
        radio.controllerIsBack(wasReset: wasReset)
        // The controller may know other peers now.
        lookAgain()
        settle()
        askKernelAgain()
    }
}

// MARK: - Kernel adapters

extension Adapter {
    /// Returns the number of links that other programs have on the adapter, including those of BR/EDR. This
    /// process has none left then.
    private func othersLinks() async throws(BLEError) -> Int {
        guard let kernel else { return 0 }
        return try await kernel.management.connections(of: kernel.index).count
    }

    /// Requests that the kernel switch its adapter off and on. Runs to the end, even when this adapter is
    /// closed meanwhile.
    private func cyclePower() async throws(BLEError) {
        let cycle = Task(executorPreference: loop) { await self.switchOffAndOn() }
        powerCycle = cycle
        try await cycle.value.get()
    }

    /// Switches the adapter off and on, with two tries for each. A request that arrives while the kernel
    /// still waits for the silent command's answer fails together with it, so the second try decides.
    private func switchOffAndOn() async -> Result<Void, BLEError> {
        do throws(BLEError) {
            for isOn in [false, true] {
                do throws(BLEError) {
                    try await setPower(isOn)
                } catch .permission(let capability, let operation) {
                    throw .permission(capability, for: operation)
                } catch {
                    log.debug("\(error); once more")
                    try await setPower(isOn)
                }
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func setPower(_ isOn: Bool) async throws(BLEError) {
        guard let kernel else { return }
        _ = try await kernel.management.request(
            .setPowered(isOn), index: kernel.index,
            operation: .cyclePower(kernel.index))
    }

    /// Waits until the kernel has reset its controller by itself, as it does after a hardware error: it then
    /// reports that the adapter is on again. Returns false when it has not done so within 5 s.
    private func kernelReset() async -> Bool {
        do throws(BLEError) {
            try await withDeadline(.seconds(5), on: loop, orThrow: .cancelled) { () throws(BLEError) in
                try await self.poweredOn()
            }
            return true
        } catch {
            log.debug("the kernel has not reset the controller: \(error)")
            return false
        }
    }

    private func poweredOn() async throws(BLEError) {
        try await waits.wait(in: self) { () throws(BLEError) in .pending(.power(number: nextNumber())) }
    }
}

/// Detects that another program has received the channel of a central's link, which the kernel gives to the
/// newest listener.
extension Adapter {
    /// The time that the kernel has to hand the channel of a new link over: 2 s, although it does so at once.
    private static let handOver = Duration.seconds(2)

    /// Expects the channel of a central that has connected to the kernel, if this process has a server.
    func expectChannel(of connection: ConnectionHandle) {
        guard kernel?.isListening ?? false else { return }
        Task(executorPreference: loop) { [loop, weak self] in
            guard await loop.sleep(for: Self.handOver) else { return }
            await self?.missChannel(of: connection)
        }
    }

    private func missChannel(of connection: ConnectionHandle) async {
        guard let kernel = kernel?.kernel, end == nil, kernelLinks.lacksChannel(connection) else { return }
        let daemon = await kernel.bluetoothDaemon()
        note(.centralTaken(by: daemon))
    }
}

extension Adapter {
    /// Returns a stream of problems of the controller, and of what the adapter does about them, from now on.
    /// The stream ends with the error that ended the adapter. By default the newest 64 events are buffered.
    ///
    /// ```swift
    /// for try await event in adapter.health() { print(event) }
    /// ```
    public nonisolated func health(
        _ policy: BufferPolicy = .newest(64)
    ) -> BoundedStream<AdapterHealthEvent> {
        let buffer = StreamBuffer<AdapterHealthEvent>(policy)
        loop.execute { self.assumeIsolated { $0.reportHealth(to: buffer) } }
        return BoundedStream(buffer)
    }

    private func reportHealth(to buffer: StreamBuffer<AdapterHealthEvent>) {
        if let end { return buffer.finish(.failure(end)) }
        let id = callers.health.add(buffer)
        whenEnded(buffer) { $0.callers.health.remove(id) }
    }

    func note(_ event: AdapterHealthEvent) {
        // A quiet place restarts the scan each minute.
        if case .scanRestarted = event { log.debug("\(event)") } else { log.info("\(event)") }
        callers.health.emit(event)
    }
}
