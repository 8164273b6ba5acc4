import BLECore
import DequeModule
import HCI

/// The devices that this host is to connect to, and the commands for the controller's single initiator, so
/// that each device is connected to when it advertises (Core Specification 5.4, Vol 6, Part B, 4.4.4).
///
/// A single device is named in the command; several are on the filter accept list. Neither can change while
/// the initiator is on, so a change consists of a cancel, the event that ends the attempt, and a new command.
/// When there are more devices than fit into the list, they take turns.
///
/// The decisions depend on what the controller has answered and reported. At most one command of the
/// initiator is unanswered at a time.
///
/// ```swift
/// initiator.add(device)
/// if let command = initiator.nextCommand(
///     under: conditions, &acceptList, for: { connecting.requests(for: $0) })
/// {
///     submit(command)
/// }
/// initiator.answered(answer, under: conditions, &acceptList)
/// let connected = initiator.connected { $0 == event.peer.deviceAddress }
/// while let event = initiator.nextEvent() { handle(event) }
/// // Run `expire` at `deadline`.
/// ```
struct Initiator: Sendable {
    /// The state of the rest of the host as far as it concerns connecting.
    struct Conditions {
        var hasExtendedFamily = false
        /// Whether the radio has to be silent.
        var isPaused = false
        /// Whether the controller is being recovered, after which everything unanswered is started again.
        var isRecovering = false
        /// Whether no scan filters by the accept list.
        var isListFree = true
        /// Whether a scan of this host may be on.
        var isScanning = false
        /// The type of the address that connection requests carry.
        var ownAddressType = OwnAddressType.public
        /// The share of the time in which the initiator can listen.
        var share = 1.0
        var now = Instant.zero
    }

    enum Event: Sendable {
        /// The device cannot be connected to, and is no longer requested.
        case failed(DeviceAddress, BLEError)
        /// A change of the radio has ended.
        case changed
        case log(String)
        /// For the log: the controller does not behave as it should.
        case warning(String)
    }

    /// The devices that the initiator listens for, and how.
    private struct Target: Hashable {
        let peers: Peers
        let preset: ScanOptions.Preset

        var devices: Set<DeviceAddress> { peers.devices }
        var inOrder: [DeviceAddress] { devices.sorted() }
    }

    private enum Peers: Hashable {
        case device(DeviceAddress)
        case acceptList(Set<DeviceAddress>)

        var devices: Set<DeviceAddress> {
            switch self {
            case .device(let device): [device]
            case .acceptList(let devices): devices
            }
        }
    }

    /// The state of the controller's initiator.
    private enum Radio: Hashable {
        case off
        case on(Target)
        /// The initiator may be listening: the outcome of a command is unknown.
        case doubtful(Target)
        /// The initiator is to stop; an event has to report by then that it has.
        case stopping(Target, until: Instant)
    }

    private enum Step: Hashable {
        case clearAcceptList
        case accept(DeviceAddress)
        case create
        case cancel
    }

    /// The use of the radio when the controller does not scan and connect at the same time.
    private enum Share {
        /// Both use it, until the controller refuses that.
        case both
        /// The initiator has the radio; if a scan is requested, only until then.
        case connecting(until: Instant?)
        /// The scanner has the radio, until then.
        case scanning(until: Instant)
    }

    private struct Change {
        let target: Target
        var steps: Deque<Step>
        /// The number of devices that the accept list already contains.
        var accepted = 0
        /// Whether an event has reported the outcome before the answer to `create`.
        var isSpent = false
        /// Whether there may be nothing to cancel.
        var isDoubtful = false

        var isListReady: Bool {
            !steps.contains { if case .accept = $0 { true } else { $0 == .clearAcceptList } }
        }
    }

