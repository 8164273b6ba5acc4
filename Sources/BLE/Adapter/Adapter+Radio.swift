import BLECore
import HCI
import HCISocket
import Logging

// MARK: - Settling

extension Adapter {
    /// The state of the rest of the host on which the radio depends.
    var surroundings: Radio.Surroundings {
        Radio.Surroundings(
            isRecovering: recovery.isUnderWay, centrals: connectedCentrals,
            links: max(links.count, kernelLinks.count), now: loop.now)
    }

    /// Carries out what the radio requires, until nothing is left. Whatever changes the radio or its surroundings calls
    /// this. What is carried out may call it, too: the call that is under way then continues.
    func settle() {
        radio.surroundingsChanged()
        guard end == nil, !isSettling else { return }
        isSettling = true
        while end == nil {
            let surroundings = surroundings
            guard let output = radio.next(under: surroundings, &common) else { break }
            switch output {
            case .command(let command, let machine): submit(command, of: .radio(machine))
            case .claim(let set): radio.claimed(set, isOurs: claim(set))
            case .event(let event): handle(event)
            }
        }
        isSettling = false
        if radio.isRestless {
            assertionFailure("the machines of the radio do not settle")
            log.error("the machines of the radio do not settle; they are asked again")
            radio.resume()
            loop.execute { [weak self] in self?.assumeIsolated { $0.settle() } }
        }
        advertising.giveBackSets(but: radio.sets)
        wakeForRadio()
    }

    /// Settles after several changes, and not between them.
    func settle(after changes: () -> Void) {
        let wasSettling = isSettling
        isSettling = true
        changes()
        isSettling = wasSettling
        settle()
    }

    /// Handles the last events of the radio. Nothing is sent any more.
    func drainRadio() {
        let surroundings = surroundings
        while let output = radio.next(under: surroundings, &common) {
            if case .event(let event) = output { handle(event) }
        }
    }

    /// Sets the timer for the radio.
    func wakeForRadio() { wake(by: radio.deadline(isRecovering: recovery.isUnderWay)) }

    /// Acts on the time limits of the radio.
    func expireRadio(at now: Instant) {
        guard let due = radio.deadline(isRecovering: recovery.isUnderWay), due <= now else { return }
        let surroundings = surroundings
        radio.expire(under: surroundings, common)
        settle()
    }

    /// Handles the controller's answer to a command of the radio, or the lack of one.
    func radioAnswered(_ answer: CommandAnswer, to machine: Radio.Machine) {
        let surroundings = surroundings
        radio.answered(answer, to: machine, under: surroundings, common)
        settle()
    }

    private func handle(_ event: Radio.Event) {
        switch event {
        case .scanEnded(let id, let error): callers.scans.removeValue(forKey: id)?.finish(.failure(error))
        case .trainEnded(let id, let error): callers.trains.removeValue(forKey: id)?.finish(.failure(error))
        case .advertising(let event): handle(event)
        case .connectFailed(let device, let error): failPending(device, error)
        case .rested(let number): waits.end(.rest(number: number), .success(()))
        case .addressesChanged: lookAgain()
        case .note(let event): note(event)
        case .log(let line): log.info("\(line)")
        case .debug(let line): log.debug("\(line)")
        case .warning(let line): log.warning("\(line)")
        }
    }
}

// MARK: - Scans

extension Adapter {
    /// Starts a scan whose advertisements go to `buffer`. The scan ends with the buffer.
    func startScan(_ options: ScanOptions, into buffer: StreamBuffer<Advertisement>) {
        do throws(BLEError) {
            if let refusal { throw refusal }
            try check(options)
        } catch {
            return buffer.finish(.failure(error))
        }
        let id = radio.scan(named(options), at: loop.now)
        callers.scans[id] = buffer
        whenEnded(buffer) { $0.endScan(id) }
        settle()
    }

    /// Runs `body` when a stream has ended. Until then the stream retains the adapter, to which its consumer may have no
    /// other reference.
    func whenEnded<Element>(
        _ buffer: StreamBuffer<Element>, _ body: @escaping @Sendable (isolated Adapter) -> Void
    ) {
        buffer.onEnd { [self] in
            loop.execute { self.assumeIsolated { body($0) } }
        }
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
    var isScanning: Bool { !callers.scans.isEmpty }

    private func endScan(_ id: ScanID) {
        guard callers.scans.removeValue(forKey: id) != nil else { return }
        radio.end(id, at: loop.now)
        settle()
    }

    /// Ends all scans and searches; the streams of the scans finish with `end`.
    func endScans(_ end: Result<Void, BLEError>) {
        let ended = radio.endScans(at: loop.now).compactMap { callers.scans.removeValue(forKey: $0) }
        for buffer in ended { buffer.finish(end) }
    }

    /// Handles the advertising reports of an event. Returns false when the packet is something else. The
    /// reports before a malformed one are delivered.
    func receiveReports(_ packet: Span<UInt8>) throws(DecodeError) -> Bool {
        defer { if !radio.isSettled { settle() } }
        return try radio.receive(packet, at: loop.now, &common) { id, advertisement in
            callers.scans[id]?.yield(advertisement)
        }
    }
}

// MARK: - Periodic trains

extension Adapter {
    /// Follows a periodic train, whose data go to `buffer`. It is followed until the buffer ends.
    func followTrain(
        _ train: PeriodicSynchronizer.Train, _ options: PeriodicSyncOptions,
        into buffer: StreamBuffer<PeriodicAdvertisement>
    ) {
        do throws(BLEError) {
            if let refusal { throw refusal }
            try options.check()
            guard kernel == nil else { throw .adapter(.unsupported(.kernelPeriodicSync)) }
            guard capabilities.hasExtendedFamily, capabilities.features.contains(.periodicAdvertising) else {
                throw .adapter(.unsupported(.periodicAdvertising))
            }
            try check(options.scan)
        } catch {
            return buffer.finish(.failure(error))
        }
        let id = radio.follow(train, options)
        callers.trains[id] = buffer
        whenEnded(buffer) { $0.stopFollowing(id) }
        settle()
    }

    private func stopFollowing(_ id: PeriodicSyncID) {
        guard callers.trains.removeValue(forKey: id) != nil else { return }
        radio.end(id)
        settle()
    }

    /// Ends all trains for their consumers.
    func endTrains(_ end: Result<Void, BLEError>) {
        radio.endTrains()
        let ended = callers.trains
        callers.trains = [:]
        for (_, buffer) in ended.sorted(by: { $0.key.number < $1.key.number }) { buffer.finish(end) }
    }

    func established(_ event: LEPeriodicAdvertisingSyncEstablished) {
        // On a kernel adapter the trains are those of other programs.
        guard kernel == nil else { return }
        radio.established(event)
        settle()
    }

    func lost(_ event: LEPeriodicAdvertisingSyncLost) {
        radio.lost(event)
        settle()
    }

    func received(_ report: LEPeriodicAdvertisingReport) {
        radio.receive(report, at: loop.now) { id, packet in callers.trains[id]?.yield(packet) }
    }
}

// MARK: - Rest

extension Adapter {
    /// Waits until the radio rests in this respect, or the adapter or the task ends.
    func untilRest(_ rest: Radio.Rest) async {
        _ = try? await waits.wait(in: self) { () throws(BLEError) in
            guard end == nil else { return .done(()) }
            let number = nextNumber()
            radio.wait(number, for: rest)
            return .pending(.rest(number: number))
        } then: {
            settle()
        }
    }
}
