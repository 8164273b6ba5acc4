import BLECore
import DequeModule
import HCI

/// Identifies a scan of an adapter; never reused.
package struct ScanID: Hashable, Sendable {
    let number: UInt64
}

/// The scans of this process, and the commands that they need: the radio does the union of what they require.
///
/// The scanner decides by the controller's answers: its state of the radio changes only with an answer, or
/// with a command that other programs send to a shared controller. One command of its own is unanswered at a
/// time.
///
/// ```swift
/// let id = scanner.scan(options, at: now)
/// if let command = scanner.nextCommand(under: conditions, &acceptList) { submit(command) }
/// scanner.answered(answer, under: conditions, &acceptList)
/// while let event = scanner.nextEvent() { handle(event) }
/// let isReport = try scanner.receive(packet, at: now) {
///     hiddenPeer(of: $0)
/// } deliver: { id, advertisement in
///     print(id, advertisement)
/// }
/// ```
struct Scanner: Sendable {
    /// The state of the host on which scans depend.
    struct Conditions {
        /// The conditions that determine how far the requirements of scans can be met.
        var limits = ScanConditions()
        /// Whether other programs use the controller as well.
        var isShared = false
        /// Whether something needs the radio to be silent.
        var isPaused = false
        /// Whether the controller is connecting, which some cannot do beside a scan.
        var isInitiating = false
        /// The type of the address that scan requests carry.
        var ownAddressType = OwnAddressType.public
        /// The random address to set before a scan; the kernel sets it only when it needs it itself.
        var randomAddress: DeviceAddress?
        var now = Instant.zero
    }

    /// A search of the host's own, which has no stream of advertisements.
    enum Search: Hashable, Sendable {
        /// The search for a periodic train.
        case train
        /// The search for peers whose addresses only the host knows.
        case peers
    }

    enum Event: Sendable {
        /// The controller refuses to scan as this scan requires.
        case ended(ScanID, BLEError)
        case searchEnded(Search, BLEError)
        /// The controller does not scan while it connects.
        case disallowedBesideConnecting
        /// A change of the radio has ended.
        case changed
        case note(AdapterHealthEvent)
        case log(String)
    }

    /// The state of the controller's scanner.
    private enum Radio: Hashable {
        case off
        /// The controller scans with these parameters.
        case on(ScanParameters)
        /// It is not known whether the controller scans with these parameters.
        case doubtful(ScanParameters)
        /// A scan of another program runs, whose reports are used and which must not be ended.
        case joined
    }

    private enum Step {
        /// Ends a scan that another program, or this host, has left on.
        case takeOver(CommandFamily)
        case setAddress(DeviceAddress)
        case clearAcceptList
        case accept(DeviceAddress)
        case setParameters(OwnAddressType)
        case enable
        case disable

        var isOfAcceptList: Bool {
            switch self {
            case .clearAcceptList, .accept: true
            default: false
            }
        }
    }

    private struct Change {
        /// The parameters of the scan that begins or ends.
        let parameters: ScanParameters
        var steps: Deque<Step>
        /// The scans that the change begins.
        var demands: [Demand] = []
        /// Whether this is the second try, after Command Disallowed.
        var isSecondTry = false

        var hasMoreDevices: Bool { steps.contains(where: \.isOfAcceptList) }
    }

    /// The reason why the next start ends a scan first.
    private enum Takeover {
        /// This host's own scan was not ended, or is to be restarted.
        case own
        /// Other programs have switched scanning, or scan for less than is required.
        case others
        /// The controller answered Command Disallowed.
        case disallowed
    }

    /// The reason why the machine makes no changes.
    private enum Stall: Hashable {
        /// A command was not answered, or refused for now, when these parameters were required.
        case failed(ScanParameters?)
        /// Other programs are starting and stopping scans.
        case others
    }

    /// A scan or a search that needs the radio.
    private enum Demand: Hashable {
        case scan(ScanID)
        case search(Search)
    }

    private struct Consumer: Sendable {
        let id: ScanID
        var filter: ScanFilter
    }

    private var consumers: [Consumer] = []
    private var searches: [Search: ScanOptions] = [:]
    /// The demands with which the controller has started to scan.
    private var accepted: Set<Demand> = []
    private var lastID: UInt64 = 0
    private var events = Deque<Event>()