    /// The devices to connect to, in the order of their turns.
    private(set) var wanted: [DeviceAddress] = []
    private var radio = Radio.off
    private var change: Change?
    /// The command of `change` that is unanswered.
    private var asked: (step: Step, command: MachineCommand)?
    /// Whether the answer to `asked` dates from before the controller was recovered.
    private var dropsAnswer = false
    /// Whether an attempt was considered ended although the controller has not reported its end.
    private var isStale = false
    /// Whether the controller has since refused to cancel that attempt.
    private var isStaleUncancellable = false
    private var turnEnd: Instant?
    /// The time at which the scan parameters for the devices to connect to change.
    private var paceEnd: Instant?
    private var share = Share.both
    /// Until when the controller is sent no command, because it did not answer, and the number of missing
    /// answers in a row.
    private var silence: Instant?
    private var silences = 0
    /// The number of devices that fit into the accept list; 0 when it cannot be used.
    private var capacity = 0
    private var events = Deque<Event>()

    /// The duration of a turn of devices, and of connecting and scanning where these have to alternate.
    static let turn = Duration.seconds(5)
    /// The time that the controller has to report the end of an attempt.
    static let stopLimit = Duration.seconds(2)

    /// Creates an initiator of a controller that has received no command yet.
    init() {}
}

// MARK: - Requests

extension Initiator {
    /// Adds a device to connect to.
    mutating func add(_ device: DeviceAddress) {
        if !wanted.contains(device) { wanted.append(device) }
    }

    /// Removes a device from those to connect to.
    mutating func forget(_ device: DeviceAddress) { wanted.removeAll { $0 == device } }

    /// Whether the controller is not connecting, and no device is to be connected to.
    var isIdle: Bool { isQuiet && wanted.isEmpty }

    /// Whether the controller is not connecting.
    var isQuiet: Bool { radio == .off && change == nil }

    /// Whether a change is under way, or the end of an attempt is still to be reported.
    var isChanging: Bool {
        if case .stopping = radio { return true }
        return change != nil
    }

    /// Whether a scan would interfere with the initiator now.
    var silencesScans: Bool {
        switch share {
        case .both: false
        case .connecting: !isIdle
        case .scanning: !isQuiet
        }
    }

    /// Whether the initiator has the whole radio during its turns, because a scan never runs at the same
    /// time.
    var takesTurnsWithScans: Bool {
        if case .both = share { false } else { true }
    }

    /// Sets whether a scan is requested. Where scans and the initiator take turns, this limits the
    /// initiator's turn.
    mutating func share(withScan isWanted: Bool, at now: Instant) {
        switch share {
        case .both: break
        case .connecting(let end):
            share = .connecting(until: isWanted && !wanted.isEmpty ? end ?? now + Self.turn : nil)
        case .scanning: if !isWanted || wanted.isEmpty { share = .connecting(until: nil) }
        }
    }

    /// Records that the controller does not scan while it connects: from now on they take turns.
    mutating func takeTurnsWithScans() {
        guard case .both = share else { return }
        share = .connecting(until: nil)
        events.append(
            .log("the controller does not scan and connect at the same time: they take turns of 5 s"))
    }

    /// Returns the devices to connect to under these conditions; nil if there are none.
    private func due(under conditions: Conditions) -> Peers? {
        if case .scanning = share { return nil }
        guard !conditions.isPaused, let first = wanted.first else { return nil }
        guard wanted.count > 1, capacity > 1 else { return .device(first) }
        return .acceptList(Set(wanted.prefix(capacity)))
    }

    private var takesTurns: Bool { wanted.count > max(capacity, 1) }
}

// MARK: - The radio

extension Initiator {
    /// Handles a reset of the controller, whose accept list has room for `capacity` devices. The devices to
    /// connect to remain.
    mutating func controllerWasReset(capacity: Int) {
        if radio != .off { events.append(.changed) }
        (radio, turnEnd, paceEnd, silence, silences, isStale, share) = (.off, nil, nil, nil, 0, false, .both)
        self.capacity = capacity
        guard change != nil else { return }
        if asked != nil {
            dropsAnswer = true
        } else {
            endChange()
        }
    }

