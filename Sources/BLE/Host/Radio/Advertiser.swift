import BLECore
import DequeModule
import HCI

/// The advertisements of this process, and the commands for them. Each advertisement has a set of the
/// controller for as long as it is due: while it is requested and, when centrals can connect, while a link is
/// free.
///
/// The decisions depend on what the controller has reported: the known state of a set changes only with an
/// answer, with an event of the controller, or with other programs' commands to a shared controller. At most
/// one command of the advertiser is unanswered at a time.
///
/// ```swift
/// let id = try advertiser.advertise(request, maximumLinks: 1, under: conditions)
/// if let command = advertiser.nextCommand(under: conditions) { submit(command) }
/// if let set = advertiser.wantedSet { advertiser.claimed(set, isOurs: claim(set)) }
/// advertiser.answered(answer, under: conditions)
/// while let event = advertiser.nextEvent() { handle(event) }
/// // Run `expire` at `deadline`.
/// ```
package struct Advertiser: Sendable {
    /// The state of the rest of the host as far as it concerns advertising.
    struct Conditions {
        var controller = ControllerCapabilities()
        /// Whether other processes use the controller as well.
        var isShared = false
        /// Whether the radio has to be silent.
        var isPaused = false
        /// Whether the controller is being recovered, after which everything unanswered is started again.
        var isRecovering = false
        /// The type of address that the packets carry.
        var ownAddressType = OwnAddressType.public
        /// The random address to set for a set; nil when it is the controller's own.
        var addressOnAir: DeviceAddress?
        /// The number of connected centrals.
        var centrals = 0
        /// The number of links of either role.
        var links = 0
        var now = Instant.zero
    }

    package enum Event: Sendable {
        /// The first packets are on air, or will be when a link is free.
        case started(AdvertisingID)
        /// The controller has chosen this transmit power, in dBm.
        case power(AdvertisingID, Int8)
        /// A change is on air, or will be when a link is free; or the change was refused.
        case updated(AdvertisingUpdateID, Result<Void, BLEError>)
        /// The advertisement has ended, for this reason or with this error.
        case ended(AdvertisingID, Result<AdvertisingEnd, BLEError>)
        /// An advertisement that is no longer requested is off the air.
        case offAir(AdvertisingID)
        /// A change of the radio has ended.
        case changed
        case log(String)
        /// For the log: an advertisement that is requested is not on air.
        case warning(String)
    }

    /// An advertisement that a caller has started, whether on air or not.
    private struct Entry {
        let id: AdvertisingID
        var request: AdvertisingRequest
        let maximumLinks: Int
        /// The number of changes of the request.
        var revision = 0
        /// The changes that are not on air yet, each with the revision that it made.
        var updates: [(id: AdvertisingUpdateID, revision: Int)] = []
        /// The request that was last on air, with its revision and the limits that remained.
        var shown: (request: AdvertisingRequest, revision: Int, end: Instant?, eventsLeft: UInt8?)?
        /// Whether it has been on air.
        var hasBegun: Bool { shown != nil }
        /// Whether its start is still to be reported: it has not been on air, and could be at once.
        var isAwaited = true
        /// When its time limit passes, once it has begun.
        var end: Instant?
        /// The number of advertising events that remain, if they are limited.
        var eventsLeft: UInt8?
        /// The transmit power that the controller has chosen.
        var power: Int8?
        /// The number of refusals by the controller in a row, and the time of the next attempt.
        var refusals = 0
        var retry: Instant?
        /// The number of times in a row that its set was missing.
        var losses = 0

        /// Returns whether it should be on air while that many centrals are connected.
        func isDue(beside centrals: Int) -> Bool {
            retry == nil && (!request.isConnectable || centrals < maximumLinks)
        }

        /// Returns `request` as it is sent with the chosen transmit power.
        func sent(_ request: AdvertisingRequest) -> AdvertisingRequest { request.sent(with: power) }
    }

    /// A set of the controller that this host uses; the legacy commands have a single one.
    private struct Slot {
        /// The state of the set on the radio.
        enum Air {
            case off
            /// The command to enable the set is unanswered.
            case starting
            case on
            /// The outcome of a command to begin, change or end is not known.
            case doubtful

            /// Whether the set may be on air, so that its end can be reported.
            var isPossible: Bool { self != .off }
        }

        let owner: AdvertisingID
        /// The request that the set is configured to send.
        var request: AdvertisingRequest
        var revision: Int
        var air = Air.off
        /// Whether the controller itself ends the set at its time limit.
        var endsItself = false
        /// Until when the set is not enabled, because others took it off the air.
        var hold: Instant?
        /// Until when nothing is sent for the set, which the controller did not disable; its missing answers in a row.
        var silence: Instant?
        var silences = 0
        /// Whether `silence` follows a refusal to disable the set; a change or stop does not end it then.
        var hasRefused = false
        /// Whether the controller may have the set.
        var isConfigured = false
        /// Whether the set is completely configured.
        var isReady = false
        /// Whether the set may have a periodic train of this host.
        var mayHaveTrain = false
        /// Whether the set is to be removed even if its advertisement is still requested.
        var isLeaving = false

        /// Whether a device may connect through the set now.
        var isConnectable: Bool { request.isConnectable && air.isPossible }
    }

    /// A step of a change: one command, or several.
    private enum Step {
        case disable
        case endTrain
        case remove(isLast: Bool)
        case setParameters
        case readPower
        case setAddress(DeviceAddress)
        case setTrainParameters(PeriodicAdvertisingTrain)
        /// All of the data; replaced by commands when it is reached, because they depend on the power that
        /// the controller chooses.
        case setData
        case command(MachineCommand)
        case startTrain
        case enable

        /// Whether the command may fail, as it does when there was nothing to do.
        var isTolerant: Bool {
            switch self {
            case .disable, .endTrain, .remove, .readPower: true
            default: false
            }
        }
    }

    private struct Change {
        enum Kind {
            /// Puts the request of the set on air.
            case begin
            /// Replaces the data of a set that is on air.
            case replace(AdvertisingRequest, revision: Int)
            /// Takes the set off the air, and leaves its configuration as it is.
            case pause
            /// Takes the set off the air and removes it.
            case end
        }

        let set: AdvertisingHandle
        let kind: Kind
        var steps: Deque<Step>
    }

    private var entries: [Entry] = []
    private var lastID: UInt64 = 0
    private var lastUpdate: UInt64 = 0
    private var events = Deque<Event>()

    // The radio.
    private var family = CommandFamily.legacy
    /// The maximum number of advertisements at a time.
    private var setCount = 1
    /// The sets that can be used, in the order in which they are chosen.
    private var handles: [AdvertisingHandle] = []
    private var slots: [AdvertisingHandle: Slot] = [:]
    private var change: Change?
    /// The command of `change` that is unanswered.
    private var asked: (step: Step, command: MachineCommand)?
    /// Whether the answer to `asked` dates from before the controller was recovered.
    private var dropsAnswer = false
    /// Whether the command family has to be chosen again: before the first advertisement, and after a Reset,
    /// which makes the controller forget the family that was used.
    private var choosesFamily = true

    // Other processes.
    /// The sets that other processes use.
    private var foreign: Set<AdvertisingHandle> = []
    /// The set of a shared controller that the next command requires. The owner claims it for this process, and passes
    /// the outcome to `claimed`.
    private(set) var wantedSet: AdvertisingHandle?
    /// The set that was claimed just now.
    private var claimedSet: AdvertisingHandle?
    /// The times at which others took sets off the air, to limit how often that is undone.
    private var interruptions: [Instant] = []

    /// How long the host waits after others' commands before it enables again the sets that they disabled.
    static let settlingTime = Duration.milliseconds(250)
    /// The maximum number of interruptions per minute; after more, a set stays off the air until the first of
    /// them is a minute old.
    static let interruptionLimit = 30
    /// How long after a set's time limit the controller may still report its end.
    static let grace = Duration.seconds(1)
    /// The maximum number of losses of a set in a row; after more, its advertisement fails.
    static let lossLimit = 5
    /// The maximum number of retries of a refused advertisement while there is no link that could be the
    /// reason.
    static let refusalLimit = 6

    /// Creates an advertiser of a controller that has received no command yet.
    init() {}
}