    // The radio.
    private var radio = Radio.off
    private var change: Change?
    /// Whether a command of `change` is unanswered.
    private var isAsking = false
    /// Whether the answer to that command is from before the controller was recovered.
    private var dropsAnswer = false
    private var stall: Stall?
    private var takeover: Takeover?
    /// The time at which a failed change is retried: a scan that ran is started, or one that no consumer
    /// needs is ended, because its end was not answered.
    private var retryAt: Instant?
    private var silences = 0
    /// The number of refusals of a scan since it last ran.
    private var postponements = 0

    // Reports.
    private var devices: DeviceTable
    /// The assembler of extended advertising that arrives in several reports.
    private var chains = ReportAssembler()
    private var watchdog = ScanWatchdog()

    // Other programs.
    private var foreign = ForeignScan()
    /// The time at which to check what other programs have left of the scan.
    private var settleAt: Instant?
    /// The times at which the scan was taken back from other programs.
    private var restarts: [Instant] = []
    /// The time until which the scan is left to other programs, as reported.
    private var leftUntil: Instant?
    /// Whether the limits of a joined scan were reported.
    private var hasReportedLack = false

    /// The time that other programs need to switch scanning: they send off, parameters, on.
    static let settlingTime = Duration.milliseconds(250)
    /// The maximum number of times a minute that the scan is taken back from other programs.
    static let restartLimit = 30

    /// Creates a scanner of a controller that has received no commands yet; `limit` is the maximum number of
    /// devices that it remembers.
    init(remembering limit: Int = DeviceTable.limit) { devices = DeviceTable(limit: limit) }
}

// MARK: - Requests

extension Scanner {
    mutating func scan(_ options: ScanOptions, at now: Instant) -> ScanID {
        lastID += 1
        let id = ScanID(number: lastID)
        consumers.append(Consumer(id: id, filter: ScanFilter(options, remembering: devices.limit)))
        demandsChanged(at: now)
        return id
    }

    mutating func end(_ id: ScanID, at now: Instant) {
        guard let index = consumers.firstIndex(where: { $0.id == id }) else { return }
        consumers.remove(at: index)
        accepted.remove(.scan(id))
        demandsChanged(at: now)
    }

    /// Ends all scans and searches, and returns the scans.
    mutating func endAll(at now: Instant) -> [ScanID] {
        defer {
            consumers = []
            searches = [:]
            accepted = []
            demandsChanged(at: now)
        }
        return consumers.map(\.id)
    }

    /// Starts or changes a search of the host's own; nil ends it.
    mutating func search(_ search: Search, _ options: ScanOptions?, at now: Instant) {
        guard searches[search] != options else { return }
        searches[search] = options
        accepted.remove(.search(search))
        demandsChanged(at: now)
    }

    /// Whether there is a scan or a search.
    var isWanted: Bool { !consumers.isEmpty || !searches.isEmpty }

    private mutating func demandsChanged(at now: Instant) {
        if case .failed? = stall { (stall, retryAt) = (nil, nil) }
        watchdog.watch(isWanted, at: now)
        guard !isWanted else { return }
        (settleAt, stall, leftUntil, hasReportedLack) = (nil, nil, nil, false)
        if takeover != .own { takeover = nil }
    }

    /// All scans and searches, in a stable order.
    private var demands: [(demand: Demand, options: ScanOptions)] {
        var all: [(demand: Demand, options: ScanOptions)] = []
        if let options = searches[.train] { all.append((.search(.train), options)) }
        all += consumers.map { (.scan($0.id), $0.filter.options) }
        if let options = searches[.peers] { all.append((.search(.peers), options)) }
        return all
    }

    private func wanted(under conditions: Conditions, _ acceptList: AcceptList) -> ScanParameters? {
        guard !conditions.isPaused else { return nil }
        var limits = conditions.limits
        limits.acceptList = conditions.isShared ? nil : acceptList
        return ScanParameters(demands.map(\.options), under: limits)
    }
}

// MARK: - The radio

