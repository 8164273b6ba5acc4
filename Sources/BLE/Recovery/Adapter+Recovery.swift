import BLECore
import HCI
import Logging

/// How the controller is, and what is done about it.
struct RecoveryState {
    /// Whether it is being set up: not ready yet, or not again.
    var isUnderWay = true
    /// What happened meanwhile, so that the setting up is in vain.
    var disturbance: AdapterFault?
    /// A fault that is not met as long as there are links.
    var postponed: AdapterFault?
    var ladder: RecoveryLadder
    /// Whether what is done about a fault switches the power of a kernel adapter off and on.
    var switchesPower = false
    /// Whether the system sleeps, or is about to.
    var isSuspended = false
    /// Ends when a kernel adapter that was switched off is on again, or cannot be.
    var powerCycle: Task<Result<Void, BLEError>, Never>?
    /// Those who want to know.
    var watchers: [UInt64: StreamBuffer<AdapterHealthEvent>] = [:]
    var nextWatcher: UInt64 = 0

    init(isKernel: Bool) { ladder = isKernel ? .kernel : .own }
}

extension Adapter {
    /// Sets the controller up for the first time, and again when it or its line failed meanwhile.
    func setUp(staticAddress: DeviceAddress?) async throws(BLEError) {
        while true {
            recovery.disturbance = nil
            do throws(BLEError) {
                try await bringUp(staticAddress: staticAddress)
            } catch {
                guard recovery.disturbance != nil else { throw error }
            }
            guard let fault = recovery.disturbance else { break }
            guard recovery.ladder.climb(at: loop.now) != nil else { throw .adapter(.failed(fault)) }
        }
        recovery.isUnderWay = false
        observedState.set(.poweredOn)
    }

    /// The controller has failed. It is brought back unless that costs links: then when they have ended, or
    /// at once if the caller wants so. A controller that was reset already has lost its links.
    func meet(_ fault: AdapterFault) {
        guard end == nil else { return }
        guard !recovery.isUnderWay else {
            // Whoever sets it up hears of a silence by himself.
            if !fault.isSilence { recovery.disturbance = fault }
            return
        }
        // One that is left already is left until links end, or it answers.
        if fault.isSilence, recovery.postponed?.isSilence == true { return }
        climb(against: fault)
    }

    /// Takes the next step, or leaves it until it costs no links.
    private func climb(against fault: AdapterFault) {
        var ladder = recovery.ladder
        let step = ladder.climb(at: loop.now)
        let links = max(self.links.count, kernelLinks.count)
        let costsLinks = kernel == nil || step == .powerCycle
        if !costLinksAlready(fault), links > 0, step != nil, costsLinks, !recoversWithLinks {
            leave(fault, links: links)
            return
        }
        recovery.ladder = ladder
        take(step, against: fault)
    }

    /// The controller stays as it is.
    private func leave(_ fault: AdapterFault, links: Int) {
        postpone(fault, links: links)
        // The gentler steps before were in vain.
        guard recovery.isUnderWay else { return }
        (recovery.isUnderWay, recovery.switchesPower) = (false, false)
        beginAnew(wasReset: false)
        observedState.set(.poweredOn)
    }

    /// A silence may end by itself; what else has happened stays so.
    private func postpone(_ fault: AdapterFault, links: Int) {
        let before = recovery.postponed
        guard before.map(\.isSilence) ?? true else { return }
        recovery.postponed = fault
        if before == nil || !fault.isSilence { note(.postponed(fault, links: links)) }
    }

    /// A link has ended: the last one may have kept the controller from being brought back.
    func meetPostponed() {
        guard links.isEmpty, kernelLinks.count == 0, let fault = recovery.postponed else { return }
        recovery.postponed = nil
        meet(fault)
    }

    /// A command was answered: one of those that were not, perhaps, while links kept the controller from being
    /// brought back.
    func noteAnswer(to command: HCIOpcode) {
        guard recovery.postponed == .silence(command: command) else { return }
        recovery.postponed = nil
        note(.answersAgain(command: command))
    }

    /// Whether the controller is, or will be, reset in any case. The kernel does so by itself after a hardware
    /// error.
    private func costLinksAlready(_ fault: AdapterFault) -> Bool {
        switch fault {
        case .lineLost: true
        case .hardwareError: kernel != nil
        case .silence: false
        }
    }