// MARK: - Requests

extension Advertiser {
    /// Adds an advertisement, which is due while fewer than `maximumLinks` centrals are connected.
    ///
    /// - Throws: an error when the controller does not support the request; `BLEError.limit` when all its
    ///   sets are in use.
    mutating func advertise(
        _ request: AdvertisingRequest, maximumLinks: Int, under conditions: Conditions
    ) throws(BLEError) -> AdvertisingID {
        try request.check(for: conditions.controller)
        if entries.isEmpty { choosesFamily = true }
        chooseFamily(under: conditions)
        try checkFamily(of: request)
        guard !isFull(under: conditions) else {
            throw .limit(.advertisements, maximum: setCount, value: entries.count + 1)
        }
        foreign = []
        lastID += 1
        let id = AdvertisingID(number: lastID)
        entries.append(
            Entry(
                id: id, request: request, maximumLinks: maximumLinks, eventsLeft: request.maximumEvents))
        return id
    }

    /// Returns whether one more advertisement would be refused because all sets are in use.
    mutating func isFull(under conditions: Conditions) -> Bool {
        chooseFamily(under: conditions)
        return entries.count >= setCount
    }

    /// Changes the request of an advertisement. A time limit that differs counts from now on.
    ///
    /// - Throws: an error when the controller does not support the request; `BLEError.invalidRequest` when
    ///   the advertisement has ended.
    mutating func update(
        _ id: AdvertisingID, to request: AdvertisingRequest, under conditions: Conditions
    ) throws(BLEError) -> AdvertisingUpdateID {
        try request.check(for: conditions.controller)
        try checkFamily(of: request)
        guard let index = index(of: id) else { throw .invalidRequest(.advertisementEnded) }
        let (old, revision) = (entries[index].request, entries[index].revision)
        if entries[index].shown?.revision == revision {
            entries[index].shown = (old, revision, entries[index].end, entries[index].eventsLeft)
        }
        entries[index].request = request
        entries[index].revision += 1
        entries[index].retry = nil
        askAgain(of: id)
        if request.timeLimit != old.timeLimit, entries[index].hasBegun {
            entries[index].end = request.timeLimit.map { conditions.now + $0 }
        }
        if request.maximumEvents != old.maximumEvents { entries[index].eventsLeft = request.maximumEvents }
        lastUpdate += 1
        let update = AdvertisingUpdateID(advertisement: id, number: lastUpdate)
        entries[index].updates.append((update, entries[index].revision))
        return update
    }

    /// Ends an advertisement. `offAir` reports that it is off the air, also if it has ended before.
    mutating func stop(_ id: AdvertisingID) {
        finish(id, .success(.stopped))
        askAgain(of: id)
        if !slots.values.contains(where: { $0.owner == id }) { events.append(.offAir(id)) }
    }

