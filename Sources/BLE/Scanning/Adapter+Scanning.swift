import BLECore
import HCI
import HCISocket
import Logging

extension Adapter {
    /// Starts a scan whose advertisements go to `buffer`. It ends with the buffer.
    func startScan(_ options: ScanOptions, into buffer: StreamBuffer<Advertisement>) {
        do throws(BLEError) {
            if let end { throw end }
            try check(options)
        } catch {
            return buffer.finish(.failure(error))
        }
        scanning.nextID += 1
        let id = scanning.nextID
        scanning.consumers[id] = ScanState.Consumer(filter: ScanFilter(named(options)), buffer: buffer)
        buffer.onEnd { [loop, weak self] in
            loop.execute { [weak self] in self?.assumeIsolated { $0.endScan(id) } }
        }
        reconcileScan()
    }

    /// The same options, with the identities of those that are looked for by a private address.
    private func named(_ options: ScanOptions) -> ScanOptions {
        var options = options
        for filter in options.addresses {
            guard let type = filter.type else { continue }
            let address = DeviceAddress(filter.value, type: type)
            let peer = identity(behind: address)
            if peer != address { options.addresses.append(AddressFilter(peer)) }
        }
        return options
    }

    /// Refuses what this controller cannot do.
    func check(_ options: ScanOptions) throws(BLEError) {
        let isExtended = capabilities.hasExtendedFamily && options.extended != .off
        if options.extended == .on, !isExtended { throw .adapter(.unsupported("extended scanning")) }
        if options.phys.contains(.coded), !isExtended || !capabilities.features.contains(.leCodedPHY) {
            throw .adapter(.unsupported("scanning on the Coded PHY"))
        }
        guard !options.phys.isEmpty else { throw .invalidRequest("a scan listens on one PHY at least") }
        if !capabilities.hasExtendedFamily { try options.timing?.checkLegacy() }
    }

    private func endScan(_ id: UInt64) {
        scanning.consumers[id] = nil
        scanning.accepted.remove(id)
        reconcileScan()
    }

    /// What all consumers together want, or nil when there are none.
    private var wantedScan: ScanParameters? {
        guard !privacy.isChanging else { return nil }
        return ScanParameters(
            scanning.wishes,
            under: ScanConditions(
                hasExtendedFamily: capabilities.hasExtendedFamily,
                acceptList: kernel == nil ? acceptList : nil,
                isKnownToHostAlone: isKnownToHostAlone,
                isConnecting: !connecting.planner.wanted.isEmpty))
    }

    /// How a connection attempt is to listen, so that a scan that goes on hears something as well.
    var initiatingTiming: ScanTiming {
        !scanning.isWanted
            ? .lowLatency : .lowLatency.limited(to: 1 - ScanConditions.shareBesideConnecting)
    }

    /// Brings the radio to what is wanted. One run at a time; what changes meanwhile is seen at its end.
    func reconcileScan() {
        guard !scanning.isChanging, !recovery.isUnderWay, end == nil else { return }
        scanning.isChanging = true
        Task(executorPreference: loop) { await self.changeScan() }
    }

    private func changeScan() async {
        defer {
            scanning.isChanging = false
            lookAgainAtForeign()
            watchScan()
            changed()
        }
        while end == nil, !recovery.isUnderWay {
            let wanted = wantedScan
            switch (scanning.radio, wanted) {
            case (.off, nil), (.joined, .some): return
            case (.on(let now), let wanted?) where now == wanted: return
            case (.joined, nil): scanning.radio = .off
            case (.on(let now), _), (.doubtful(let now), _):
                scanning.radio = .doubtful(now)
                do throws(BLEError) {
                    try await stopScan(now)
                    scanning.radio = .off
                } catch {
                    return
                }
            case (.off, let wanted?):
                // What the scan before has left unfinished never will be.
                scanning.chains = ReportAssembler()
                let ids = Set(scanning.wishes.map(\.id))
                do throws(BLEError) {
                    try await beginScan(wanted)
                    scanning.radio = .on(wanted)
                    scanning.accepted.formUnion(ids)
                } catch .hci(.commandDisallowed, _) where kernel != nil {
                    log.info("joining a scan that runs already")
                    scanning.radio = .joined
                } catch  where error.isUnanswered {
                    // What brings the controller back begins this anew; what waits for links, the next look at
                    // the silence.
                    scanning.radio = .doubtful(wanted)
                    return
                } catch .hci(let status, let command) where AcceptList.commands.contains(command) {
                    log.info("scanning without the accept list: \(status)")
                    acceptList.capacity = 0
                } catch {
                    refuseScan(of: ids, error)
                }
            }
        }
    }

    /// The controller does not scan so: those end that asked for it, as far as that can be told.
    private func refuseScan(of ids: Set<UInt64>, _ error: BLEError) {
        var refused = ids
        if case .hci = error { refused = scanning.suspects(among: ids) }
        if refused.contains(ScanState.trainSearchID) {
            scanning.demand = nil
            searchFailed(error)
        }
        if refused.contains(ScanState.peerSearchID) { peerSearchFailed(error) }
        // Each `onEnd` forgets that it was accepted.
        for id in refused { scanning.consumers.removeValue(forKey: id)?.buffer.finish(.failure(error)) }
    }