extension Scanner {
    /// Whether a change of the radio is under way.
    var isChanging: Bool { change != nil }
    /// Whether the controller may be filtering a scan of this host by the accept list, or the list is being
    /// changed for one.
    var usesAcceptList: Bool {
        if change?.parameters.acceptList != nil { return true }
        return switch radio {
        case .on(let parameters), .doubtful(let parameters): parameters.acceptList != nil
        case .off, .joined: false
        }
    }
    /// Whether the radio does not scan for this host, and is not about to.
    var isQuiet: Bool { radio == .off && change == nil }

    /// The command that ends at once a scan of this host that may be on.
    var abandonment: HCICommandPacket? {
        if let change { return Self.enable(false, change.parameters.family).packet }
        return switch radio {
        case .on(let parameters), .doubtful(let parameters): Self.enable(false, parameters.family).packet
        case .off, .joined: nil
        }
    }

    /// Handles a reset of the controller, which does not scan any more.
    mutating func controllerWasReset() {
        giveUpChange()
        radio = .off
    }

    /// Handles the recovery of a controller that was not reset: the scan that was started last may be on or
    /// off.
    mutating func controllerIsBack() {
        let begun = change?.parameters
        giveUpChange()
        switch (radio, begun) {
        case (_, let parameters?), (.on(let parameters), nil): radio = .doubtful(parameters)
        case (.joined, nil): radio = .off
        case (.off, nil), (.doubtful, nil): break
        }
    }

    /// Gives up a change that was started before the controller was recovered.
    private mutating func giveUpChange() {
        (stall, settleAt, retryAt, silences, postponements) = (nil, nil, nil, 0, 0)
        guard change != nil else { return }
        if isAsking {
            dropsAnswer = true
        } else {
            change = nil
            events.append(.changed)
        }
    }

    /// Returns the next command, if the one before is answered and the radio is not in the required state.
    mutating func nextCommand(
        under conditions: Conditions, _ acceptList: inout AcceptList
    ) -> MachineCommand? {
        guard !isAsking else { return nil }
        if change == nil { begin(under: conditions, &acceptList) }
        guard let change, let step = change.steps.first else { return nil }
        isAsking = true
        return command(step, change.parameters)
    }

    /// Handles the answer to the last command.
    mutating func answered(
        _ answer: CommandAnswer, under conditions: Conditions, _ acceptList: inout AcceptList
    ) {
        guard isAsking, var change, let step = change.steps.popFirst() else { return }
        isAsking = false
        if answer != .silent { silences = 0 }
        self.change = change
        if dropsAnswer {
            dropsAnswer = false
            return endChange(at: conditions.now)
        }
        switch (step, answer) {
        // A refusal because there was nothing to do is no error.
        case (.setAddress, .done), (.setAddress, .refused), (.setAddress, .malformed): break
        case (.takeOver, .refused), (.takeOver, .malformed): break
        case (.takeOver, .done): if settleAt == nil { foreign.wasEnded() }
        case (.accept, .done) where !change.hasMoreDevices:
            acceptList.settle(change.parameters.acceptList ?? [])
        case (.enable, .done):
            radio = .on(change.parameters)
            postponements = 0
            accepted.formUnion(change.demands)
            endChange(at: conditions.now)
        case (.disable, .done):
            radio = .off
            if settleAt == nil { foreign.wasEnded() }
            endChange(at: conditions.now)
        case (_, .done): break
        case (_, .silent):
            // The recovery of the controller retries this. If links postpone it, that can take long, and the
            // watchdog retries only what is required.
            radio = .doubtful(change.parameters)
            let wanted = wanted(under: conditions, acceptList)
            stall = .failed(wanted)
            retryAt = wanted == nil ? conditions.now + .seconds(1 << min(silences, 5)) : nil
            silences += 1
            endChange(at: conditions.now)
        case (_, .refused(let status)):
            refused(
                step, of: change, .hci(status, command: opcode(step, change)), under: conditions, &acceptList)
            endChange(at: conditions.now)
        case (_, .malformed(let problem)):
            let error = BLEError.controllerMisbehaved(command: opcode(step, change), problem)
            refused(step, of: change, error, under: conditions, &acceptList)
            endChange(at: conditions.now)
        }
    }

    private func opcode(_ step: Step, _ change: Change) -> HCIOpcode {
        command(step, change.parameters).packet.opcode
    }

