import BLEAdvertising
import BLECore
import DequeModule
import HCI

/// Identifies a consumer of a periodic train; never reused.
package struct PeriodicSyncID: Hashable, Sendable {
    let number: UInt64
}

/// The periodic trains that this process follows or searches for, and the commands that they need.
///
/// A controller searches for one train at a time (Core Specification 5.4, Vol 4, Part E, 7.8.67), so the
/// others wait. A search that the controller has started ends with its event, or when the controller refuses
/// to cancel it; otherwise the outcome of one search would be taken for that of the next. A search without a
/// time limit is interrupted after `turn` when others wait. One command is unanswered at a time.
///
/// ```swift
/// let id = synchronizer.follow(train, options)
/// if let command = synchronizer.nextCommand(isPaused: false, at: now) { submit(command) }
/// synchronizer.answered(answer, isRecovering: false, at: now)
/// synchronizer.established(event)
/// synchronizer.receive(report, at: now) { id, advertisement in print(id, advertisement) }
/// while let event = synchronizer.nextEvent() { handle(event) }
/// ```
package struct PeriodicSynchronizer: Sendable {
    /// A periodic train, identified by its advertiser and its Advertising SID.
    package struct Train: Hashable, Sendable {
        let advertiser: DeviceAddress
        let set: UInt8

        package init(advertiser: DeviceAddress, set: UInt8) {
            (self.advertiser, self.set) = (advertiser, set)
        }
    }

    enum Event: Sendable {
        /// The train is no longer followed, or no longer searched for.
        case ended(PeriodicSyncID, BLEError)
        /// A search has ended, or a command was answered: activities that had to wait for that can continue.
        case changed
        case log(String)
    }

    /// A train and the streams that receive its packets.
    private struct Following {
        let train: Train
        let options: PeriodicSyncOptions
        var consumers: [PeriodicSyncID]
        var assembler = PeriodicAssembler()
        /// The time at which the search ends, once it has begun. A reset does not change it.
        var deadline: Instant?
        /// Whether its search ends because it is the turn of others.
        var isPostponed = false
    }

    /// The progress of the search for the first train of the queue.
    private enum Phase {
        /// The Create Sync command is to be sent.
        case begun
        /// The command was sent and is unanswered.
        case asked
        /// The scan searches for the train.
        case looking
        /// The search is to be cancelled, for this reason; nil if it has no consumer any more.
        case givenUp(BLEError?)
        /// The controller has accepted the cancellation, and has to report the outcome by then.
        case ending(BLEError?, until: Instant)
    }

    private struct Search {
        let number: UInt64
        /// The time at which it is the turn of others.
        let turnEnd: Instant
        var phase = Phase.begun
        /// Whether the controller may already search for the train, because a command was sent and not
        /// answered.
        var mayBeOn = false
    }

    private enum Command {
        case create(search: UInt64)
        case cancel
        case terminate(SyncHandle)

        var opcode: HCIOpcode {
            switch self {
            case .create: .lePeriodicAdvertisingCreateSync
            case .cancel: .lePeriodicAdvertisingCreateSyncCancel
            case .terminate: .lePeriodicAdvertisingTerminateSync
            }
        }
    }

    /// Trains that are not found yet.
    private var queue = Deque<Following>()
    /// The search for the first of them; nil if none has begun.
    private var search: Search?
    /// The number of cancelled searches whose outcome the controller has not reported in time.
    private var stale = 0
    /// Trains that are synchronized.
    private var syncs: [SyncHandle: Following] = [:]
    /// The trains that are synchronized, in the order of their handles.
    private var followed: [SyncHandle] { syncs.keys.sorted { $0.rawValue < $1.rawValue } }
    /// Trains that the controller follows and that have no consumer.
    private var unwanted = Deque<SyncHandle>()
    private var lastID: UInt64 = 0
    private var lastSearch: UInt64 = 0
    private var events = Deque<Event>()
    /// The command that is not answered; nil if all are.
    private var asking: Command?
    /// Whether the answer to that command is from before the controller was recovered.
    private var dropsAnswer = false
    /// The opcodes whose last command was not answered: the next one first waits until that late answer is
    /// given up.
    private var unanswered: Set<HCIOpcode> = []

    /// The duration of a search without a time limit while others wait.
    static let turn = Duration.seconds(20)
    /// The time that the controller has to report the outcome of a cancelled search.
    static let outcomeLimit = Duration.seconds(2)

    /// Creates a synchronizer of a controller that has received no commands yet.
    init() {}
}