    /// Returns the next command, if the previous one is answered and the radio is not in the requested state.
    ///
    /// - Parameter requests: returns the requests that wait for one of the devices, oldest first. It must not
    ///   call the initiator.
    mutating func nextCommand(
        under conditions: Conditions, _ acceptList: inout AcceptList,
        for requests: (Set<DeviceAddress>) -> [ConnectState.Request]
    ) -> MachineCommand? {
        guard asked == nil else { return nil }
        let due = due(under: conditions).map { peers in
            let pace = ListeningPace(of: requests(peers.devices), at: conditions.now)
            paceEnd = pace.end
            return Target(peers: peers, preset: pace.preset)
        }
        if due == nil { paceEnd = nil }
        if let change, change.steps.first != .cancel, change.target != due { endChange() }
        if change == nil { begin(due, under: conditions, &acceptList) }
        guard let change, let step = change.steps.first else { return nil }
        let command: MachineCommand
        switch step {
        case .clearAcceptList: command = MachineCommand(LEClearFilterAcceptList())
        case .accept(let device):
            command = MachineCommand(LEAddDeviceToFilterAcceptList(device: HCIAddress(device)))
        case .create:
            turnEnd = takesTurns ? turnEnd ?? conditions.now + Self.turn : nil
            do throws(BLEError) {
                let options = requests(change.target.devices).map(\.options)
                command = try Self.create(change.target, options, conditions)
            } catch {
                endChange()
                for device in change.target.inOrder { fail(device, error) }
                return nil
            }
        case .cancel:
            radio = .stopping(change.target, until: conditions.now + Self.stopLimit)
            // A change of the scan parameters alone does not extend the turn of the same devices.
            if due?.peers != change.target.peers { turnEnd = nil }
            command = MachineCommand(LECreateConnectionCancel())
        }
        asked = (step, command)
        return command
    }

    /// Compares the radio with the requested state, and begins a change if they differ.
    private mutating func begin(
        _ due: Target?, under conditions: Conditions, _ acceptList: inout AcceptList
    ) {
        if let silence, silence > conditions.now { return }
        silence = nil
        switch (radio, due) {
        case (.off, nil): if wanted.isEmpty { acceptList.isForConnecting = false }
        case (.off, let due?):
            if case .both = share {} else if conditions.isScanning { return }
            start(due, under: conditions, &acceptList)
        case (.on(let target), let due?) where target == due:
            turnEnd = takesTurns ? turnEnd ?? conditions.now + Self.turn : nil
        case (.on(let target), _): change = Change(target: target, steps: [.cancel])
        case (.doubtful(let target), _): change = Change(target: target, steps: [.cancel], isDoubtful: true)
        case (.stopping, _): break
        }
    }

    private mutating func start(
        _ due: Target, under conditions: Conditions, _ acceptList: inout AcceptList
    ) {
        guard case .acceptList(let devices) = due.peers else {
            change = Change(target: due, steps: [.create])
            return
        }
        acceptList.isForConnecting = true
        // A scan that filters by the list has to continue without it first.
        guard conditions.isListFree else { return }
        let changes = acceptList.begin(devices)
        var steps = Deque<Step>()
        if changes.clears { steps.append(.clearAcceptList) }
        let additions = wanted.filter(changes.additions.contains)
        steps += additions.map { .accept($0) }
        if steps.isEmpty { acceptList.settle(devices) }
        let accepted = devices.count - additions.count
        change = Change(target: due, steps: steps + [.create], accepted: accepted)
    }

    private static func create(
        _ target: Target, _ options: [ConnectionOptions], _ conditions: Conditions
    ) throws(BLEError) -> MachineCommand {
        // Requests with other parameters change those of their link afterwards.
        let wanted = options.lazy.compactMap(\.parameters).first ?? ConnectionParameters()
        let parameters = try wanted.checked()
        let (policy, peer): (InitiatorFilterPolicy, HCIAddress) =
            switch target.peers {
            case .device(let device): (.peer, HCIAddress(device))
            case .acceptList: (.acceptList, HCIAddress(0, type: .public))
            }
        let listening = target.preset.timing.limited(to: conditions.share)
        let (interval, window) = (Slots(listening.interval), Slots(listening.window))
        guard conditions.hasExtendedFamily else {
            return MachineCommand(
                LECreateConnection(
                    scanInterval: interval, scanWindow: window, filterPolicy: policy, peer: peer,
                    ownAddressType: conditions.ownAddressType, parameters: parameters))
        }
        let initiating = LEExtendedCreateConnection.Initiating(
            scanInterval: interval, scanWindow: window, parameters: parameters)
        let wantsCoded = options.contains { $0.phys?.contains(.leCoded) ?? false }
        return MachineCommand(
            LEExtendedCreateConnection(
                filterPolicy: policy, ownAddressType: conditions.ownAddressType, peer: peer,
                phys: PerPHY(le1M: initiating, leCoded: wantsCoded ? initiating : nil)))
    }

