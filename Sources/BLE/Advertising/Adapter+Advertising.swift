import BLECore
import HCI
import HCISocket
import Logging

/// Executes the advertiser's commands to the controller.
extension Adapter {
    /// Whether an advertisement has begun and not ended.
    var isAdvertising: Bool { advertising.isActive }

    /// Starts an advertisement, which is on air until `stopAdvertising` while fewer than `maximumLinks`
    /// centrals are connected. Returns when the first packets are on air.
    func startAdvertising(
        _ request: AdvertisingRequest, maximumLinks: Int
    ) async throws(BLEError) -> AdvertisingRecord {
        var record = AdvertisingRecord(AdvertisingID(number: 0))
        try await advertising.started.wait(in: self) { adapter, id in
            adapter.advertiser.giveUp(id)
            adapter.reconcileAdvertising()
        } begin: { () throws(BLEError) in
            if let refusal { throw refusal }
            let id = try advertiser.advertise(
                request, maximumLinks: maximumLinks, under: advertisingConditions)
            takeName(of: request)
            record = advertising.begin(id)
            return .pending(id)
        } then: {
            reconcileAdvertising()
        }
        return record
    }

    /// Replaces the data and parameters of a running advertisement.
    func updateAdvertising(
        _ record: AdvertisingRecord, to request: AdvertisingRequest
    ) async throws(BLEError) {
        try await advertising.updated.wait(in: self) { adapter, id in
            adapter.advertising.updated.resume(id, with: .failure(.cancelled))
        } begin: { () throws(BLEError) in
            if let end { throw end }
            let update = try advertiser.update(record.id, to: request, under: advertisingConditions)
            takeName(of: request)
            return .pending(update)
        } then: {
            reconcileAdvertising()
        }
    }

    /// Returns the transmit power that the controller has chosen, in dBm; nil when it does not report it.
    func power(of record: AdvertisingRecord) -> Int8? { record.power }

    /// Waits until the advertisement ends, and returns why.
    func advertisingEnded(_ record: AdvertisingRecord) async throws(BLEError) -> AdvertisingEnd {
        try await advertising.ended.wait(in: self) { adapter, wait in
            adapter.advertising.ended.resume(wait, with: .failure(.cancelled))
        } begin: { () throws(BLEError) in
            if let end = record.end { return .done(try end.get()) }
            return .pending(advertising.wait(for: record.id))
        }
    }

    /// Takes the advertisement off the air. Returns when that is done, or when the controller does not
    /// answer.
    func stopAdvertising(_ record: AdvertisingRecord) async {
        await uncancelled { await $0.takeOffAir(record.id) }
    }

    private func takeOffAir(_ id: AdvertisingID) async {
        do throws(BLEError) {
            try await advertising.departed.wait(in: self) { adapter, wait in
                adapter.advertising.departed.resume(wait, with: .failure(.cancelled))
            } begin: { () throws(BLEError) in
                if let end { throw end }
                advertiser.stop(id)
                return .pending(advertising.wait(for: id))
            } then: {
                reconcileAdvertising()
            }
        } catch {
            log.debug("the adapter ended before its advertising: \(error)")
        }
    }

    /// Takes all advertisements off the air.
    func stopAllAdvertising() {
        advertiser.endAll(.success(.stopped))
        reconcileAdvertising()
    }

    /// Ends all advertisements because the adapter ends.
    func endAdvertising(_ reason: BLEError) {
        advertiser.endAll(.failure(reason))
        takeAdvertiserEvents()
        advertising.departed.resumeAll(with: .failure(reason))
        advertising.giveBackSets(but: [])
    }

    // MARK: The machine

    /// The state of the host as far as it concerns advertising.
    private var advertisingConditions: Advertiser.Conditions {
        Advertiser.Conditions(
            controller: capabilities, isShared: kernel != nil,
            isPaused: privacy.isPausing || isSuspended,
            isRecovering: recovery.isUnderWay, ownAddressType: ownAddressType,
            addressOnAir: ownAddressType == .random ? addressOnAir : nil, centrals: connectedCentrals,
            links: max(links.count, kernelLinks.count), now: loop.now)
    }

    /// The number of connected centrals. The raw socket reports the kernel's links before their sockets
    /// arrive.
    private var connectedCentrals: Int {
        max(links.count { $0.role == .peripheral }, kernelLinks.peripheralCount)
    }

    /// Whether one more advertisement would be refused.
    var hasAllSetsInUse: Bool { advertiser.isFull(under: advertisingConditions) }

    /// Lets the advertiser bring the radio to the requested state.
    func reconcileAdvertising() {
        guard end == nil else { return }
        if !recovery.isUnderWay,
            let command = advertiser.nextCommand(under: advertisingConditions, claim: { claim($0) })
        {
            submit(command, of: .advertiser)
        }
        takeAdvertiserEvents()
        advertising.giveBackSets(but: advertiser.sets)
        wakeForAdvertiser()
    }

    /// Sets the timer for the advertiser, which has to wait while the controller is being recovered.
    func wakeForAdvertiser() {
        if !recovery.isUnderWay { wake(by: advertiser.deadline) }
    }

    /// Handles the answer to the advertiser's command, or the lack of one.
    func advertiserAnswered(_ answer: CommandAnswer) {
        advertiser.answered(answer, under: advertisingConditions)
        reconcileAdvertising()
    }

    /// Acts on the advertiser's time limits.
    func expireAdvertiser(at now: Instant) {
        guard let deadline = advertiser.deadline, deadline <= now, !recovery.isUnderWay else { return }
        advertiser.expire(at: now)
        reconcileAdvertising()
    }

    private func takeAdvertiserEvents() {
        while let event = advertiser.nextEvent() {
            switch event {
            case .started(let id): advertising.started.resume(id, with: .success(()))
            case .power(let id, let power): advertising.notePower(power, of: id)
            case .updated(let id, let result): advertising.updated.resume(id, with: result)
            case .ended(let id, let result): advertising.finish(id, result)
            case .offAir(let id): advertising.departed.resume(where: { $0.id == id }, with: .success(()))
            case .changed: changed()
            case .log(let line): log.info("\(line)")
            case .warning(let line): log.warning("\(line)")
            }
        }
    }

    // MARK: What the controller and others report

    /// Handles the end of a set by the controller.
    func advertisingSetTerminated(_ event: LEAdvertisingSetTerminated) {
        advertiser.terminated(event.set, event.status, events: event.completedEvents)
        reconcileAdvertising()
    }

    /// Handles the end of the legacy commands' advertising by the controller: because of a connection, or
    /// because its time limit has passed.
    func legacyAdvertisingTerminated(_ status: HCIStatus) {
        advertiser.legacyTerminated(status)
        reconcileAdvertising()
    }

    /// Retries advertising that the controller did not support beside a link, because a link has ended.
    func linkMadeRoomForAdvertising() {
        advertiser.linkEnded()
        reconcileAdvertising()
    }

    // MARK: Ownership of sets

    /// Claims a set of a kernel adapter for this process, so that other processes that advertise with this
    /// library do not use it. Returns false when another process has claimed it. A claim that fails with an
    /// error is no reason not to advertise.
    private func claim(_ set: AdvertisingHandle) -> Bool {
        guard let kernel, !advertising.hasClaim(on: set) else { return true }
        do throws(PortError) {
            let name = "bletool/hci\(kernel.index)/advertising/\(set.rawValue.hex)"
            guard let claim = try kernel.kernel.claim(name) else { return false }
            advertising.take(claim, on: set)
        } catch {
            log.info("\(error)")
        }
        return true
    }
}