// MARK: - Requests

extension PeriodicSynchronizer {
    /// Follows a train. The options are those of its first consumer.
    mutating func follow(_ train: Train, _ options: PeriodicSyncOptions) -> PeriodicSyncID {
        lastID += 1
        let id = PeriodicSyncID(number: lastID)
        if let handle = followed.first(where: { syncs[$0]?.train == train }) {
            syncs[handle]?.consumers.append(id)
        } else if let index = queue.indices.first(where: { queue[$0].train == train && isLookedFor($0) }) {
            queue[index].consumers.append(id)
        } else {
            queue.append(Following(train: train, options: options, consumers: [id]))
        }
        return id
    }

    /// Ends a consumer. The last consumer of a train ends the train, too.
    mutating func end(_ id: PeriodicSyncID) {
        if let handle = followed.first(where: { syncs[$0]?.consumers.contains(id) == true }) {
            syncs[handle]?.consumers.removeAll { $0 == id }
            guard syncs[handle]?.consumers.isEmpty == true else { return }
            syncs[handle] = nil
            unwanted.append(handle)
        }
        guard let index = queue.firstIndex(where: { $0.consumers.contains(id) }) else { return }
        queue[index].consumers.removeAll { $0 == id }
        guard queue[index].consumers.isEmpty else { return }
        if index == 0, search != nil {
            // A search that was given up for another reason keeps that reason.
            if isLookedFor(0) { giveUp(nil) }
        } else {
            queue.remove(at: index)
        }
    }

    /// Ends all consumers. Their trains are then terminated.
    mutating func endAll() {
        unwanted += followed
        syncs = [:]
        queue.removeLast(queue.count - (search == nil ? 0 : 1))
        if search != nil {
            queue[0].consumers = []
            if isLookedFor(0) { giveUp(nil) }
        }
    }

    /// Gives up the search under way with an error, because nothing will be found.
    mutating func fail(_ error: BLEError) {
        if search != nil, isLookedFor(0) { giveUp(error) }
    }

    /// The scan for the train that is searched for; nil when there is none.
    var scan: ScanOptions? {
        search != nil && isLookedFor(0) ? queue.first?.options.scan : nil
    }

    /// Whether the controller searches for a train, or may do so.
    var isSearching: Bool { search != nil }

    /// Returns whether a train of the queue is searched for, or waits for its turn; false when its search is
    /// given up.
    private func isLookedFor(_ index: Int) -> Bool {
        guard index == 0, let search else { return true }
        return switch search.phase {
        case .begun, .asked, .looking: true
        case .givenUp, .ending: false
        }
    }

    private mutating func giveUp(_ reason: BLEError?) {
        switch search?.phase {
        case .begun where search?.mayBeOn == false, nil: endSearch(.failure(reason ?? .cancelled))
        default: search?.phase = .givenUp(reason)
        }
    }

    /// Whether the command that starts the search for the first train is unanswered.
    private var isCreating: Bool {
        if case .create(let number) = asking { number == search?.number } else { false }
    }