    private func take(_ step: RecoveryStep?, against fault: AdapterFault) {
        recovery.isUnderWay = true
        recovery.switchesPower = step == .powerCycle || kernel != nil && costLinksAlready(fault)
        recovery.postponed = nil
        guard let step else {
            note(.gaveUp(fault))
            return shutDown(.adapter(.failed(fault)))
        }
        observedState.set(.resetting)
        changed()
        note(.recovering(fault, by: step))
        if kernel == nil || step == .powerCycle || costLinksAlready(fault) {
            kernelLinks.removeAll()
            for link in Array(links.values) { drop(link, .status(.hardwareFailure)) }
        }
        Task(executorPreference: loop) { await self.recover(by: step, from: fault) }
    }

    private func recover(by step: RecoveryStep, from fault: AdapterFault) async {
        recovery.disturbance = nil
        var wasReset = true
        do throws(BLEError) {
            if kernel != nil {
                switch step {
                case .powerCycle:
                    // Of a kernel that does not tell, some are assumed.
                    let others =
                        recoversWithLinks || costLinksAlready(fault) ? 0 : (try? await othersLinks()) ?? 1
                    guard end == nil else { return }
                    if let fault = recovery.disturbance {
                        recovery.ladder.stepBack()
                        return takeNext(against: fault)
                    }
                    guard others == 0 else {
                        recovery.ladder.stepBack()
                        return leave(fault, links: others)
                    }
                    try await cyclePower()
                case .reset: wasReset = costLinksAlready(fault) ? await kernelReset() : false
                }
            }
            // Its Reset overtakes every command that is not answered.
            try await bringUp(staticAddress: identity.type == .random ? identity : nil)
        } catch {
            log.info("\(step) did not help: \(error)")
            return takeNext(against: fault)
        }
        guard end == nil else { return }
        if let fault = recovery.disturbance { return takeNext(against: fault) }
        (recovery.isUnderWay, recovery.switchesPower) = (false, false)
        note(.recovered(by: step))
        beginAnew(wasReset: wasReset)
        observedState.set(.poweredOn)
    }

    private func takeNext(against fault: AdapterFault) {
        guard end == nil else { return }
        climb(against: fault)
    }

    /// All that is wanted of the controller is asked for again. When it was reset it does nothing any more; else it
    /// may do what it was told, also what is not wanted now.
    private func beginAnew(wasReset: Bool) {
        if wasReset {
            scanner.controllerWasReset()
            advertiser.controllerWasReset()
            synchronizer.controllerWasReset()
        } else {
            scanner.controllerIsBack()
            advertiser.controllerIsBack()
            synchronizer.controllerIsBack()
        }
        reconcileTrains()
        reconcileScan()
        reconcileAdvertising()
        // The controller may know other peers now.
        lookAgain()
        reconcileConnecting()
        changed()
        expirePrivacy()
        askKernelAgain()
    }
}

// MARK: - Kernel adapters

extension Adapter {
    /// How many links other programs have on the adapter, those of BR/EDR too. None of this process is left then.
    private func othersLinks() async throws(BLEError) -> Int {
        guard let kernel else { return 0 }
        return try await kernel.management.connections(of: kernel.index).count
    }

    /// Has the kernel switch its adapter off and on, to the end, also when this adapter is closed meanwhile.
    private func cyclePower() async throws(BLEError) {
        let cycle = Task(executorPreference: loop) { await self.switchOffAndOn() }
        recovery.powerCycle = cycle
        try await cycle.value.get()
    }

    /// A request that comes while the kernel still waits for the silent command's answer fails with that, so the
    /// second try counts.
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

    /// Waits until the kernel has reset its controller by itself, as it does after a hardware error: it tells that
    /// the adapter is on again. It has 5 s; false when it has not.
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
        try await power.wait(in: self) { adapter, number in
            adapter.power.resume(number, with: .failure(.cancelled))
        } start: { () throws(BLEError) in
            nextNumber()
        }
    }
}

extension AdapterFault {
    fileprivate var isSilence: Bool {
        if case .silence = self { return true }
        return false
    }
}