    private mutating func refused(
        _ step: Step, of change: Change, _ error: BLEError, under conditions: Conditions,
        _ acceptList: inout AcceptList
    ) {
        switch step {
        case .takeOver, .setAddress: break
        case .disable:
            events.append(.log("the scan is not ended: \(error)"))
            (radio, takeover) = (.off, .own)
        case .clearAcceptList, .accept:
            events.append(.log("scanning without the accept list: \(error)"))
            acceptList.capacity = 0
        case .setParameters, .enable:
            if case .hci(.commandDisallowed, _) = error, conditions.isShared {
                shared(change, error, under: conditions, acceptList)
            } else if case .hci(.commandDisallowed, _) = error, conditions.isInitiating {
                events.append(.disallowedBesideConnecting)
            } else {
                refuse(change, error, under: conditions, acceptList)
            }
        }
    }

    /// Compares the state of the radio with the required one, and starts to change it.
    private mutating func begin(under conditions: Conditions, _ acceptList: inout AcceptList) {
        let wanted = wanted(under: conditions, acceptList)
        switch stall {
        case .others?, .failed(wanted)?: return
        // The change may be possible now.
        case .failed?, nil: stall = nil
        }
        switch (radio, wanted) {
        case (.off, nil): break
        case (.on(let now), let wanted?) where now == wanted: break
        case (.joined, nil): radio = .off
        // While other programs are switching, the state of the scan is not known.
        case (.joined, .some) where settleAt != nil: break
        case (.joined, let wanted?) where foreign.receives(wanted): reportLack()
        case (.joined, let wanted?):
            (radio, takeover) = (.off, .others)
            start(wanted, under: conditions, &acceptList)
        case (.on(let now), _), (.doubtful(let now), _):
            radio = .doubtful(now)
            change = Change(parameters: now, steps: [.disable])
        case (.off, let wanted?): start(wanted, under: conditions, &acceptList)
        }
    }

    private mutating func start(
        _ wanted: ScanParameters, under conditions: Conditions, _ acceptList: inout AcceptList
    ) {
        // Incomplete reports of the scan before are never completed.
        chains = ReportAssembler()
        var steps = Deque<Step>()
        let takeover = takeover.take()
        if takeover != nil { steps.append(.takeOver(wanted.family)) }
        if let address = conditions.randomAddress { steps.append(.setAddress(address)) }
        if let devices = wanted.acceptList {
            let changes = acceptList.begin(devices)
            if changes.clears { steps.append(.clearAcceptList) }
            steps += changes.additions.map { .accept($0) }
            if steps.allSatisfy({ !$0.isOfAcceptList }) { acceptList.settle(devices) }
        }
        steps += [.setParameters(conditions.ownAddressType), .enable]
        change = Change(
            parameters: wanted, steps: steps, demands: demands.map(\.demand),
            isSecondTry: takeover == .disallowed)
    }

    private mutating func endChange(at now: Instant) {
        change = nil
        // It is not known whether other programs' commands or these came last: the scan is checked when they
        // have finished.
        if let due = settleAt { settleAt = max(due, now + Self.settlingTime) }
        events.append(.changed)
    }

    private func command(_ step: Step, _ wanted: ScanParameters) -> MachineCommand {
        switch step {
        case .takeOver(let family): Self.enable(false, family)
        case .setAddress(let address): MachineCommand(LESetRandomAddress(address: address))
        case .clearAcceptList: MachineCommand(LEClearFilterAcceptList())
        case .accept(let device): MachineCommand(LEAddDeviceToFilterAcceptList(device: HCIAddress(device)))
        case .setParameters(let ownAddressType): parameters(wanted, ownAddressType)
        case .enable: Self.enable(true, wanted.family)
        case .disable: Self.enable(false, wanted.family)
        }
    }

    /// Returns the command that starts or stops scanning. The controller does not filter duplicates: its
    /// filter takes all legacy packets of an address for one (Core Specification 5.4, Vol 6, Part B, 4.4.3.5),
    /// so that a beacon beside a connectable service, or a scan response, would be missing.
    private static func enable(_ isOn: Bool, _ family: CommandFamily) -> MachineCommand {
        switch family {
        case .legacy: MachineCommand(LESetScanEnable(enable: HCIFlag(isOn)), isPatient: !isOn)
        case .extended: MachineCommand(LESetExtendedScanEnable(enable: HCIFlag(isOn)), isPatient: !isOn)
        }
    }