    /// Ends an advertisement whose caller no longer waits for its start.
    mutating func giveUp(_ id: AdvertisingID) { finish(id, .failure(.cancelled)) }

    /// Ends all advertisements with this result.
    mutating func endAll(_ end: Result<AdvertisingEnd, BLEError>) {
        for entry in entries { finish(entry.id, end) }
        for handle in handles { slots[handle]?.silence = nil }
    }

    /// Lets the commands for an advertisement be sent at once, also to a controller that did not answer
    /// before.
    private mutating func askAgain(of id: AdvertisingID) {
        for handle in handles where slots[handle]?.owner == id && slots[handle]?.hasRefused == false {
            slots[handle]?.silence = nil
        }
    }

    /// Chooses the command family as soon as no set is in use.
    private mutating func chooseFamily(under conditions: Conditions) {
        guard choosesFamily, slots.isEmpty else { return }
        choosesFamily = false
        use(conditions.controller.hasExtendedFamily ? .extended : .legacy, under: conditions)
    }

    /// Throws when `request` needs the extended commands and only the legacy ones are used, for example
    /// because another program has used those on the controller.
    private func checkFamily(of request: AdvertisingRequest) throws(BLEError) {
        guard family == .legacy else { return }
        if request.isExtended {
            throw .hci(.commandDisallowed, command: .leSetExtendedAdvertisingParameters)
        }
        if request.maximumEvents != nil { throw .adapter(.unsupported(.advertisingEventCount)) }
    }

    /// Chooses the command family and with it the sets; no set may be in use. The kernel numbers its own sets
    /// from 1 upwards, so this host's are numbered from the last one, 0xef, downwards.
    private mutating func use(_ family: CommandFamily, under conditions: Conditions) {
        let isExtended = family == .extended
        self.family = family
        // Beside other processes, the free handles may not be the last ones. The first handles are left to
        // the kernel.
        let limit = conditions.isShared ? 0x40 : 0xf0
        setCount = isExtended ? min(max(conditions.controller.numberOfAdvertisingSets, 1), limit) : 1
        let choice = isExtended && conditions.isShared ? limit : setCount
        handles = (0..<UInt8(choice)).map { AdvertisingHandle(rawValue: 0xef - $0) }
        foreign = []
    }

    private func index(of id: AdvertisingID) -> Int? { entries.firstIndex { $0.id == id } }

    /// Removes an advertisement and reports its end.
    private mutating func finish(_ id: AdvertisingID, _ end: Result<AdvertisingEnd, BLEError>) {
        guard let index = index(of: id) else { return }
        foreign = []
        let ended = Result<Void, BLEError>.failure(.invalidRequest(.advertisementEnded))
        settle(index, upTo: entries[index].revision, end.flatMap { _ in ended })
        entries.remove(at: index)
        events.append(.ended(id, end))
    }

    private mutating func fail(_ id: AdvertisingID, _ error: BLEError) {
        events.append(.log("cannot advertise: \(error)"))
        finish(id, .failure(error))
    }
}

// MARK: - The radio

extension Advertiser {
    /// Whether a change of the radio is under way.
    var isChanging: Bool { change != nil }
    /// Whether no set of this host is on air, may be on air, or is about to be.
    var isQuiet: Bool { change == nil && !slots.values.contains(where: \.air.isPossible) }
    /// Whether a device may connect to this one now.
    var isConnectable: Bool { slots.values.contains(where: \.isConnectable) }
    /// The sets that this host uses.
    var sets: some Collection<AdvertisingHandle> { slots.keys }

    /// The commands that disable at once every set of this host that may be on air.
    var abandonment: [HCICommandPacket] {
        handles.filter { slots[$0]?.air.isPossible == true }.map { Self.disable($0, family).packet }
    }

    /// Handles a reset of the controller, which removes all sets.
    mutating func controllerWasReset() {
        giveUpChange()
        for handle in handles where slots[handle] != nil { removed(handle) }
        choosesFamily = true
    }

    /// Handles the recovery of a controller that was not reset: its sets may still be on air.
    mutating func controllerIsBack() {
        giveUpChange()
        for handle in handles { doubt(handle) }
    }

    /// Clears all waiting times and drops the current change, which dates from before the recovery.
    private mutating func giveUpChange() {
        for handle in handles {
            slots[handle]?.hold = nil
            slots[handle]?.silence = nil
            slots[handle]?.silences = 0
            slots[handle]?.hasRefused = false
        }
        retry()
        (wantedSet, claimedSet) = (nil, nil)
        guard change != nil else { return }
        if asked != nil {
            dropsAnswer = true
        } else {
            endChange()
        }
    }

    private mutating func doubt(_ handle: AdvertisingHandle) {
        if slots[handle]?.air != .off || slots[handle]?.mayHaveTrain == true {
            slots[handle]?.air = .doubtful
        }
    }

    /// Returns the next command, if the previous one is answered and the radio is not in the requested state. If
    /// `wantedSet` is set afterwards, the next command requires that set.
    mutating func nextCommand(under conditions: Conditions) -> MachineCommand? {
        guard asked == nil else { return nil }
        wantedSet = nil
        defer { claimedSet = nil }
        chooseFamily(under: conditions)
        if isInVain(conditions) { endChange() }
        while true {
            if change == nil { begin(under: conditions) }
            guard let change else {
                if wantedSet == nil { settleWaits(under: conditions) }
                return nil
            }
            guard let step = change.steps.first else {
                ended(change, at: conditions.now)
                continue
            }
            guard let command = command(step, on: change.set, under: conditions) else { continue }
            asked = (step, command)
            sending(step, on: change.set)
            return command
        }
    }

