import BLECore
import DequeModule
import HCI

/// Names a consumer of a periodic train; never used twice.
struct PeriodicSyncID: Hashable, Sendable {
    let number: UInt64
}

/// The periodic trains that this process follows or looks for, and what the controller is told for them.
///
/// A controller looks for one train at a time (Core Specification 5.4, Vol 4, Part E, 7.8.67), so the others wait. A search
/// that was begun has ended only when the controller says so, in an event; else the outcome of one would be taken for the
/// next. One command is unanswered at a time.
///
/// ```swift
/// let id = synchronizer.follow(train, options)
/// if let command = synchronizer.nextCommand(isPaused: false, at: now) { submit(command) }
/// synchronizer.answered(answer, isRecovering: false)
/// synchronizer.established(event)
/// synchronizer.receive(report, at: now) { id, advertisement in … }
/// while let event = synchronizer.nextEvent() { … }
/// ```
struct PeriodicSynchronizer: Sendable {
    /// Which train.
    struct Train: Hashable, Sendable {
        let advertiser: DeviceAddress
        let set: UInt8
    }

    /// What a synchronizer emits.
    enum Event: Sendable {
        /// The train is not followed, or not looked for, any more.
        case ended(PeriodicSyncID, BLEError)
        /// A search has ended, or a command was answered: what had to wait for that may go on.
        case changed
        /// For the log.
        case log(String)
    }

    /// A train with its consumers.
    private struct Following {
        let train: Train
        let options: PeriodicSyncOptions
        var consumers: [PeriodicSyncID]
        var assembler = PeriodicAssembler()
        /// When the search ends, once it has begun. A reset does not move it.
        var deadline: Instant?
    }

    /// How far the search for the first train of the queue has come.
    private enum Phase {
        /// The controller is to be told.
        case begun
        /// It was told, and has not answered.
        case asked
        /// It looks for the train.
        case looking
        /// It is to be told to give the search up, for this reason; nil: it has no consumer any more.
        case givenUp(BLEError?)
        /// It gives the search up, and the outcome comes as an event.
        case ending(BLEError?)
    }

    private struct Search {
        let number: UInt64
        var phase = Phase.begun
        /// Whether the controller may look for the train already: it was told so, and has not answered.
        var mayBeOn = false
    }

    private enum Command {
        case create(search: UInt64)
        case cancel
        case terminate(SyncHandle)
    }

    /// Trains to look for.
    private var queue = Deque<Following>()
    /// The search for the first of them; nil: none has begun.
    private var search: Search?
    /// Trains that are followed.
    private var syncs: [SyncHandle: Following] = [:]
    /// Trains that the controller follows and that have no consumer.
    private var unwanted = Deque<SyncHandle>()
    private var lastID: UInt64 = 0
    private var lastSearch: UInt64 = 0
    private var events = Deque<Event>()
    /// The command that is not answered.
    private var asking: Command?
    /// Whether the answer to that is of a time before the controller was brought back.
    private var dropsAnswer = false

    /// A synchronizer of a controller that was told nothing yet.
    init() {}
}

// MARK: - What is wanted

extension PeriodicSynchronizer {
    /// Follows a train. The options are those of its first consumer.
    mutating func follow(_ train: Train, _ options: PeriodicSyncOptions) -> PeriodicSyncID {
        lastID += 1
        let id = PeriodicSyncID(number: lastID)
        if let handle = syncs.first(where: { $0.value.train == train })?.key {
            syncs[handle]?.consumers.append(id)
        } else if let index = queue.indices.first(where: { queue[$0].train == train && isLookedFor($0) }) {
            queue[index].consumers.append(id)
        } else {
            queue.append(Following(train: train, options: options, consumers: [id]))
        }
        return id
    }

    /// Ends a consumer; with the last one of a train, the train.
    mutating func end(_ id: PeriodicSyncID) {
        for (handle, sync) in syncs where sync.consumers.contains(id) {
            syncs[handle]?.consumers.removeAll { $0 == id }
            guard sync.consumers.count == 1 else { return }
            syncs[handle] = nil
            unwanted.append(handle)
        }
        guard let index = queue.firstIndex(where: { $0.consumers.contains(id) }) else { return }
        queue[index].consumers.removeAll { $0 == id }
        guard queue[index].consumers.isEmpty else { return }
        if index == 0, search != nil {
            // Another reason stays: the controller is told, or was told, by it.
            if isLookedFor(0) { giveUp(nil) }
        } else {
            queue.remove(at: index)
        }
    }

    /// Ends all consumers, and gives them. The controller is to be told of the trains that it follows or looks for.
    mutating func endAll() -> [PeriodicSyncID] {
        let ids = queue.flatMap(\.consumers) + syncs.values.flatMap(\.consumers)
        unwanted += syncs.keys
        syncs = [:]
        queue.removeLast(queue.count - (search == nil ? 0 : 1))
        if search != nil {
            queue[0].consumers = []
            if isLookedFor(0) { giveUp(nil) }
        }
        return ids
    }