    /// Handles the answer to the last command.
    mutating func answered(
        _ answer: CommandAnswer, under conditions: Conditions, _ acceptList: inout AcceptList
    ) {
        guard let (step, command) = asked, var change else { return }
        asked = nil
        if dropsAnswer {
            dropsAnswer = false
            return endChange()
        }
        if answer != .silent { silences = 0 }
        change.steps.removeFirst()
        self.change = change
        switch (step, answer) {
        case (.clearAcceptList, .done), (.accept, .done):
            if case .accept = step { self.change?.accepted += 1 }
            if change.isListReady { acceptList.settle(change.target.devices) }
        case (.clearAcceptList, _), (.accept, _):
            listRefused(change, command, answer, under: conditions)
        case (.create, .done):
            radio = change.isSpent ? .off : .on(change.target)
            isStaleUncancellable = false
            endChange()
        case (.create, .silent):
            radio = change.isSpent ? .off : .doubtful(change.target)
            endChange()
            silent(change.target, command, under: conditions)
        case (.create, .refused), (.create, .malformed):
            endChange()
            if change.isSpent { break }
            if isStale, !isStaleUncancellable, answer == .refused(.commandDisallowed) {
                // The attempt before this one may still be running.
                (radio, isStale) = (.doubtful(change.target), false)
            } else if case .both = share, answer == .refused(.commandDisallowed), conditions.isScanning {
                takeTurnsWithScans()
            } else {
                refused(change.target, command.error(answer))
            }
        case (.cancel, .refused) where change.isDoubtful:
            // There is nothing to cancel, or the link was established at this moment.
            (radio, isStale, isStaleUncancellable) = (.off, true, true)
            endChange()
        case (.cancel, .silent):
            cancelIsUnanswered(under: conditions)
            endChange()
        // The controller refuses when the link was established at this moment, which an event reports.
        case (.cancel, .done), (.cancel, .refused), (.cancel, .malformed): endChange()
        }
    }

    private mutating func endChange() {
        change = nil
        events.append(.changed)
    }

    /// Handles an accept list that could not be set: from now on only as many devices as it accepted are put
    /// on it, or none.
    private mutating func listRefused(
        _ change: Change, _ command: MachineCommand, _ answer: CommandAnswer, under conditions: Conditions
    ) {
        endChange()
        if answer == .silent, conditions.isRecovering { return }
        let isFull = answer == .refused(.memoryCapacityExceeded)
        capacity = isFull && change.accepted > 1 ? change.accepted : 0
        events.append(
            .log("not connecting by an accept list of \(wanted.count) devices: \(command.error(answer))"))
    }

    private mutating func refused(_ target: Target, _ error: BLEError) {
        switch target.peers {
        case .acceptList:
            capacity = 0
            events.append(.log("not connecting by the accept list: \(error)"))
        case .device(let device): fail(device, error)
        }
    }

    /// Handles an unanswered command to connect. Whether the controller is listening is unknown, so this is
    /// cancelled first.
    private mutating func silent(_ target: Target, _ command: MachineCommand, under conditions: Conditions) {
        // The recovery of the controller starts all of this again.
        if conditions.isRecovering { return }
        askLater(under: conditions)
        for device in target.inOrder { fail(device, command.error(.silent)) }
    }

