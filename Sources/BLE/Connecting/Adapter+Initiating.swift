import BLECore
import HCI
import HCISocket
import Logging

/// Connecting by the controller: the planner says what it is told.
extension Adapter {
    /// Brings the initiator to what is wanted, and the scan to what that leaves of the radio. One run at a time;
    /// what changes meanwhile is seen at its end.
    func reconcileConnecting() {
        reconcileScan()
        guard kernel == nil, end == nil, !connecting.isChanging, !recovery.isUnderWay else { return }
        connecting.isChanging = true
        Task(executorPreference: loop) { await self.changeConnecting() }
    }

    private func changeConnecting() async {
        defer {
            connecting.isChanging = false
            if connecting.planner.isIdle { releaseAcceptList() }
            changed()
        }
        while end == nil, !recovery.isUnderWay, let step = connecting.planner.next(at: loop.now) {
            switch step {
            case .create(let target): await create(target)
            // It is refused when the link has come in this moment, which an event tells.
            case .cancel: await sendTolerant(LECreateConnectionCancel())
            }
        }
        wake(by: connecting.planner.deadline)
    }

    private func create(_ target: ConnectionPlanner.Target) async {
        do throws(BLEError) {
            if case .acceptList(let devices) = target { try await takeAcceptList(for: devices) }
            try await startInitiator(target)
            connecting.planner.started()
        } catch  where recovery.isUnderWay {
            // What brings the controller back begins this anew.
        } catch {
            if case .acceptList = target { log.info("not connecting by the accept list: \(error)") }
            for device in connecting.planner.refused() { failPending(connecting.wanted(by: device), error) }
        }
    }

    private func startInitiator(_ target: ConnectionPlanner.Target) async throws(BLEError) {
        let options = connecting.options(for: target.devices)
        let listening = initiatingTiming
        // Those who want another timing change that of their link.
        let timing = options.lazy.compactMap(\.timing).first ?? ConnectionOptions.Timing()
        let parameters = try timing.checked()
        let (policy, peer): (InitiatorFilterPolicy, HCIAddress) =
            switch target {
            case .device(let device): (.peer, HCIAddress(device))
            case .acceptList: (.acceptList, HCIAddress(0, type: .public))
            }
        guard capabilities.hasExtendedFamily else {
            _ = try await send(
                LECreateConnection(
                    scanInterval: Slots(listening.interval), scanWindow: Slots(listening.window),
                    filterPolicy: policy, peer: peer, ownAddressType: ownAddressType, parameters: parameters))
            return
        }
        let initiating = LEExtendedCreateConnection.Initiating(
            scanInterval: Slots(listening.interval), scanWindow: Slots(listening.window),
            parameters: parameters)
        let wantsCoded = options.contains { $0.phys?.contains(.leCoded) ?? false }
        _ = try await send(
            LEExtendedCreateConnection(
                filterPolicy: policy, ownAddressType: ownAddressType, peer: peer,
                phys: PerPHY(le1M: initiating, leCoded: wantsCoded ? initiating : nil)))
    }

    /// Waits until the controller makes no connection; it has 2 s to tell that it has ended.
    func connectingIdle() async {
        while end == nil, kernel == nil, connecting.isChanging || !connecting.planner.isIdle {
            guard await radioChange() else { return }
        }
    }

    /// Acts on the planner's time limits.
    func expireConnecting(at now: Instant) {
        guard let deadline = connecting.planner.deadline, deadline <= now else { return }
        if connecting.planner.expire(at: now) {
            log.warning("the controller does not tell how the attempt to connect ended")
            changed()
        }
        reconcileConnecting()
    }
}

// MARK: - Outcomes

extension Adapter {
    /// A connection was made, or an attempt to make one failed.
    func connectionCompleted(_ event: LEConnectionComplete, _ known: LEEnhancedConnectionComplete? = nil) {
        guard event.status == .success else { return connectionFailed(event.status) }
        // Of extended advertising the end of the set is told by an event of its own.
        defer { if event.role == .peripheral { legacyAdvertisingTerminated(.success) } }
        let radio = RadioParameters(event)
        guard kernel == nil else {
            // The kernel has the link; its socket comes by itself.
            kernelLinks[event.connection] = radio
            if event.role == .peripheral {
                kernelCentrals.insert(event.connection)
                expectChannel(of: event.connection)
            }
            return
        }
        guard let told = event.peer.deviceAddress else { return }
        if known?.peerResolvable.value ?? 0 != 0 { privacy.list.isProven = true }
        let isOurs = event.role == .central
        let wanted = identity(
            behind: isOurs ? connecting.wanted(by: connecting.planner.connected(to: told)) : told)
        guard isNews(event.connection, of: wanted) else { return }
        let mtu = connecting.pending[wanted]?.requests.first?.options.mtu
        let id = addLink(
            to: wanted, as: isOurs ? .central : .peripheral, over: .acl(event.connection),
            onAir: AddressesOnAir(own: known?.own ?? addressOnAir, peer: known?.peerOnAir ?? told),
            radio: radio, mtu: mtu)
        if capabilities.hasExtendedFamily, capabilities.commands.contains(.leReadPHY) {
            // A link begins on the PHY on which the advertiser was heard, and the event does not name it.
            Task(executorPreference: loop) { _ = try? await self.readPHYs(of: id) }
        }
        reconcileConnecting()
    }

    /// Whether a connection is a new one: false when it is told twice. An older one of the same handle has
    /// ended without a word.
    private func isNews(_ handle: ConnectionHandle, of peer: DeviceAddress) -> Bool {
        guard let old = linkOfHandle[handle].flatMap({ links[$0] }) else { return true }
        guard old.peer != peer else {
            log.warning("the controller tells of connection \(handle) twice")
            return false
        }
        drop(old, .unknown)
        return true
    }

    private func connectionFailed(_ status: HCIStatus) {
        // So the legacy commands tell the end of the high duty cycle.
        if status == .advertisingTimeout { return legacyAdvertisingTerminated(status) }
        guard kernel == nil else { return }
        for device in connecting.planner.ended(status) {
            failPending(connecting.wanted(by: device), .connectFailed(.status(status)))
        }
        changed()
        reconcileConnecting()
    }
}