    /// Handles the outcome of the claim on `wantedSet`: false when another process uses the set.
    mutating func claimed(_ set: AdvertisingHandle, isOurs: Bool) {
        if isOurs { claimedSet = set } else { foreign.insert(set) }
    }

    /// Returns whether the current change is no longer needed, so that the rest of its commands can be
    /// omitted.
    private func isInVain(_ conditions: Conditions) -> Bool {
        guard let change, let owner = slots[change.set]?.owner else { return false }
        switch change.kind {
        case .pause, .end: return false
        case .begin, .replace:
            guard let index = index(of: owner) else { return true }
            return conditions.isPaused || !entries[index].isDue(beside: conditions.centrals)
        }
    }

    /// Records what a command changes as soon as it is sent.
    private mutating func sending(_ step: Step, on set: AdvertisingHandle) {
        slots[set]?.isConfigured = true
        switch step {
        // From now on the controller may report the end of the set.
        case .enable:
            slots[set]?.air = .starting
            slots[set]?.isReady = true
        case .startTrain: slots[set]?.mayHaveTrain = true
        default: break
        }
    }

    /// Handles the answer to the last command.
    mutating func answered(_ answer: CommandAnswer, under conditions: Conditions) {
        guard let (step, command) = asked, var change else { return }
        asked = nil
        if dropsAnswer {
            dropsAnswer = false
            return endChange()
        }
        _ = change.steps.popFirst()
        self.change = change
        let set = change.set
        switch (step, answer) {
        case (_, .silent): silent(change, command, under: conditions)
        case (.remove(isLast: false), .refused(.commandDisallowed))
        where conditions.controller.features.contains(.periodicAdvertising):
            // A set that another process left behind on a shared controller may have a periodic train.
            change.steps.prepend(contentsOf: [.endTrain, .remove(isLast: true)])
            self.change = change
        case (.disable, .refused(let status))
        where status != .unknownAdvertisingIdentifier && slots[set]?.air == .on:
            // The set may be on: the command is repeated once the silence is over.
            doubt(set)
            slots[set]?.silence = conditions.now + .seconds(1)
            slots[set]?.hasRefused = true
            endChange()
        case (.disable, _):
            // The set is off, whether or not it was on before.
            slots[set]?.air = .off
            slots[set]?.hasRefused = false
        case (.remove, _):
            slots[set]?.silences = 0
            slots[set]?.isConfigured = false
            slots[set]?.mayHaveTrain = false
        case (.setParameters, .done(let octets)):
            receivePower(octets.first.map(Int8.init(bitPattern:)), of: set)
        case (.readPower, .done(let octets)): receivePower(octets.first.map(Int8.init(bitPattern:)), of: set)
        case (.enable, .done): began(set, at: conditions.now)
        case (_, .done): break
        case (_, .refused), (_, .malformed):
            guard !step.isTolerant else { break }
            endChange()
            refused(change, command.error(answer), under: conditions)
        }
    }

    /// Records that the set is on air, unless its end was reported meanwhile.
    private mutating func began(_ set: AdvertisingHandle, at now: Instant) {
        guard let slot = slots[set] else { return }
        slots[set]?.silences = 0
        if slot.air == .starting { slots[set]?.air = .on }
        guard let index = index(of: slot.owner) else { return }
        settle(index, upTo: slot.revision, .success(()))
        (entries[index].losses, entries[index].refusals) = (0, 0)
        if entries[index].end == nil {
            entries[index].end = entries[index].request.timeLimit.map { now + $0 }
        }
        if entries[index].isAwaited { reportStart(index) }
        entries[index].shown = (slot.request, slot.revision, entries[index].end, entries[index].eventsLeft)
    }

    private mutating func receivePower(_ power: Int8?, of set: AdvertisingHandle) {
        // Some controllers return the value that means that the host has no preference.
        guard let power, (-127...20).contains(power), let index = slots[set].flatMap({ index(of: $0.owner) })
        else { return }
        entries[index].power = power
        events.append(.power(entries[index].id, power))
    }

    /// Records the result of a change whose commands are all answered.
    private mutating func ended(_ change: Change, at now: Instant) {
        endChange()
        switch change.kind {
        case .begin, .pause: break
        case .end: removed(change.set)
        case .replace(let request, let revision):
            slots[change.set]?.request = request
            slots[change.set]?.revision = revision
            if let index = slots[change.set].flatMap({ index(of: $0.owner) }) {
                settle(index, upTo: revision, .success(()))
                entries[index].shown = (request, revision, entries[index].end, entries[index].eventsLeft)
            }
        }
    }

    private mutating func endChange() {
        change = nil
        events.append(.changed)
    }

    /// Records that the controller does not have this set any more.
    private mutating func removed(_ handle: AdvertisingHandle) {
        guard let slot = slots.removeValue(forKey: handle) else { return }
        if index(of: slot.owner) == nil { events.append(.offAir(slot.owner)) }
    }

    /// Ends the waits for starts and changes that cannot be on air now, because the advertisement first needs a
    /// free link or waits for another attempt after a refusal.
    private mutating func settleWaits(under conditions: Conditions) {
        guard !conditions.isPaused else { return }
        for index in entries.indices where !entries[index].isDue(beside: conditions.centrals) {
            settle(index, upTo: entries[index].revision, .success(()))
            guard entries[index].isAwaited else { continue }
            reportStart(index)
            let limit = entries[index].maximumLinks
            events.append(.log("an advertisement waits until fewer than \(limit) centrals are connected"))
        }
    }

