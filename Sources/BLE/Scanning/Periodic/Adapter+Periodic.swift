import BLECore
import HCI
import HCISocket
import Logging

extension Adapter {
    /// Follows a periodic train; its data go to `buffer`, with which it ends.
    func followTrain(
        _ train: PeriodicState.Train, _ options: PeriodicSyncOptions,
        into buffer: StreamBuffer<PeriodicAdvertisement>
    ) {
        do throws(BLEError) {
            if let refusal { throw refusal }
            try options.check()
            guard capabilities.hasExtendedFamily, capabilities.features.contains(.periodicAdvertising) else {
                throw .adapter(.unsupported(.periodicAdvertising))
            }
            try check(options.scan)
        } catch {
            return buffer.finish(.failure(error))
        }
        periodic.nextID += 1
        let id = periodic.nextID
        buffer.onEnd { [self] in
            loop.execute { self.assumeIsolated { $0.stopFollowing(id) } }
        }
        if let handle = periodic.syncs.first(where: { $0.value.train == train })?.key {
            periodic.syncs[handle]?.consumers[id] = buffer
        } else if let index = periodic.queue.firstIndex(where: {
            // One that nobody wants is being given up.
            $0.train == train && !$0.consumers.isEmpty
        }) {
            periodic.queue[index].consumers[id] = buffer
        } else {
            periodic.queue.append(.init(train: train, options: options, consumers: [id: buffer]))
            advanceSynchronizing()
        }
    }

    /// A consumer has gone; with the last one the train goes as well.
    private func stopFollowing(_ id: UInt64) {
        for handle in periodic.syncs.keys {
            periodic.syncs[handle]?.consumers[id] = nil
            if periodic.syncs[handle]?.consumers.isEmpty == true {
                periodic.syncs[handle] = nil
                terminate(handle)
            }
        }
        guard let index = periodic.queue.firstIndex(where: { $0.consumers[id] != nil }) else { return }
        periodic.queue[index].consumers[id] = nil
        guard periodic.queue[index].consumers.isEmpty else { return }
        if index == 0, periodic.isUnderWay {
            // The outcome comes as an event, and takes it off the queue.
            tell(LEPeriodicAdvertisingCreateSyncCancel())
        } else {
            periodic.queue.remove(at: index)
        }
    }

    private func tell(_ command: some HCICommand) {
        Task(executorPreference: loop) { await self.sendTolerant(command) }
    }

    private func terminate(_ handle: SyncHandle) {
        Task(executorPreference: loop) { await self.endSync(handle) }
    }

    /// Ends the synchronization with a train. While the controller is brought back it cannot be told: it will.
    private func endSync(_ handle: SyncHandle) async {
        do throws(BLEError) {
            _ = try await send(LEPeriodicAdvertisingTerminateSync(sync: handle))
        } catch  where recovery.isUnderWay {
            periodic.leftOver.insert(handle)
        } catch {
            log.debug("\(error)")
        }
    }

    /// Tells the controller to look for the next train, and scans for as long as that takes: it finds trains
    /// by what scanning hears (Core Specification 5.4, Vol 4, Part E, 7.8.67).
    func advanceSynchronizing() {
        guard !periodic.isUnderWay, !recovery.isUnderWay, end == nil else { return }
        guard let first = periodic.queue.first else {
            scanner.search(.train, nil, at: loop.now)
            return reconcileScan()
        }
        periodic.isUnderWay = true
        periodic.ending = nil
        scanner.search(.train, first.options.scan, at: loop.now)
        reconcileScan()
        if let limit = first.options.establishing {
            searching = LoopTimer(on: loop) { [weak self] in self?.assumeIsolated { $0.searchRanOut() } }
            // A reset does not make it longer.
            let deadline = first.deadline ?? loop.now + limit
            periodic.queue[0].deadline = deadline
            searching?.set(deadline)
        }
        Task(executorPreference: loop) { await self.createSync(first) }
    }

    private func createSync(_ sync: PeriodicState.Sync) async {
        // Whether one before was not answered, which the controller may have carried out all the same.
        let mayLook = periodic.isUnanswered
        periodic.isUnanswered = true
        do throws(BLEError) {
            _ = try await send(
                LEPeriodicAdvertisingCreateSync(
                    sid: sync.train.set, advertiser: HCIAddress(sync.train.advertiser),
                    skip: UInt16(sync.options.skip), timeout: Centiseconds(sync.options.timeout)),
                timeLimit: mayLook ? secondLimit : nil)
            periodic.isUnanswered = false
        } catch  where recovery.isUnderWay {
            // What brings the controller back begins this anew.
            return
        } catch .hci(.commandDisallowed, _) where mayLook {
            periodic.isUnanswered = false
        } catch {
            periodic.isUnanswered = false
            endSearch(.failure(error))
        }
    }