    private func beginScan(_ wanted: ScanParameters) async throws(BLEError) {
        if scanning.takesOver {
            scanning.takesOver = false
            try await stopScan(wanted)
        }
        // The kernel tells the controller its static address only when it needs it there itself.
        if kernel != nil, identity.type == .random {
            await sendTolerant(LESetRandomAddress(address: identity))
        }
        if let devices = wanted.acceptList { try await fillAcceptList(with: devices) }
        let policy: ScanFilterPolicy = wanted.acceptList == nil ? [] : .acceptListOnly
        let type: ScanType = wanted.isActive ? .active : .passive
        switch wanted.family {
        case .legacy:
            let timing = wanted.oneMegabit ?? .lowLatency
            _ = try await send(
                LESetScanParameters(
                    type: type, interval: Slots(timing.interval), window: Slots(timing.window),
                    ownAddressType: ownAddressType, filterPolicy: policy))
            _ = try await send(
                LESetScanEnable(
                    enable: true, filterDuplicates: HCIFlag(wanted.duplicateFilter != nil)))
        case .extended:
            _ = try await send(
                LESetExtendedScanParameters(
                    ownAddressType: ownAddressType, filterPolicy: policy,
                    phys: PerPHY(
                        le1M: wanted.oneMegabit.map { .init(type, $0) },
                        leCoded: wanted.coded.map { .init(type, $0) })))
            _ = try await send(
                LESetExtendedScanEnable(
                    enable: true, filterDuplicates: wanted.duplicateFilter == nil ? .off : .on))
        }
    }

    /// The time limit of a command that may have to wait until the answer to another of its kind is given up, and
    /// then has its own.
    var secondLimit: Duration { commandTimeLimit * 2 }

    /// Throws when it is not answered, so that the scan may go on. One that the controller does not end is
    /// ended before the next one begins.
    private func stopScan(_ parameters: ScanParameters) async throws(BLEError) {
        do throws(BLEError) {
            switch parameters.family {
            case .legacy: _ = try await send(LESetScanEnable(enable: false), timeLimit: secondLimit)
            case .extended:
                _ = try await send(LESetExtendedScanEnable(enable: false), timeLimit: secondLimit)
            }
        } catch {
            guard !error.isUnanswered else { throw error }
            log.info("the scan is not ended: \(error)")
            scanning.takesOver = true
        }
    }

    /// Takes the advertising reports of an event; false when the packet is something else. The reports
    /// before a malformed one are told.
    func hearReports(_ packet: Span<UInt8>) throws(DecodeError) -> Bool {
        guard AdvertisingReport.isEvent(packet) else { return false }
        scanning.watchdog.heard(at: loop.now)
        guard !scanning.consumers.isEmpty || scanning.peerSearch != nil else { return true }
        try AdvertisingReport.forEach(in: packet.extracting(3..<packet.count)) { report in
            for whole in scanning.chains.take(report) { heard(whole) }
        }
        return true
    }

    /// An advertising packet came.
    private func heard(_ report: AdvertisingReport) {
        let peer = hiddenPeer(of: report)
        if scanning.peerSearch != nil { consider(report, of: peer) }
        let sighting = scanning.devices.merge(report, of: peer, at: loop.now)
        // By index: a loop over the values or indices holds the dictionary, so that the first change copies it.
        var index = scanning.consumers.values.startIndex
        while index != scanning.consumers.values.endIndex {
            if scanning.consumers.values[index].filter.admits(sighting) {
                scanning.consumers.values[index].buffer.yield(sighting.advertisement)
            }
            scanning.consumers.values.formIndex(after: &index)
        }
    }

    /// Waits until scanning and advertising are as they are wanted.
    func radioIdle() async {
        while end == nil, scanning.isChanging || advertising.isChanging {
            guard await radioChange() else { return }
        }
    }

    /// Waits until a change of the radio has ended; false when the task is cancelled.
    func radioChange() async -> Bool {
        do throws(BLEError) {
            try await idle.wait(in: self) { adapter, number in
                adapter.idle.resume(number, with: .failure(.cancelled))
            } start: { () throws(BLEError) in
                nextIdle += 1
                return nextIdle
            }
            return true
        } catch {
            return false
        }
    }

    /// Tells those who wait for the radio that a change has ended.
    func changed() {
        idle.resumeAll(with: .success(()))
    }
}

extension BLEError {
    /// Whether a command was not answered, or not sent since the controller is being brought back.
    fileprivate var isUnanswered: Bool {
        switch self {
        case .controllerSilent, .hci(.operationCancelledByHost, _): true
        default: false
        }
    }
}

extension LESetExtendedScanParameters.Scanning {
    /// Scanning at those times.
    fileprivate init(_ type: ScanType, _ timing: ScanTiming) {
        self.init(type: type, interval: Slots(timing.interval), window: Slots(timing.window))
    }
}