    private mutating func reportStart(_ index: Int) {
        entries[index].isAwaited = false
        events.append(.started(entries[index].id))
    }

    /// Reports the outcome of the changes up to `revision`.
    private mutating func settle(_ index: Int, upTo revision: Int, _ result: Result<Void, BLEError>) {
        let count = entries[index].updates.count { $0.revision <= revision }
        for update in entries[index].updates.prefix(count) { events.append(.updated(update.id, result)) }
        entries[index].updates.removeFirst(count)
    }
}

// MARK: - Decisions

extension Advertiser {
    /// Compares the radio with the requested state, and begins a change if they differ.
    private mutating func begin(under conditions: Conditions) {
        pass(to: conditions.now)
        // Sets that are to be removed make room first.
        for handle in handles {
            guard let slot = slots[handle], slot.silence == nil,
                slot.isLeaving || !keepsItsSet(slot, conditions)
            else { continue }
            end(handle)
            if change != nil { return }
        }
        if conditions.isPaused {
            let isMeant = { (slot: Slot) in slot.air.isPossible && slot.silence == nil }
            guard let handle = handles.first(where: { slots[$0].map(isMeant) ?? false }) else { return }
            change = Change(set: handle, kind: .pause, steps: [.disable])
            return
        }
        for entry in entries where entry.isDue(beside: conditions.centrals) {
            put(entry, under: conditions)
            if change != nil || wantedSet != nil { return }
        }
    }

    /// Returns whether a set is left as it is: its advertisement is due, or advertising is paused.
    private func keepsItsSet(_ slot: Slot, _ conditions: Conditions) -> Bool {
        guard let index = index(of: slot.owner) else { return false }
        return conditions.isPaused || entries[index].isDue(beside: conditions.centrals)
    }

    private mutating func end(_ handle: AdvertisingHandle) {
        guard let slot = slots[handle] else { return }
        // The advertiser of the legacy commands may be another program's when this host has not enabled it.
        let isNothing = family == .legacy ? !slot.air.isPossible : !slot.isConfigured
        if isNothing { return removed(handle) }
        var steps: Deque<Step> = [.disable]
        if family == .extended { steps += removal(of: slot) }
        change = Change(set: handle, kind: .end, steps: steps)
    }

    private func removal(of slot: Slot) -> [Step] {
        slot.mayHaveTrain ? [.endTrain, .remove(isLast: false)] : [.remove(isLast: false)]
    }

    /// Begins to put an advertisement on air as it is requested, if it is not on air like that.
    private mutating func put(_ entry: Entry, under conditions: Conditions) {
        guard let set = handles.first(where: { slots[$0]?.owner == entry.id }), let slot = slots[set] else {
            guard let free = handles.first(where: { slots[$0] == nil && !foreign.contains($0) }) else {
                return lacksASet(entry.id, under: conditions)
            }
            // There is no claim on the single advertiser of the legacy commands.
            guard family == .legacy || !conditions.isShared || claimedSet == free else {
                wantedSet = free
                return
            }
            slots[free] = Slot(owner: entry.id, request: entry.request, revision: entry.revision)
            return start(entry, on: free, under: conditions)
        }
        guard slot.hold == nil, slot.silence == nil, !slot.isLeaving else { return }
        switch slot.air {
        case .on where slot.revision == entry.revision, .starting: break
        case .on where slot.request.becomesInPlace(entry.request):
            let steps = pieces(of: entry.sent(entry.request), over: entry.sent(slot.request), on: set)
            change = Change(
                set: set, kind: .replace(entry.request, revision: entry.revision),
                steps: Deque(steps.map { .command($0) }))
        case .on, .doubtful, .off: start(entry, on: set, under: conditions)
        }
    }

    /// Handles the lack of a set for an advertisement: other processes use the sets, or a set that is to be
    /// removed still exists.
    private mutating func lacksASet(_ id: AdvertisingID, under conditions: Conditions) {
        let leaving = slots.values.filter { $0.isLeaving || index(of: $0.owner) == nil }
        if leaving.isEmpty {
            let sets = slots.count
            failedToBegin(
                id, .limit(.freeAdvertisingSets, maximum: sets, value: sets + 1), under: conditions)
        } else if leaving.allSatisfy({ $0.silences > 1 }) {
            let command: HCIOpcode =
                family == .legacy ? .leSetAdvertisingEnable : .leSetExtendedAdvertisingEnable
            failedToBegin(id, .controllerSilent(command: command), under: conditions)
        }
    }

    /// Begins an advertisement on a set, which may already be configured for it in part, or with another
    /// request.
    private mutating func start(_ entry: Entry, on set: AdvertisingHandle, under conditions: Conditions) {
        guard let slot = slots[set] else { return }
        let isSame = slot.revision == entry.revision
        // The periodic train continues while the set that announces it is off the air.
        let goesOn = slot.air == .off && isSame && slot.isReady && entry.request.periodic != nil
        change = Change(
            set: set, kind: .begin,
            steps: goesOn ? Deque(address(conditions) + [.enable]) : steps(of: entry, over: slot, conditions))
        slots[set]?.request = entry.request
        slots[set]?.revision = entry.revision
        slots[set]?.isReady = false
    }

    private func address(_ conditions: Conditions) -> [Step] {
        conditions.addressOnAir.map { [.setAddress($0)] } ?? []
    }

