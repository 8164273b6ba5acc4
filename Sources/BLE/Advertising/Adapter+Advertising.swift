import BLECore
import HCI
import HCISocket
import Logging

extension Adapter {
    /// Advertises until `stopAdvertising`, while fewer than `maximumLinks` centrals are connected. Returns
    /// when the first packets are on air.
    func startAdvertising(
        _ request: AdvertisingRequest, maximumLinks: Int
    ) async throws(BLEError) -> AdvertisingRecord {
        var record = AdvertisingRecord(AdvertisingID(number: 0))
        try await advertising.started.wait(in: self) { adapter, id in
            adapter.giveUpAdvertising(id, .cancelled)
        } start: { () throws(BLEError) in
            record = try wantAdvertising(request, maximumLinks)
            return record.id
        }
        return record
    }

    private func wantAdvertising(
        _ request: AdvertisingRequest, _ maximumLinks: Int
    ) throws(BLEError) -> AdvertisingRecord {
        if let end { throw end }
        try request.check(for: capabilities)
        if advertising.schedule.isEmpty { useSets(capabilities.hasExtendedFamily ? .extended : .legacy) }
        try checkFamily(of: request)
        try checkRoom(for: request)
        advertising.nextID += 1
        let record = AdvertisingRecord(AdvertisingID(number: advertising.nextID))
        advertising.records[record.id] = record
        advertising.schedule.add(record.id, request, maximumLinks: maximumLinks)
        reconcileAdvertising()
        return record
    }

    /// Advertises something else, or otherwise.
    func updateAdvertising(
        _ record: AdvertisingRecord, to request: AdvertisingRequest
    ) async throws(BLEError) {
        try await advertising.updated.wait(in: self) { adapter, wait in
            adapter.advertising.updated.resume(wait, with: .failure(.cancelled))
        } start: { () throws(BLEError) in
            if let end { throw end }
            try request.check(for: capabilities)
            try checkFamily(of: request)
            try checkRoom(for: request, inPlaceOf: record.id)
            guard advertising.schedule.update(record.id, to: request, at: loop.now) else {
                throw .invalidRequest("the advertisement has ended")
            }
            // In the loop's next turn, when the wait has begun.
            loop.execute { [weak self] in self?.assumeIsolated { $0.reconcileAdvertising() } }
            return advertising.wait(for: record.id)
        }
    }

    /// A controller on which another program has used the legacy commands has only those now.
    private func checkFamily(of request: AdvertisingRequest) throws(BLEError) {
        guard advertising.family == .legacy else { return }
        if request.isExtended {
            throw .hci(.commandDisallowed, command: .leSetExtendedAdvertisingParameters)
        }
        if request.maximumEvents != nil { throw .adapter(.unsupported("counting advertising events")) }
    }

    /// Sets with a periodic train are not shared, so they must not be all that there are.
    private func checkRoom(
        for request: AdvertisingRequest, inPlaceOf id: AdvertisingID? = nil
    ) throws(BLEError) {
        let schedule = advertising.schedule
        guard !schedule.hasRoom(for: request, inPlaceOf: id) else { return }
        throw .limit(
            "the number of advertisements beside periodic trains, which keep their sets,",
            limit: schedule.setCount, value: schedule.entries.count + (id == nil ? 1 : 0))
    }

    /// How strong the controller sends it.
    func power(of record: AdvertisingRecord) -> Int8? { record.power }

    /// Waits for an advertisement's end.
    func advertisingEnded(_ record: AdvertisingRecord) async throws(BLEError) -> AdvertisingEnd {
        try await advertising.ended.wait(in: self) { adapter, wait in
            adapter.advertising.ended.resume(wait, with: .failure(.cancelled))
        } start: { () throws(BLEError) in
            let wait = advertising.wait(for: record.id)
            if let end = record.end {
                // In the loop's next turn, when the wait has begun.
                loop.execute { [weak self] in
                    self?.assumeIsolated { $0.advertising.ended.resume(wait, with: end) }
                }
            }
            return wait
        }
    }

    /// Takes the advertisement off the air.
    func stopAdvertising(_ record: AdvertisingRecord) async {
        await uncancelled { adapter in
            await adapter.takeOffAir(record.id)
        }
    }

    private func takeOffAir(_ id: AdvertisingID) async {
        if advertising.schedule.remove(id) { advertising.finish(id, .success(.stopped)) }
        reconcileAdvertising()
        await radioIdle()
    }

    func giveUpAdvertising(_ id: AdvertisingID, _ error: BLEError) {
        advertising.schedule.remove(id)
        advertising.finish(id, .failure(error))
        reconcileAdvertising()
    }

    /// Takes all advertisements off the air.
    func stopAllAdvertising() {
        advertising.finishAll(.success(.stopped))
        reconcileAdvertising()
    }

    // MARK: What the controller tells

    /// A set has ended by itself.
    func advertisingSetTerminated(_ event: LEAdvertisingSetTerminated) {
        terminated(event.set, event.status, events: event.completedEvents)
    }

    /// The legacy commands' advertising has ended by itself: by a connection, or because its time was over.
    func legacyAdvertisingTerminated(_ status: HCIStatus) {
        guard advertising.family == .legacy, let set = advertising.schedule.connectable else { return }
        terminated(set, status)
    }

    private func terminated(_ set: AdvertisingHandle, _ status: HCIStatus, events: UInt8 = 0) {
        if let ending = advertising.schedule.terminated(set, status, events: events) {
            advertising.finish(ending.id, .success(ending.end))
        }
        reconcileAdvertising()
    }

    /// A link has ended, so what did not go beside it may be tried again.
    func linkMadeRoomForAdvertising() {
        advertising.schedule.retry()
        reconcileAdvertising()
    }

    /// A command of somebody else's passed by on a shared adapter.
    func noteForeignAdvertising(_ command: Span<UInt8>) {
        guard kernel != nil, let ended = ForeignAdvertising.ended(by: command),
            advertising.schedule.interrupted(ended.sets, at: loop.now)
        else { return }
        log.info("another program took our advertising off the air: it is put on again")
        armAdvertising()
    }

    // MARK: Time

    /// Sets the timer for what advertising waits for.
    func armAdvertising() {
        if advertisingTimer == nil {
            advertisingTimer = LoopTimer(on: loop) { [weak self] in
                self?.assumeIsolated { $0.advertisingExpired() }
            }
        }
        advertisingTimer?.set(end == nil ? advertising.schedule.deadline : nil)
    }

    private func advertisingExpired() {
        for ending in advertising.schedule.expire(at: loop.now) {
            advertising.finish(ending.id, .success(ending.end))
        }
        reconcileAdvertising()
        // Nothing may have been there to do. While the controller is brought back, nothing can be done; then all
        // begins anew.
        if !recovery.isUnderWay { armAdvertising() }
    }
}
