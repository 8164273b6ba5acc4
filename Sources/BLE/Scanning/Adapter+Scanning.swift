import BLECore
import HCI
import HCISocket
import Logging

/// Executes the scanner's commands to the controller.
extension Adapter {
    /// Starts a scan whose advertisements go to `buffer`. It ends with the buffer.
    func startScan(_ options: ScanOptions, into buffer: StreamBuffer<Advertisement>) {
        do throws(BLEError) {
            if let refusal { throw refusal }
            try check(options)
        } catch {
            return buffer.finish(.failure(error))
        }
        let id = scanner.scan(named(options), at: loop.now)
        scans[id] = buffer
        // Until then the stream holds the adapter, which its consumer may hold by nothing else.
        buffer.onEnd { [self] in
            loop.execute { self.assumeIsolated { $0.endScan(id) } }
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
        if options.extended == .on, !isExtended { throw .adapter(.unsupported(.extendedScanning)) }
        if options.phys.contains(.leCoded), !isExtended || !capabilities.features.contains(.leCodedPHY) {
            throw .adapter(.unsupported(.scanning(on: .leCoded)))
        }
        guard !options.phys.isEmpty else { throw .invalidRequest(.noPHY) }
        if let other = options.phys.subtracting([.le1M, .leCoded]).least {
            throw .invalidRequest(.scanning(on: other))
        }
        if !capabilities.hasExtendedFamily { try options.timing?.checkLegacy() }
    }

    private func endScan(_ id: ScanID) {
        guard scans.removeValue(forKey: id) != nil else { return }
        scanner.end(id, at: loop.now)
        reconcileScan()
    }

    /// Ends all scans and searches; the streams of the scans finish with `end`.
    func endScans(_ end: Result<Void, BLEError>) {
        let ended = scanner.endAll(at: loop.now).compactMap { scans.removeValue(forKey: $0) }
        for buffer in ended { buffer.finish(end) }
    }

    /// What else goes on, as far as it concerns scans.
    private var scanConditions: Scanner.Conditions {
        Scanner.Conditions(
            limits: ScanConditions(
                hasExtendedFamily: capabilities.hasExtendedFamily,
                isKnownToHostAlone: isKnownToHostAlone,
                isConnecting: !initiator.wanted.isEmpty && !initiator.takesTurnsWithScans),
            isShared: kernel != nil,
            isPaused: privacy.isPausing || isSuspended || initiator.silencesScans,
            isInitiating: !initiator.isQuiet, ownAddressType: ownAddressType,
            randomAddress: kernel != nil && identity.type == .random ? identity : nil, now: loop.now)
    }

    /// The part of the time in which a connection attempt may listen, so that a scan beside it receives packets, too.
    var initiatingShare: Double {
        !scanner.isWanted || initiator.takesTurnsWithScans ? 1 : 1 - ScanConditions.shareBesideConnecting
    }

    /// Has the scanner bring the radio to what is wanted.
    func reconcileScan() {
        guard end == nil else { return }
        initiator.share(withScan: scanner.isWanted, at: loop.now)
        if !recovery.isUnderWay, let command = scanner.nextCommand(under: scanConditions, &acceptList) {
            submit(command, of: .scanner)
        }
        takeScannerEvents()
        wakeForScanner()
        wakeForInitiator()
    }

    /// Sets the timer for the scanner, which has to wait while the controller is brought back.
    func wakeForScanner() {
        if !recovery.isUnderWay { wake(by: scanner.deadline) }
    }

    /// The controller has answered the scanner's command, or has not.
    func scannerAnswered(_ answer: CommandAnswer) {
        scanner.answered(answer, under: scanConditions, &acceptList)
        takeScannerEvents()
        reconcileScan()
    }

    /// Acts on the scanner's time limits.
    func expireScanner(at now: Instant) {
        guard let deadline = scanner.deadline, deadline <= now, !recovery.isUnderWay else { return }
        scanner.expire(under: scanConditions, acceptList)
        reconcileScan()
    }

    private func takeScannerEvents() {
        while let event = scanner.nextEvent() {
            switch event {
            case .ended(let id, let error): scans.removeValue(forKey: id)?.finish(.failure(error))
            case .searchEnded(.train, let error):
                synchronizer.fail(error)
                reconcileTrains()
            case .searchEnded(.peers, let error): peerSearchFailed(error)
            case .disallowedBesideConnecting:
                initiator.takeTurnsWithScans()
                reconcileConnecting()
            case .changed:
                changed()
                // It may have waited for the accept list.
                if !initiator.wanted.isEmpty { reconcileConnecting() }
            case .note(let event): note(event)
            case .log(let line): log.info("\(line)")
            }
        }
    }

    /// Takes the advertising reports of an event; false when the packet is something else. The reports before a
    /// malformed one are delivered.
    func receiveReports(_ packet: Span<UInt8>) throws(DecodeError) -> Bool {
        // What follows from one that is looked for may change the scan.
        var found: [(report: AdvertisingReport, peer: DeviceAddress?)] = []
        defer { for each in found { consider(each.report, of: each.peer) } }
        let isLooking = connecting.isSearching
        return try scanner.receive(packet, at: loop.now) { report in
            let peer = hiddenPeer(of: report)
            if isLooking { found.append((report, peer)) }
            return peer
        } deliver: { id, advertisement in
            scans[id]?.yield(advertisement)
        }
    }
}

// MARK: - Changes of the radio

extension Adapter {
    /// Waits until scanning and advertising are as requested, and unwanted periodic trains are terminated.
    func radioIdle() async {
        while end == nil, scanner.isChanging || advertiser.isChanging || isEndingTrains {
            guard await radioChange() else { return }
        }
    }

    /// Whether a command about periodic trains is unanswered, or a search or a train is to be ended, which cannot be
    /// done while the controller is brought back.
    private var isEndingTrains: Bool {
        synchronizer.isAsking || synchronizer.hasLeftovers && !recovery.isUnderWay
    }

    /// Waits until a change of the radio has ended; false when the task is cancelled.
    func radioChange() async -> Bool {
        do throws(BLEError) {
            try await idle.wait(in: self) { adapter, number in
                adapter.idle.resume(number, with: .failure(.cancelled))
            } start: { () throws(BLEError) in
                nextNumber()
            }
            return true
        } catch {
            return false
        }
    }

    /// A change of the radio has ended: resumes the callers that wait for it.
    func changed() {
        idle.resumeAll(with: .success(()))
        resumePrivacy()
    }
}