    /// Ends the search that goes on: nothing will be found.
    mutating func fail(_ error: BLEError) {
        if search != nil, isLookedFor(0) { giveUp(error) }
    }

    /// What the radio has to hear so that the train is found that is looked for.
    var scan: ScanOptions? {
        guard let first = queue.first, isLookedFor(0) else { return nil }
        return first.options.scan
    }

    /// Whether the controller looks for a train, or may do so.
    var isSearching: Bool { search != nil }

    /// Whether a train of the queue is looked for, or waits for that; false: its search is given up.
    private func isLookedFor(_ index: Int) -> Bool {
        guard index == 0, let search else { return true }
        return switch search.phase {
        case .begun, .asked, .looking: true
        case .givenUp, .ending: false
        }
    }

    private mutating func giveUp(_ reason: BLEError?) {
        guard let search else { return }
        if case .begun = search.phase, !search.mayBeOn {
            endSearch(.failure(reason ?? .cancelled))
        } else {
            self.search?.phase = .givenUp(reason)
        }
    }

    private mutating func endSearch(_ result: Result<SyncHandle, BLEError>) {
        guard var first = queue.popFirst() else { return }
        events.append(.changed)
        switch result {
        case .success(let handle):
            // It may be wanted again since its first search was given up.
            first.consumers += queue.filter { $0.train == first.train }.flatMap(\.consumers)
            queue.removeAll { $0.train == first.train }
            if first.consumers.isEmpty { unwanted.append(handle) } else { syncs[handle] = first }
        case .failure(let error): events += first.consumers.map { .ended($0, error) }
        }
        if let search, search.mayBeOn, case .create(search.number) = asking {
            // What has ended is what the controller was told before, and it may now begin again: that is given up.
            self.search?.phase = .givenUp(nil)
            queue.prepend(Following(train: first.train, options: first.options, consumers: []))
        } else {
            search = nil
        }
    }
}

// MARK: - Commands

extension PeriodicSynchronizer {
    /// Whether a command is not answered.
    var isAsking: Bool { asking != nil }

    /// Whether the controller is to be told to end something.
    var hasLeftovers: Bool {
        if case .givenUp = search?.phase { return true }
        return !unwanted.isEmpty
    }

    /// The next command, if the one before is answered. `isPaused`: no search may begin.
    mutating func nextCommand(isPaused: Bool, at now: Instant) -> MachineCommand? {
        guard asking == nil else { return nil }
        if let handle = unwanted.first {
            asking = .terminate(handle)
            return MachineCommand(LEPeriodicAdvertisingTerminateSync(sync: handle))
        }
        guard let first = queue.first else { return nil }
        if search == nil {
            guard !isPaused else { return nil }
            lastSearch += 1
            search = Search(number: lastSearch)
            queue[0].deadline = first.deadline ?? first.options.establishing.map { now + $0 }
        }
        switch search?.phase {
        case .begun:
            search?.phase = .asked
            asking = .create(search: lastSearch)
            let command = LEPeriodicAdvertisingCreateSync(
                sid: first.train.set, advertiser: HCIAddress(first.train.advertiser),
                skip: UInt16(clamping: first.options.skip), timeout: Centiseconds(first.options.timeout))
            return MachineCommand(command, isPatient: search?.mayBeOn == true)
        case .givenUp:
            asking = .cancel
            return MachineCommand(LEPeriodicAdvertisingCreateSyncCancel())
        case .asked, .looking, .ending, nil: return nil
        }
    }

    /// Takes what came of the last command. `isRecovering`: the controller is being brought back.
    mutating func answered(_ answer: CommandAnswer, isRecovering: Bool) {
        guard let command = asking.take() else { return }
        defer { events.append(.changed) }
        if dropsAnswer {
            dropsAnswer = false
        } else if answer == .silent, isRecovering {
            wasNotAnswered(command)
        } else {
            switch command {
            case .create(let number): if number == search?.number { created(answer) }
            case .cancel: cancelled(answer)
            case .terminate(let handle):
                unwanted.removeAll { $0 == handle }
                if let error = answer.error(of: .lePeriodicAdvertisingTerminateSync) {
                    events.append(.log("\(error)"))
                }
            }
        }
    }

    private mutating func created(_ answer: CommandAnswer) {
        guard let search else { return }
        let error = answer.error(of: .lePeriodicAdvertisingCreateSync)
        let isOn = error == nil || search.mayBeOn && answer == .refused(.commandDisallowed)
        switch search.phase {
        case .asked where isOn: self.search?.phase = .looking
        // It may look for the train all the same.
        case .asked where answer == .silent: self.search?.phase = .givenUp(error)
        case .asked: endSearch(.failure(error ?? .cancelled))
        // It was given up before it began.
        case .givenUp(let reason) where !isOn && answer != .silent:
            endSearch(.failure(reason ?? .cancelled))
        // The outcome came before the answer, or is still to be given up.
        case .begun, .looking, .givenUp, .ending: break
        }
    }