    private func steps(of entry: Entry, over slot: Slot, _ conditions: Conditions) -> Deque<Step> {
        let request = entry.request
        var steps = Deque<Step>()
        switch family {
        case .legacy:
            // On a shared controller, advertising that this host has not enabled may be another program's.
            if slot.air.isPossible || !conditions.isShared { steps.append(.disable) }
            steps.append(.setParameters)
            if conditions.controller.commands.contains(.leReadAdvertisingPhysicalChannelTxPower) {
                steps.append(.readPower)
            }
            steps.append(.setData)
        case .extended:
            // Data for the old parameters could prevent the new ones, and a shared controller may have a set
            // that another process left behind. Disabling the set first keeps scanners from finding a train
            // that is about to end.
            if slot.isConfigured || conditions.isShared { steps += [.disable] + removal(of: slot) }
            steps.append(.setParameters)
            steps += address(conditions)
            if let train = request.periodic { steps.append(.setTrainParameters(train)) }
            steps.append(.setData)
            if request.periodic != nil { steps.append(.startTrain) }
        }
        steps.append(.enable)
        return steps
    }
}

// MARK: - Commands

extension Advertiser {
    /// Returns the command of a step; nil when other steps replace it, or when the advertisement has ended,
    /// so that the remaining steps are dropped.
    private mutating func command(
        _ step: Step, on set: AdvertisingHandle, under conditions: Conditions
    ) -> MachineCommand? {
        switch step {
        case .disable: return Self.disable(set, family)
        case .endTrain: return MachineCommand(LESetPeriodicAdvertisingEnable(enable: [], set: set))
        case .remove: return MachineCommand(LERemoveAdvertisingSet(set: set))
        case .readPower: return MachineCommand(LEReadAdvertisingPhysicalChannelTxPower())
        case .setAddress(let address):
            return MachineCommand(LESetAdvertisingSetRandomAddress(set: set, address: address))
        case .setTrainParameters(let train): return MachineCommand(train.parameters(set))
        case .startTrain: return MachineCommand(LESetPeriodicAdvertisingEnable(enable: .on, set: set))
        case .command(let command): return command
        case .setParameters, .setData, .enable: break
        }
        guard let slot = slots[set], let index = index(of: slot.owner) else {
            change?.steps = []
            return nil
        }
        switch step {
        case .setParameters: return parameters(of: slot.request, on: set, conditions.ownAddressType)
        case .enable: return enable(entries[index], on: set, at: conditions.now)
        default:
            change?.steps.removeFirst()
            let pieces = pieces(of: entries[index].sent(slot.request), on: set)
            change?.steps.prepend(contentsOf: pieces.map { .command($0) })
            return nil
        }
    }

    private static func disable(_ set: AdvertisingHandle, _ family: CommandFamily) -> MachineCommand {
        switch family {
        case .legacy: MachineCommand(LESetAdvertisingEnable(enable: false), isPatient: true)
        case .extended:
            MachineCommand(
                LESetExtendedAdvertisingEnable(enable: false, sets: [.init(set: set)]), isPatient: true)
        }
    }

    private func parameters(
        of request: AdvertisingRequest, on set: AdvertisingHandle, _ ownAddressType: OwnAddressType
    ) -> MachineCommand {
        switch family {
        case .legacy: MachineCommand(request.legacyParameters(ownAddressType))
        case .extended: MachineCommand(request.extendedParameters(set, ownAddressType))
        }
    }

    private mutating func enable(
        _ entry: Entry, on set: AdvertisingHandle, at now: Instant
    ) -> MachineCommand {
        let isBrief = entry.request.direction?.dutyCycle == .high
        slots[set]?.endsItself = isBrief
        guard family == .extended else { return MachineCommand(LESetAdvertisingEnable(enable: true)) }
        let left = entry.end.map(now.duration(until:)) ?? entry.request.timeLimit
        // The maximum is 0xffff steps of 10 ms (Core Specification 5.4, Vol 4, Part E, 7.8.56).
        let limited = left.flatMap { $0 <= .milliseconds(655_350) ? $0 : nil }
        slots[set]?.endsItself = limited != nil || isBrief
        return MachineCommand(
            LESetExtendedAdvertisingEnable(
                enable: true,
                sets: [
                    .init(
                        set: set, duration: Centiseconds(limiting: limited), maxEvents: entry.eventsLeft ?? 0)
                ]))
    }

    /// Returns the commands that set the data, or only the data that differ from those of `old`, which is on
    /// air.
    private func pieces(
        of request: AdvertisingRequest, over old: AdvertisingRequest? = nil, on set: AdvertisingHandle
    ) -> [MachineCommand] {
        var (data, scanResponse) = request.payloads
        if let old {
            if data == old.payloads.data { data = nil }
            if scanResponse == old.payloads.scanResponse { scanResponse = nil }
        }
        switch family {
        case .legacy:
            // `AdvertisingRequest.check` has refused data that do not fit.
            return [
                data.flatMap { try? LegacyAdvertisingData($0) }.map {
                    MachineCommand(LESetAdvertisingData(data: $0))
                },
                scanResponse.flatMap { try? LegacyAdvertisingData($0) }.map {
                    MachineCommand(LESetScanResponseData(data: $0))
                },
            ].compactMap(\.self)
        case .extended:
            var commands: [MachineCommand] = []
            for fragment in data.map({ AdvertisingDataFragment.fragments(of: $0, for: set) }) ?? [] {
                commands.append(MachineCommand(LESetExtendedAdvertisingData(fragment: fragment)))
            }
            for fragment in scanResponse.map({ AdvertisingDataFragment.fragments(of: $0, for: set) }) ?? [] {
                commands.append(MachineCommand(LESetExtendedScanResponseData(fragment: fragment)))
            }
            guard let train = request.periodic?.data, train != old?.periodic?.data else { return commands }
            return commands
                + PeriodicAdvertisingDataFragment.fragments(of: train, for: set).map {
                    MachineCommand(LESetPeriodicAdvertisingData(fragment: $0))
                }
        }
    }
}