    private func parameters(_ wanted: ScanParameters, _ ownAddressType: OwnAddressType) -> MachineCommand {
        let policy: ScanFilterPolicy = wanted.acceptList == nil ? [] : .acceptListOnly
        let type: ScanType = wanted.isActive ? .active : .passive
        switch wanted.family {
        case .legacy:
            let timing = wanted.oneMegabit ?? .lowLatency
            return MachineCommand(
                LESetScanParameters(
                    type: type, interval: Slots(timing.interval), window: Slots(timing.window),
                    ownAddressType: ownAddressType, filterPolicy: policy))
        case .extended:
            return MachineCommand(
                LESetExtendedScanParameters(
                    ownAddressType: ownAddressType, filterPolicy: policy,
                    phys: PerPHY(
                        le1M: wanted.oneMegabit.map { .init(type, $0) },
                        leCoded: wanted.coded.map { .init(type, $0) })))
        }
    }

    /// Handles a refusal of the controller to scan: the scans that required these parameters end, as far as
    /// they can be determined. Those that ran before wait if the reason can pass, such as a connection
    /// attempt by the kernel.
    private mutating func refuse(
        _ change: Change, _ error: BLEError, under conditions: Conditions, _ acceptList: AcceptList
    ) {
        var refused = change.demands
        if case .hci(let status, _) = error {
            refused = possibleCauses(among: change.demands)
            if status.mayPass, !refused.isEmpty, accepted.isSuperset(of: refused) {
                let wait = Duration.seconds(1 << min(postponements, 5))
                postponements += 1
                stall = .failed(wanted(under: conditions, acceptList))
                retryAt = conditions.now + wait
                return events.append(.note(.scanPostponed(status, for: wait)))
            }
        }
        for demand in refused {
            accepted.remove(demand)
            switch demand {
            case .scan(let id):
                consumers.removeAll { $0.id == id }
                events.append(.ended(id, error))
            case .search(let search):
                searches[search] = nil
                events.append(.searchEnded(search, error))
            }
        }
    }

    /// Returns the demands that may have caused the refusal: of those that were added since the last scan,
    /// the ones that require more than a preset on LE 1M, else all of them; if none were added, those of all
    /// demands that require more than a preset, else all.
    private func possibleCauses(among demands: [Demand]) -> [Demand] {
        let all = self.demands.filter { demands.contains($0.demand) }
        let new = all.filter { !accepted.contains($0.demand) }
        let choices = [new.filter(\.options.isSpecial), new, all.filter(\.options.isSpecial), all]
        return choices.first { !$0.isEmpty }?.map(\.demand) ?? []
    }
}

extension HCIStatus {
    /// Whether the controller may accept later what it refuses now with this status.
    fileprivate var mayPass: Bool {
        switch self {
        case .commandDisallowed, .controllerBusy, .memoryCapacityExceeded: true
        default: false
        }
    }
}

// MARK: - Other programs on a shared controller

extension Scanner {
    /// Handles a command of another program on a shared controller. When it switches scanning, what is left
    /// of a scan is checked as soon as the other programs have finished. While the controller is being
    /// recovered, such commands are the kernel's own, and scans are restarted afterwards.
    mutating func foreignCommand(_ command: Span<UInt8>, isRecovering: Bool, at now: Instant) {
        guard foreign.note(command), isWanted, !isRecovering else { return }
        settleAt = now + Self.settlingTime
    }

    /// Handles another scan that runs on a shared controller. Joins it if it is known to receive what this
    /// one would; else ends it and starts this one, once.
    private mutating func shared(
        _ change: Change, _ error: BLEError, under conditions: Conditions, _ acceptList: AcceptList
    ) {
        if settleAt != nil {
            // Other programs are switching it at this moment: what they leave is checked when they have
            // finished.
            stall = .others
        } else if foreign.receives(change.parameters) {
            join()
        } else if change.isSecondTry {
            refuse(change, error, under: conditions, acceptList)
        } else if isWanted {
            events.append(.log("a scan that runs already may receive less than this one: it is ended"))
            takeover = .disallowed
        }
    }