    private mutating func endSearch(_ result: Result<SyncHandle, BLEError>) {
        guard var first = queue.popFirst() else { return }
        events.append(.changed)
        switch result {
        case .success(let handle):
            // The train may have new consumers since its first search was given up.
            first.consumers += queue.filter { $0.train == first.train }.flatMap(\.consumers)
            queue.removeAll { $0.train == first.train }
            unwanted.removeAll { $0 == handle }
            if first.consumers.isEmpty { unwanted.append(handle) } else { syncs[handle] = first }
        case .failure where first.isPostponed && !first.consumers.isEmpty:
            first.isPostponed = false
            // Followed again meanwhile: the options are those of its first consumer.
            first.consumers += queue.filter { $0.train == first.train }.flatMap(\.consumers)
            queue.removeAll { $0.train == first.train }
            queue.append(first)
        case .failure(let error): events += first.consumers.map { .ended($0, error) }
        }
        let isCertain = if case .success = result { search?.mayBeOn == false } else { false }
        if isCreating, !isCertain {
            // The outcome may be that of another search than the one just started, which is given up.
            search?.phase = .givenUp(nil)
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

    /// Whether a search or a train is to be ended.
    var hasLeftovers: Bool {
        if case .givenUp = search?.phase { return true }
        return !unwanted.isEmpty
    }

    /// The commands that end at once everything that the controller may do.
    var abandonment: [HCICommandPacket] {
        var commands = (followed + unwanted).map { LEPeriodicAdvertisingTerminateSync(sync: $0).packet }
        switch search?.phase {
        case .begun where search?.mayBeOn == false, .ending, nil: break
        default: commands.append(LEPeriodicAdvertisingCreateSyncCancel().packet)
        }
        return commands
    }

    /// Returns the next command, if the one before is answered. With `isPaused` no search may start.
    mutating func nextCommand(isPaused: Bool, at now: Instant) -> MachineCommand? {
        guard asking == nil else { return nil }
        if let handle = unwanted.first {
            return ask(.terminate(handle), LEPeriodicAdvertisingTerminateSync(sync: handle))
        }
        guard let first = queue.first else { return nil }
        if search == nil {
            guard !isPaused else { return nil }
            lastSearch += 1
            search = Search(number: lastSearch, turnEnd: now + Self.turn)
            queue[0].deadline = first.deadline ?? first.options.establishing.map { now + $0 }
        }
        switch search?.phase {
        case .begun:
            search?.phase = .asked
            return ask(
                .create(search: lastSearch),
                LEPeriodicAdvertisingCreateSync(
                    sid: first.train.set, advertiser: HCIAddress(first.train.advertiser),
                    skip: UInt16(clamping: first.options.skip), timeout: Centiseconds(first.options.timeout)))
        case .givenUp: return ask(.cancel, LEPeriodicAdvertisingCreateSyncCancel())
        case .asked, .looking, .ending, nil: return nil
        }
    }

    private mutating func ask(_ command: Command, _ packet: some HCICommand) -> MachineCommand {
        asking = command
        return MachineCommand(packet, isPatient: unanswered.contains(command.opcode))
    }

    /// Handles the answer to the last command. `isRecovering`: the controller is being recovered.
    mutating func answered(_ answer: CommandAnswer, isRecovering: Bool, at now: Instant) {
        guard let command = asking.take() else { return }
        defer { events.append(.changed) }
        if answer == .silent { unanswered.insert(command.opcode) } else { unanswered.remove(command.opcode) }
        if dropsAnswer {
            dropsAnswer = false
        } else if answer == .silent, isRecovering {
            wasNotAnswered(command)
        } else {
            switch command {
            case .create(let number): if number == search?.number { created(answer) }
            case .cancel: cancelled(answer, at: now)
            case .terminate(let handle):
                // A refusal because there was nothing to terminate is no error.
                unwanted.removeAll { $0 == handle }
                if case .done = answer { lost(handle) }
            }
        }
    }

    private mutating func created(_ answer: CommandAnswer) {
        guard var search else { return }
        let error = answer.error(of: .lePeriodicAdvertisingCreateSync)
        let isOn = error == nil || search.mayBeOn && answer == .refused(.commandDisallowed)
        switch search.phase {
        case .asked where isOn:
            (search.phase, search.mayBeOn) = (.looking, false)
            self.search = search
        // The controller may search for the train despite that.
        case .asked where answer == .silent: self.search?.phase = .givenUp(error)
        case .asked: endSearch(.failure(error ?? .cancelled))
        // The search was given up before it began.
        case .givenUp(let reason) where !isOn && answer != .silent:
            endSearch(.failure(reason ?? .cancelled))
        // The outcome arrived before the answer, or the search is still to be cancelled.
        case .begun, .looking, .givenUp, .ending: break
        }
    }

    /// Handles the answer to the cancellation. The outcome follows as an event, unless the controller has no
    /// search.
    private mutating func cancelled(_ answer: CommandAnswer, at now: Instant) {
        guard case .givenUp(let reason) = search?.phase else { return }
        if case .done = answer {
            search?.phase = .ending(reason, until: now + Self.outcomeLimit)
        } else {
            endSearch(.failure(reason ?? .cancelled))
        }
    }
}

// MARK: - Time, and controllers that fail

extension PeriodicSynchronizer {
    /// The time at which `expire` has to be called.
    var deadline: Instant? {
        switch search?.phase {
        case .ending(_, let limit): limit
        case .givenUp: nil
        case .begun, .asked, .looking, nil: queue.first?.deadline ?? turnEnd
        }
    }

    /// The time at which a search without a time limit makes room for others; nil if no other train waits.
    private var turnEnd: Instant? { queue.count > 1 ? search?.turnEnd : nil }

    /// Ends the search if its time limit or its turn has expired, or if the controller has not reported its
    /// outcome in time.
    mutating func expire(at now: Instant) {
        guard let deadline, deadline <= now else { return }
        if case .ending(let reason, _) = search?.phase {
            events.append(.log("the controller did not report how the search for a train ended"))
            stale += 1
            endSearch(.failure(reason ?? .cancelled))
        } else if let limit = queue.first?.options.establishing {
            giveUp(.timedOut(.synchronization, after: limit))
        } else {
            queue[0].isPostponed = true
            giveUp(nil)
        }
    }

    /// Handles a reset of the controller: the trains that were followed are lost, and the searches for others
    /// start again.
    mutating func controllerWasReset() {
        for sync in followed.compactMap({ syncs[$0] }) {
            let lost = BLEError.syncLost(sync.train.advertiser, set: sync.train.set)
            events += sync.consumers.map { .ended($0, lost) }
        }
        (syncs, unwanted) = ([:], [])
        (dropsAnswer, stale) = (asking != nil, 0)
        switch search.take()?.phase {
        case .givenUp(let reason), .ending(let reason, _): endSearch(.failure(reason ?? .cancelled))
        case .begun, .asked, .looking, nil: break
        }
    }

    /// Handles the recovery of a controller that was not reset: it follows its trains, and may search for
    /// one.
    mutating func controllerIsBack() {
        if let asking, !dropsAnswer {
            dropsAnswer = true
            wasNotAnswered(asking)
        }
        if case .ending(let reason, _) = search?.phase { search?.phase = .givenUp(reason) }
    }

    /// Handles a command whose outcome is not known, and which is repeated.
    private mutating func wasNotAnswered(_ command: Command) {
        guard case .create(let number) = command, number == search?.number else { return }
        search?.mayBeOn = true
        if case .asked = search?.phase { search?.phase = .begun }
    }
}

// MARK: - What the controller reports

extension PeriodicSynchronizer {
    mutating func nextEvent() -> Event? { events.popFirst() }

    /// Handles the outcome of a search.
    mutating func established(_ event: LEPeriodicAdvertisingSyncEstablished) {
        if event.status == .success {
            let wanted = search == nil ? nil : queue.first?.train
            if let wanted, event.train.sid == wanted.set,
                event.train.advertiser.deviceAddress == wanted.advertiser
            {
                endSearch(.success(event.train.sync))
            } else {
                // The search for this train was given up.
                unwanted.append(event.train.sync)
            }
            return
        }
        if stale > 0, event.status == .operationCancelledByHost {
            // The outcome of an earlier search.
            stale -= 1
            return
        }
        guard let search, let first = queue.first else { return }
        if case .begun = search.phase, !search.mayBeOn, !isCreating { return }
        switch search.phase {
        case .begun, .asked, .looking:
            guard event.status == .connectionFailedToBeEstablished else {
                let command = HCIOpcode.lePeriodicAdvertisingCreateSync
                return endSearch(.failure(.hci(event.status, command: command)))
            }
            // The train was announced, and its first packets were lost on the air: there is time left to try
            // again.
            events.append(.log("\(first.train.advertiser)'s train was not established; trying again"))
            self.search?.phase = .begun
            if isCreating || stale > 0 { self.search?.mayBeOn = true }
        // This may be the outcome of an earlier command, or another program's; the answers to Create and to
        // Cancel show whether another one follows.
        case .givenUp where isCreating: break
        case .givenUp where search.mayBeOn && event.status != .operationCancelledByHost: break
        case .givenUp(let reason), .ending(let reason, _): endSearch(.failure(reason ?? .cancelled))
        }
    }

    /// Handles the loss of a train.
    mutating func lost(_ event: LEPeriodicAdvertisingSyncLost) {
        unwanted.removeAll { $0 == event.sync }
        lost(event.sync)
    }

    private mutating func lost(_ handle: SyncHandle) {
        guard let sync = syncs.removeValue(forKey: handle) else { return }
        let error = BLEError.syncLost(sync.train.advertiser, set: sync.train.set)
        events += sync.consumers.map { .ended($0, error) }
    }

    /// Handles a report of a train, and delivers the data to the consumers once they are complete.
    mutating func receive(
        _ report: LEPeriodicAdvertisingReport, at now: Instant,
        deliver: (PeriodicSyncID, PeriodicAdvertisement) -> Void
    ) {
        guard let complete = syncs[report.sync]?.assembler.take(report), let sync = syncs[report.sync] else {
            return
        }
        for whole in complete {
            let packet = PeriodicAdvertisement(
                address: sync.train.advertiser, set: sync.train.set, fields: AdvertisingData(whole.data),
                rssi: report.rssi == 127 ? nil : report.rssi,
                txPower: report.txPower == 127 ? nil : report.txPower,
                isTruncated: whole.isTruncated, received: now)
            for id in sync.consumers { deliver(id, packet) }
        }
    }
}

/// Assembles the reports of one event of a periodic train. Bounded: data beyond the maximum length are
/// truncated and marked. A report that repeats the octets of the first one shows that the end of the data was
/// lost: the data so far are returned, marked as truncated, and the report starts the next ones.
struct PeriodicAssembler {
    private var begun: [UInt8] = []
    /// The number of octets in the first report.
    private var firstCount: Int?
    private var isTruncated = false

    /// Adds a report. Returns the data once they are complete or will never be, and whether their end is
    /// missing.
    mutating func take(_ report: LEPeriodicAdvertisingReport) -> [(data: [UInt8], isTruncated: Bool)] {
        if report.data.count == firstCount, begun.starts(with: report.data) {
            let lost = begun
            self = PeriodicAssembler()
            return [(lost, true)] + take(report)
        }
        firstCount = firstCount ?? report.data.count
        let room = ReportAssembler.octetLimit - begun.count
        begun += report.data.prefix(room)
        if report.data.count > room { isTruncated = true }
        guard report.dataStatus != .moreToCome else { return [] }
        defer { self = PeriodicAssembler() }
        return [(begun, isTruncated || report.dataStatus == .truncated)]
    }
}