// MARK: - Refusals

extension Advertiser {
    /// Handles a change that the controller refuses.
    private mutating func refused(_ change: Change, _ refusal: BLEError, under conditions: Conditions) {
        let set = change.set
        guard let slot = slots[set], let index = index(of: slot.owner) else { return }
        let id = slot.owner
        let asked = if case .replace(let request, _) = change.kind { request } else { slot.request }
        let error = asked.explaining(refusal)
        if case .hci(.unknownAdvertisingIdentifier, _) = refusal {
            // Another program has removed the set: the advertisement starts again.
            slots[set] = nil
            entries[index].losses += 1
            if entries[index].losses > Self.lossLimit { fail(id, error) }
            return
        }
        if case .replace(_, let revision) = change.kind {
            // The previous request is restored. A part of the new data may be on the controller now.
            slots[set]?.air = .doubtful
            return takeBack(index, revision, error)
        }
        // The effect of a command with a malformed answer is unknown.
        let isRefused = if case .hci = refusal { true } else { false }
        if slot.air == .starting { slots[set]?.air = isRefused ? .off : .doubtful }
        if let shown = entries[index].shown, shown.revision != slot.revision {
            return takeBack(index, slot.revision, error)
        }
        slots[set]?.isLeaving = true
        // A request that was changed meanwhile is tried in its new form.
        guard slot.revision == entries[index].revision else { return }
        if case .hci(.commandDisallowed, .leSetExtendedAdvertisingParameters) = refusal,
            !slot.request.isExtended,
            slots.count == 1, !entries.contains(where: \.hasBegun)
        {
            return fallBack(under: conditions)
        }
        failedToBegin(id, error, under: conditions)
    }

    /// Restores the request that was on air before a change that was refused.
    private mutating func takeBack(
        _ index: Int, _ revision: Int, _ error: BLEError
    ) {
        settle(index, upTo: revision, .failure(error))
        // A later change has its own answer.
        guard entries[index].revision == revision, let shown = entries[index].shown else { return }
        events.append(.warning("the change is refused, what was on air before goes on: \(error)"))
        entries[index].request = shown.request
        (entries[index].end, entries[index].eventsLeft) = (shown.end, shown.eventsLeft)
        entries[index].revision += 1
        entries[index].shown?.revision = revision + 1
    }

    /// Switches to the legacy commands, because another program used them before, which only a reset makes
    /// the controller forget. Advertisements that need the extended commands fail.
    private mutating func fallBack(under conditions: Conditions) {
        events.append(.log("the controller takes the legacy advertising commands only"))
        slots = [:]
        use(.legacy, under: conditions)
        var isTaken = false
        for entry in entries {
            do throws(BLEError) {
                try checkFamily(of: entry.request)
                guard !isTaken else {
                    throw .limit(.advertisements, maximum: 1, value: entries.count)
                }
                isTaken = true
            } catch {
                fail(entry.id, error)
            }
        }
    }

    /// Schedules another attempt for an advertisement that the controller does not put on air, or ends it
    /// with `error`.
    private mutating func failedToBegin(_ id: AdvertisingID, _ error: BLEError, under conditions: Conditions)
    {
        guard let index = index(of: id) else { return }
        guard mayBeTriedAgain(entries[index], error, conditions) else {
            return fail(id, named(error, conditions))
        }
        entries[index].retry = conditions.now + .seconds(1 << min(entries[index].refusals, 5))
        entries[index].refusals += 1
        events.append(
            .warning(
                "not advertising for now\(conditions.links > 0 ? ", beside \(conditions.links) links" : ""): "
                    + "\(error)"))
    }

    /// Returns whether an advertisement is tried again. One whose start was reported is retried after 1, 2, 4 …
    /// 32 s, and when a link ends: some controllers cannot advertise beside a link.
    private func mayBeTriedAgain(_ entry: Entry, _ error: BLEError, _ conditions: Conditions) -> Bool {
        guard !entry.isAwaited, conditions.links > 0 || entry.refusals < Self.refusalLimit else {
            return false
        }
        switch error {
        case .hci, .limit: return true
        default: return false
        }
    }

    private func named(_ error: BLEError, _ conditions: Conditions) -> BLEError {
        switch error {
        case .hci(.memoryCapacityExceeded, .leSetExtendedAdvertisingParameters),
            .hci(.limitReached, .leSetExtendedAdvertisingParameters):
            let sets = max(slots.count - 1, 0)
            return .limit(.freeAdvertisingSets, maximum: sets, value: sets + 1)
        case .hci(.commandDisallowed, .leSetAdvertisingParameters) where conditions.isShared:
            return .adapter(.inUse(.advertising))
        default: return error
        }
    }