    private mutating func join() {
        events.append(.log("joining a scan that runs already"))
        (radio, stall) = (.joined, nil)
        reportLack()
    }

    /// Reports once what a joined scan lacks.
    private mutating func reportLack() {
        guard foreign.filtersDuplicates, !hasReportedLack else { return }
        hasReportedLack = true
        events.append(.note(.scanJoinedWithoutRepeats))
    }

    private mutating func foreignSettled(under conditions: Conditions, _ acceptList: AcceptList) {
        let now = conditions.now
        guard let wanted = wanted(under: conditions, acceptList) else {
            // A scan that is required again later starts from the beginning.
            if case .others = stall { stall = nil }
            return
        }
        guard !foreign.receives(wanted) else { return join() }
        restarts.removeAll { $0 + .seconds(60) <= now }
        if restarts.count >= Self.restartLimit, let first = restarts.first {
            let end = first + .seconds(60)
            settleAt = end
            // Further switches by other programs change nothing until then.
            guard leftUntil != end else { return }
            leftUntil = end
            let wait = now.duration(until: end)
            return events.append(.note(.scanLeft(for: wait, restarts: Self.restartLimit)))
        }
        restarts.append(now)
        events.append(.note(.scanTakenBack))
        (radio, takeover, stall) = (.off, .others, nil)
    }
}

// MARK: - Time and reports

extension Scanner {
    /// The time at which `expire` is to be called.
    var deadline: Instant? { earlier(watchdog.deadline, change == nil ? earlier(settleAt, retryAt) : nil) }

    /// Handles everything that was due by now.
    mutating func expire(under conditions: Conditions, _ acceptList: AcceptList) {
        let now = conditions.now
        if change == nil, let due = retryAt, due <= now {
            retryAt = nil
            if case .failed? = stall { stall = nil }
        }
        if change == nil, let due = settleAt, due <= now {
            settleAt = nil
            foreignSettled(under: conditions, acceptList)
        }
        guard let silence = watchdog.expire(at: now) else { return }
        events.append(.note(.scanRestarted(silence: silence)))
        stall = nil
        switch radio {
        // The scan may still be on.
        case .on(let parameters): radio = .doubtful(parameters)
        // A scan of another program is not ended here: this host's scan starts only if that one has already
        // ended.
        case .joined: radio = .off
        case .off: takeover = .own
        case .doubtful: break
        }
    }

    /// Handles the advertising reports of an event. Returns false when the packet is something else. The
    /// reports before a malformed one are delivered. Neither closure may use the scanner.
    ///
    /// - Parameters:
    ///   - identify: returns the identity behind the address of a report, where that is known.
    ///   - deliver: is called with each advertisement that passes a scan's filter.
    mutating func receive(
        _ packet: Span<UInt8>, at now: Instant, identify: (AdvertisingReport) -> DeviceAddress?,
        deliver: (ScanID, Advertisement) -> Void
    ) throws(DecodeError) -> Bool {
        guard AdvertisingReport.isEvent(packet) else { return false }
        watchdog.received(at: now)
        guard !consumers.isEmpty || searches[.peers] != nil else { return true }
        try AdvertisingReport.forEach(in: packet.extracting(3..<packet.count)) { report in
            for whole in chains.take(report) {
                let sighting = devices.merge(whole, of: identify(whole), at: now)
                for index in consumers.indices where consumers[index].filter.admits(sighting) {
                    deliver(consumers[index].id, sighting.advertisement)
                }
            }
        }
        return true
    }

    /// Returns a name that a device advertises, if it is remembered.
    func name(of address: DeviceAddress) -> String? { devices.name(of: address) }

    /// The statistics of the table of devices.
    var statistics: ScanStatistics { devices.statistics }

    mutating func nextEvent() -> Event? { events.popFirst() }
}

extension ScanOptions {
    /// Whether the options require times or PHYs that controllers need not support.
    fileprivate var isSpecial: Bool { timing != nil || codedTiming != nil || phys.contains(.leCoded) }
}

extension LESetExtendedScanParameters.Scanning {
    /// Creates parameters with the interval and window of `timing`.
    fileprivate init(_ type: ScanType, _ timing: ScanTiming) {
        self.init(type: type, interval: Slots(timing.interval), window: Slots(timing.window))
    }
}