    /// The outcome comes as an event, unless the controller knows of no search.
    private mutating func cancelled(_ answer: CommandAnswer) {
        guard case .givenUp(let reason) = search?.phase else { return }
        if case .done = answer {
            search?.phase = .ending(reason)
        } else {
            endSearch(.failure(reason ?? .cancelled))
        }
    }
}

// MARK: - Time, and controllers that fail

extension PeriodicSynchronizer {
    /// When the search for a train is over.
    var deadline: Instant? { search != nil && isLookedFor(0) ? queue.first?.deadline : nil }

    /// Acts on the time limit of the search.
    mutating func expire(at now: Instant) {
        guard let deadline, deadline <= now, let limit = queue.first?.options.establishing else { return }
        giveUp(.timedOut(.synchronization, after: limit))
    }

    /// The controller was reset: the trains that were followed are lost, the others are looked for anew.
    mutating func controllerWasReset() {
        for sync in syncs.values {
            let lost = BLEError.syncLost(sync.train.advertiser, set: sync.train.set)
            events += sync.consumers.map { .ended($0, lost) }
        }
        (syncs, unwanted) = ([:], [])
        dropsAnswer = asking != nil
        switch search?.phase {
        case .givenUp(let reason), .ending(let reason): endSearch(.failure(reason ?? .cancelled))
        case .begun, .asked, .looking, nil: search = nil
        }
    }

    /// The controller has failed and was not reset: it follows its trains, and may look for one.
    mutating func controllerIsBack() {
        if let asking, !dropsAnswer {
            dropsAnswer = true
            wasNotAnswered(asking)
        }
        if case .ending(let reason) = search?.phase { search?.phase = .givenUp(reason) }
    }

    /// Nothing is known of what came of a command; it is repeated.
    private mutating func wasNotAnswered(_ command: Command) {
        guard case .create(let number) = command, number == search?.number else { return }
        search?.mayBeOn = true
        if case .asked = search?.phase { search?.phase = .begun }
    }
}

// MARK: - What the controller reports

extension PeriodicSynchronizer {
    /// The next event.
    mutating func nextEvent() -> Event? { events.popFirst() }

    /// A search has an outcome. On a shared controller it may be another program's.
    mutating func established(_ event: LEPeriodicAdvertisingSyncEstablished) {
        guard let search, let first = queue.first else { return }
        if case .begun = search.phase, !search.mayBeOn { return }
        if event.status == .success {
            guard event.train.sid == first.train.set,
                event.train.advertiser.deviceAddress == first.train.advertiser
            else { return }
            return endSearch(.success(event.train.sync))
        }
        switch search.phase {
        case .begun, .asked, .looking:
            guard event.status == .connectionFailedToBeEstablished else {
                let command = HCIOpcode.lePeriodicAdvertisingCreateSync
                return endSearch(.failure(.hci(event.status, command: command)))
            }
            // It was announced, and its first packets were lost on the air: there is time left to try again.
            events.append(.log("\(first.train.advertiser)'s train was not established; trying again"))
            self.search?.phase = .begun
            if asking == nil { self.search?.mayBeOn = false }
        // It may be the outcome of what was told before; the answer to Cancel says whether there is another one.
        case .givenUp where search.mayBeOn && event.status != .operationCancelledByHost: break
        case .givenUp(let reason), .ending(let reason): endSearch(.failure(reason ?? .cancelled))
        }
    }

    /// A train has fallen silent.
    mutating func lost(_ event: LEPeriodicAdvertisingSyncLost) {
        unwanted.removeAll { $0 == event.sync }
        guard let sync = syncs.removeValue(forKey: event.sync) else { return }
        let error = BLEError.syncLost(sync.train.advertiser, set: sync.train.set)
        events += sync.consumers.map { .ended($0, error) }
    }

    /// Takes a report of a train; gives the consumers what it says once it is whole.
    mutating func receive(
        _ report: LEPeriodicAdvertisingReport, at now: Instant,
        tell: (PeriodicSyncID, PeriodicAdvertisement) -> Void
    ) {
        guard let whole = syncs[report.sync]?.assembler.take(report), let sync = syncs[report.sync] else {
            return
        }
        let packet = PeriodicAdvertisement(
            address: sync.train.advertiser, set: sync.train.set, fields: AdvertisingData(whole.data),
            rssi: report.rssi == 127 ? nil : report.rssi,
            txPower: report.txPower == 127 ? nil : report.txPower,
            isTruncated: whole.isTruncated, received: now)
        for id in sync.consumers { tell(id, packet) }
    }
}