    /// Handles a command that was not answered, so that its effect is unknown.
    private mutating func silent(
        _ change: Change, _ command: MachineCommand, under conditions: Conditions
    ) {
        let set = change.set
        doubt(set)
        endChange()
        // The recovery of the controller starts all of this again.
        if conditions.isRecovering { return }
        guard let slot = slots[set] else { return }
        slots[set]?.silence = conditions.now + .seconds(1 << min(slot.silences, 5))
        slots[set]?.silences += 1
        slots[set]?.hasRefused = false
        let error = BLEError.controllerSilent(command: command.packet.opcode)
        guard let index = index(of: slot.owner) else {
            if slot.air.isPossible {
                events.append(.warning("an advertisement that was stopped may be on air: \(error)"))
            }
            return events.append(.offAir(slot.owner))
        }
        switch change.kind {
        case .pause, .end: break
        case .replace(_, let revision): takeBack(index, revision, error)
        case .begin:
            if let shown = entries[index].shown, shown.revision != slot.revision {
                takeBack(index, slot.revision, error)
            } else if !entries[index].hasBegun {
                fail(slot.owner, error)
            }
        }
    }
}

// MARK: - What the controller and others report, and time

extension Advertiser {
    /// Handles the end of a set by the controller. If a limit of its request was reached, the advertisement
    /// has ended as well.
    mutating func terminated(_ handle: AdvertisingHandle, _ status: HCIStatus, events: UInt8 = 0) {
        guard let slot = slots[handle], slot.air.isPossible else { return }
        slots[handle]?.air = .off
        guard let index = index(of: slot.owner) else { return }
        let entry = entries[index]
        switch status {
        // A change that was not sent yet may have a different limit.
        case .advertisingTimeout
        where entry.request.timeLimit != nil && entry.request.timeLimit == slot.request.timeLimit:
            finish(entry.id, .success(.timeLimit))
        case .limitReached
        where entry.eventsLeft != nil && entry.request.maximumEvents == slot.request.maximumEvents:
            finish(entry.id, .success(.eventLimit))
        case .advertisingTimeout, .limitReached: break
        default:
            if let left = entry.eventsLeft { entries[index].eventsLeft = left > events ? left - events : 1 }
        }
    }

    /// Handles the end of the legacy commands' advertising by the controller: by a connection, or at its time limit.
    mutating func legacyTerminated(_ status: HCIStatus) {
        guard family == .legacy, let set = handles.first(where: { slots[$0]?.isConnectable == true })
        else { return }
        terminated(set, status)
    }

    /// Handles the end of a link: advertisements that were refused are tried again.
    mutating func linkEnded() { retry() }

    private mutating func retry() {
        for index in entries.indices { entries[index].retry = nil }
    }

    /// Handles a command of another program that a shared controller has carried out. Sets that it takes off
    /// the air are enabled again when no further such command follows within `settlingTime`.
    ///
    /// During a recovery these commands are the kernel's own, and all sets are started again afterwards.
    mutating func foreignCommand(_ command: Span<UInt8>, isRecovering: Bool, at now: Instant) {
        guard !isRecovering, let ended = ForeignAdvertising.ended(by: command, under: family) else { return }
        let named = handles.filter { slots[$0] != nil && ended.sets?.contains($0) ?? true }
        for handle in named where slots[handle]?.air == .off {
            if let hold = slots[handle]?.hold { slots[handle]?.hold = max(hold, now + Self.settlingTime) }
        }
        let hit = named.filter { slots[$0]?.air == .on }
        guard !hit.isEmpty else { return }
        events.append(.log("another program took our advertising off the air: it is put on again"))
        interruptions.removeAll { $0 + .seconds(60) <= now }
        interruptions.append(now)
        var hold = now + Self.settlingTime
        if interruptions.count > Self.interruptionLimit, let first = interruptions.first {
            hold = first + .seconds(60)
        }
        for handle in hit {
            slots[handle]?.air = .off
            slots[handle]?.hold = hold
        }
    }

    /// The time at which `expire` has to run, if nothing happens before.
    var deadline: Instant? {
        let ofSets = slots.values.reduce(nil) { earlier($0, earlier($1.hold, $1.silence)) }
        return entries.reduce(ofSets) { earlier($0, earlier($1.retry, endByHost(of: $1))) }
    }

    private mutating func pass(to now: Instant) {
        for handle in handles {
            if let silence = slots[handle]?.silence, silence <= now { slots[handle]?.silence = nil }
            if let hold = slots[handle]?.hold, hold <= now { slots[handle]?.hold = nil }
        }
        for index in entries.indices {
            if let retry = entries[index].retry, retry <= now {
                entries[index].retry = nil
                foreign = []
            }
        }
    }

    /// Ends the advertisements whose time limit has passed.
    mutating func expire(at now: Instant) {
        pass(to: now)
        for entry in entries where endByHost(of: entry).map({ $0 <= now }) ?? false {
            finish(entry.id, .success(.timeLimit))
        }
    }

    /// Returns when the host ends an advertisement: at its time limit, or after the grace time when the
    /// controller should end it.
    private func endByHost(of entry: Entry) -> Instant? {
        guard let end = entry.end else { return nil }
        let endsItself = slots.values.contains {
            $0.owner == entry.id && $0.endsItself && $0.air == .on
        }
        return endsItself ? end + Self.grace : end
    }

    mutating func nextEvent() -> Event? { events.popFirst() }
}

extension Centiseconds {
    /// Creates the time after which a controller ends a set by itself: zero for never, otherwise at least one
    /// step.
    fileprivate init(limiting duration: Duration?) {
        let steps = Centiseconds(duration ?? .zero)
        self.init(rawValue: duration == nil ? 0 : max(steps.rawValue, 1))
    }
}