    private func searchRanOut() {
        let limit = periodic.queue.first?.options.establishing ?? .zero
        searchFailed(.timedOut(.synchronization, after: limit))
    }

    /// Nothing will be found: the time is over, or the radio cannot scan. The search has not ended before the
    /// controller says so, else the next one would be taken for this one.
    func searchFailed(_ error: BLEError) {
        guard periodic.isUnderWay, periodic.ending == nil else { return }
        periodic.ending = error
        Task(executorPreference: loop) { await self.cancelSearch() }
    }

    /// The outcome comes as an event, unless the controller knows of no search.
    private func cancelSearch() async {
        do throws(BLEError) {
            _ = try await send(LEPeriodicAdvertisingCreateSyncCancel())
        } catch {
            guard !recovery.isUnderWay, periodic.isUnderWay, let ending = periodic.ending else { return }
            endSearch(.failure(ending))
        }
    }

    /// The search for the first train has ended.
    private func endSearch(_ result: Result<SyncHandle, BLEError>) {
        periodic.isUnderWay = false
        searching?.set(nil)
        guard !periodic.queue.isEmpty else { return advanceSynchronizing() }
        let sync = periodic.queue.removeFirst()
        switch result {
        case .success(let handle) where sync.consumers.isEmpty:
            terminate(handle)
        case .success(let handle): periodic.syncs[handle] = sync
        case .failure(let error): sync.finish(.failure(error))
        }
        advanceSynchronizing()
        // What had to wait for the end of the search.
        reconcilePrivacy()
    }

    /// The controller is told to let trains go, of which `PeriodicState.letGo` has told those who listened.
    func endPeriodic(_ handles: [SyncHandle]) async {
        if periodic.isUnderWay { await sendTolerant(LEPeriodicAdvertisingCreateSyncCancel()) }
        for handle in handles { await sendTolerant(LEPeriodicAdvertisingTerminateSync(sync: handle)) }
    }

    /// The controller has forgotten its trains: those that were followed are lost, the others looked for anew.
    func synchronizeAgain() {
        // It belongs to a search that is over, perhaps of a train that nobody wants any more.
        searching?.set(nil)
        periodic.wasReset()
        advanceSynchronizing()
    }

    /// The controller answers again and was not reset: it follows its trains, and may look for one.
    func goOnSynchronizing() {
        let handles = periodic.leftOver
        periodic.leftOver.removeAll()
        Task(executorPreference: loop) {
            for handle in handles { await self.endSync(handle) }
            await self.goOnSearching()
        }
    }

    private func goOnSearching() async {
        guard !recovery.isUnderWay else { return }
        guard periodic.isUnderWay, let first = periodic.queue.first else { return advanceSynchronizing() }
        if first.consumers.isEmpty, periodic.ending == nil { periodic.ending = .cancelled }
        if periodic.ending != nil {
            await cancelSearch()
        } else if periodic.isUnanswered {
            await createSync(first)
        }
    }
}

// MARK: - Events

extension Adapter {
    func established(_ event: LEPeriodicAdvertisingSyncEstablished) {
        // On a shared adapter others look for trains as well.
        guard periodic.isUnderWay, let first = periodic.queue.first else { return }
        let train = event.train
        if event.status == .connectionFailedToBeEstablished, periodic.ending == nil, !first.consumers.isEmpty
        {
            // It was announced, and its first packets were lost on the air: there is time left to try again.
            log.info("\(first.train.advertiser)'s train was not established; trying again")
            Task(executorPreference: loop) { await self.createSync(first) }
            return
        }
        guard event.status == .success else {
            return endSearch(
                .failure(periodic.ending ?? .hci(event.status, command: .lePeriodicAdvertisingCreateSync)))
        }
        guard train.sid == first.train.set, train.advertiser.deviceAddress == first.train.advertiser else {
            return
        }
        endSearch(.success(train.sync))
    }

    func heard(_ report: LEPeriodicAdvertisingReport) {
        guard let whole = periodic.syncs[report.sync]?.assembler.take(report),
            let sync = periodic.syncs[report.sync]
        else { return }
        let packet = PeriodicAdvertisement(
            address: sync.train.advertiser, set: sync.train.set, fields: AdvertisingData(whole.data),
            rssi: report.rssi == 127 ? nil : report.rssi,
            txPower: report.txPower == 127 ? nil : report.txPower,
            isTruncated: whole.isTruncated, received: loop.now)
        for buffer in sync.consumers.values { buffer.yield(packet) }
    }

    func lost(_ event: LEPeriodicAdvertisingSyncLost) {
        periodic.leftOver.remove(event.sync)
        guard let sync = periodic.syncs.removeValue(forKey: event.sync) else { return }
        sync.finish(.failure(.syncLost(sync.train.advertiser, set: sync.train.set)))
    }
}
