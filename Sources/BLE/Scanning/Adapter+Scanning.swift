import BLECore
import HCI
import HCISocket
import Logging

/// Executes the scanner's commands to the controller.
extension Adapter {
    /// Starts a scan whose advertisements go to `buffer`. The scan ends with the buffer.
    func startScan(_ options: ScanOptions, into buffer: StreamBuffer<Advertisement>) {
        do throws(BLEError) {
            if let refusal { throw refusal }
            try check(options)
        } catch {
            return buffer.finish(.failure(error))
        }
        let id = scanner.scan(named(options), at: loop.now)
        scans[id] = buffer
        // Until the scan ends, the stream retains the adapter, to which its consumer may have no other
        // reference.
        buffer.onEnd { [self] in
            loop.execute { self.assumeIsolated { $0.endScan(id) } }
        }
        reconcileScan()
    }

    /// Returns the options with the identities added of devices that are searched for by a private address.
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

    /// Throws when this controller cannot scan with these options.
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

    /// Whether a stream of advertisements is open.
    var isScanning: Bool { !scans.isEmpty }

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

    /// The state of the host on which scans depend.
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

    /// The share of the time in which a connection attempt can listen, so that a scan beside it receives
    /// packets, too.
    var initiatingShare: Double {
        !scanner.isWanted || initiator.takesTurnsWithScans ? 1 : 1 - ScanConditions.shareBesideConnecting
    }

    /// Submits the scanner's next command, and handles its events.
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

    /// Sets the timer for the scanner, which has to wait while the controller is being recovered.
    func wakeForScanner() {
        if !recovery.isUnderWay { wake(by: scanner.deadline) }
    }

    /// Handles the controller's answer to the scanner's command, or the lack of one.
    func scannerAnswered(_ answer: CommandAnswer) {
        scanner.answered(answer, under: scanConditions, &acceptList)
        takeScannerEvents()
        reconcileScan()
    }

    /// Handles the scanner's expired time limits.
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
                // A connection attempt may have waited for the accept list.
                if !initiator.wanted.isEmpty { reconcileConnecting() }
            case .note(let event): note(event)
            case .log(let line): log.info("\(line)")
            }
        }
    }

    /// Handles the advertising reports of an event. Returns false when the packet is something else. The
    /// reports before a malformed one are delivered.
    func receiveReports(_ packet: Span<UInt8>) throws(DecodeError) -> Bool {
        // A report of a peer that is searched for can change the scan, so it is handled afterwards.
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

    /// Whether a command about periodic trains is unanswered, or a search or a train is to be ended, which
    /// cannot be done while the controller is being recovered.
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

    /// Resumes the callers that wait for a change of the radio, which has ended.
    func changed() {
        idle.resumeAll(with: .success(()))
        resumePrivacy()
    }
}
