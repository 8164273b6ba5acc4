import BLECore
import HCI
import HCISocket
import Logging

/// Executes the synchronizer's commands to the controller.
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
        let id = synchronizer.follow(train, options)
        trains[id] = buffer
        buffer.onEnd { [self] in
            loop.execute { self.assumeIsolated { $0.stopFollowing(id) } }
        }
        reconcileTrains()
    }

    private func stopFollowing(_ id: PeriodicSyncID) {
        guard trains.removeValue(forKey: id) != nil else { return }
        synchronizer.end(id)
        reconcileTrains()
    }

    /// Ends all trains for their consumers.
    func endTrains(_ end: Result<Void, BLEError>) {
        synchronizer.endAll()
        let ended = trains
        trains = [:]
        for (_, buffer) in ended.sorted(by: { $0.key.number < $1.key.number }) { buffer.finish(end) }
    }

    /// Submits the synchronizer's next command, and scans for as long as a search takes: the controller finds trains
    /// only while it scans (Core Specification 5.4, Vol 4, Part E, 7.8.67).
    func reconcileTrains() {
        guard end == nil else { return }
        takeSynchronizerEvents()
        var command: MachineCommand?
        if !recovery.isUnderWay {
            command = synchronizer.nextCommand(isPaused: privacy.isPausing, at: loop.now)
        }
        scanner.search(.train, synchronizer.scan, at: loop.now)
        reconcileScan()
        if let command { submit(command, of: .synchronizer) }
        wake(by: synchronizer.deadline)
    }

    /// Handles the controller's answer to the synchronizer's command, or the lack of one.
    func synchronizerAnswered(_ answer: CommandAnswer) {
        synchronizer.answered(answer, isRecovering: recovery.isUnderWay, at: loop.now)
        reconcileTrains()
    }

    /// Handles the expired time limit of a search, also while the controller is being recovered.
    func expireSynchronizer(at now: Instant) {
        guard let deadline = synchronizer.deadline, deadline <= now else { return }
        synchronizer.expire(at: now)
        reconcileTrains()
    }

    private func takeSynchronizerEvents() {
        while let event = synchronizer.nextEvent() {
            switch event {
            case .ended(let id, let error): trains.removeValue(forKey: id)?.finish(.failure(error))
            case .changed:
                changed()
                reconcilePrivacy()
            case .log(let line): log.info("\(line)")
            }
        }
    }

    func established(_ event: LEPeriodicAdvertisingSyncEstablished) {
        synchronizer.established(event, isShared: kernel != nil)
        reconcileTrains()
    }

    func lost(_ event: LEPeriodicAdvertisingSyncLost) {
        synchronizer.lost(event)
        reconcileTrains()
    }

    func received(_ report: LEPeriodicAdvertisingReport) {
        synchronizer.receive(report, at: loop.now) { id, packet in trains[id]?.yield(packet) }
    }
}