    /// Repeats an unanswered cancel once, then treats the attempt as ended.
    private mutating func cancelIsUnanswered(under conditions: Conditions) {
        guard case .stopping(let target, _) = radio, !conditions.isRecovering else { return }
        radio = .doubtful(target)
        askLater(under: conditions)
        if silences > 1 { giveUpStopping() }
    }

    private mutating func giveUpStopping() {
        events.append(.warning("the controller did not report how the attempt to connect ended"))
        (isStale, isStaleUncancellable) = (true, false)
        ended()
    }

    private mutating func askLater(under conditions: Conditions) {
        silence = conditions.now + .seconds(1 << min(silences, 5))
        silences += 1
    }

    private mutating func fail(_ device: DeviceAddress, _ error: BLEError) {
        guard wanted.contains(device) else { return }
        forget(device)
        events.append(.failed(device, error))
    }
}

// MARK: - Events of the controller, and time

extension Initiator {
    /// The devices that the radio listens for, or may be listening for.
    private var target: Target? {
        switch radio {
        case .off: asked?.step == .create ? change?.target : nil
        case .on(let target), .doubtful(let target), .stopping(let target, _): target
        }
    }

    /// Handles a link that this host established as the central. Returns its device, which is then no longer
    /// one to connect to; nil when no attempt was for it.
    ///
    /// - Parameter isPeer: returns whether an address is one of the device's.
    mutating func connected(_ isPeer: (DeviceAddress) -> Bool) -> DeviceAddress? {
        guard let target else {
            // A late link of an attempt that was given up. A request may still wait for the device.
            isStale = false
            return wanted.first(where: isPeer)
        }
        switch target.inOrder.first(where: isPeer) {
        case let device?:
            ended()
            turnEnd = nil
            forget(device)
            return device
        case nil where isStale:
            isStale = false
            return nil
        case nil:
            let isAnswered = radio != .off
            ended()
            turnEnd = nil
            // The controller may have resolved the address.
            guard isAnswered, case .device(let device) = target.peers else { return nil }
            forget(device)
            return device
        }
    }

    /// Handles an attempt that ended without a link.
    mutating func failed(_ status: HCIStatus) {
        let isCancelled = status == .unknownConnectionIdentifier
        if isCancelled, case .stopping = radio { return ended() }
        // Before the command is answered, the outcome can only be that of an earlier attempt.
        if isStale, isCancelled || asked?.step == .create {
            isStale = false
            return
        }
        guard let target else { return }
        ended()
        turnEnd = nil
        for device in wanted where target.devices.contains(device) {
            fail(device, .connectFailed(.status(status)))
        }
    }

    private mutating func ended() {
        radio = .off
        if asked?.step == .create { change?.isSpent = true }
        events.append(.changed)
    }

    /// The time at which `expire` has to run, if nothing happens before.
    var deadline: Instant? {
        if case .stopping(_, let limit) = radio { return limit }
        return earlier(earlier(turnEnd, silence), earlier(shareEnd, paceEnd))
    }

    private var shareEnd: Instant? {
        switch share {
        case .both: nil
        case .connecting(let end): end
        case .scanning(let end): end
        }
    }

    /// Handles the time limits that have passed by `now`.
    mutating func expire(at now: Instant) {
        if let silence, silence <= now { self.silence = nil }
        if let paceEnd, paceEnd <= now { self.paceEnd = nil }
        if let end = shareEnd, end <= now {
            if case .scanning = share {
                share = .connecting(until: nil)
            } else {
                share = .scanning(until: now + Self.turn)
                if takesTurns { rotate() }
            }
        }
        if case .stopping(_, let limit) = radio {
            guard limit <= now else { return }
            giveUpStopping()
        } else if let turnEnd, turnEnd <= now {
            rotate()
        }
    }

    /// Gives the next devices their turn.
    private mutating func rotate() {
        turnEnd = nil
        let served = min(max(capacity, 1), wanted.count)
        wanted = Array(wanted.dropFirst(served) + wanted.prefix(served))
    }

    mutating func nextEvent() -> Event? { events.popFirst() }
}
