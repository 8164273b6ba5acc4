import BLECore
import DequeModule
import HCI

/// The devices that this host is to connect to, and the commands for the controller's one initiator, so that each is
/// connected to when it advertises (Core Specification 5.4, Vol 6, Part B, 4.4.4).
///
/// One device is named in the command; several are on the filter accept list. Neither may change while the initiator is
/// on, so a change is a cancel, the event that ends it, and a new command. When more devices are wanted than the list
/// takes, they take turns.
///
/// It decides by what the controller has answered and reported. One command of its own is unanswered at a time.
///
/// ```swift
/// initiator.want(device)
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
    /// What else goes on in the host, as far as it concerns connecting.
    struct Conditions {
        var hasExtendedFamily = false
        /// Whether something needs the radio to be silent.
        var isPaused = false
        /// Whether the controller is being brought back, so that what it has not answered is begun anew.
        var isRecovering = false
        /// Whether no scan filters by the accept list.
        var isListFree = true
        /// Whether the controller may have a scan of this host's on.
        var isScanning = false
        /// The type of the address that connection requests carry.
        var ownAddressType = OwnAddressType.public
        /// The part of the time in which it may listen.
        var share = 1.0
        var now = Instant.zero
    }

    enum Event: Sendable {
        /// No link comes of it, and the device is wanted no more.
        case failed(DeviceAddress, BLEError)
        /// A change of the radio has ended.
        case changed
        case log(String)
        /// For the log: the controller does not do as it should.
        case warning(String)
    }

    /// The devices that the initiator listens for, and how.
    private struct Target: Hashable {
        let peers: Peers
        let preset: ScanOptions.Preset

        var devices: Set<DeviceAddress> { peers.devices }
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
        /// It may listen: the outcome of a command is not known.
        case doubtful(Target)
        /// It is to end that; an event is to report by then that it has.
        case stopping(Target, until: Instant)
    }

    private enum Step: Hashable {
        case clearAcceptList
        case accept(DeviceAddress)
        case create
        case cancel
    }

    /// Whose the radio is where the controller does not scan and connect at the same time.
    private enum Share {
        /// Both use it, until the controller refuses that.
        case both
        /// The initiator's, until then, if a scan is wanted.
        case connecting(until: Instant?)
        /// The scanner has the radio, until then.
        case scanning(until: Instant)
    }

    private struct Change {
        let target: Target
        var steps: Deque<Step>
        /// How many devices the accept list has taken.
        var accepted = 0
        /// Whether an event has reported the outcome before the answer to `create`.
        var isSpent = false
        /// Whether there may be nothing to cancel.
        var isDoubtful = false

        var isListReady: Bool {
            !steps.contains { if case .accept = $0 { true } else { $0 == .clearAcceptList } }
        }
    }

    /// The devices that are wanted, in the order of their turns.
    private(set) var wanted: [DeviceAddress] = []
    private var radio = Radio.off
    private var change: Change?
    /// The command of `change` that is unanswered.
    private var asked: (step: Step, command: MachineCommand)?
    /// Whether the answer to that is of a time before the controller was brought back.
    private var dropsAnswer = false
    /// Whether an attempt was taken for ended whose end the controller has not reported.
    private var isStale = false
    private var turnEnd: Instant?
    /// The time at which the scan parameters for the wanted devices change.
    private var paceEnd: Instant?
    private var share = Share.both
    /// Until when the controller, which does not answer, is asked for nothing, and how often in a row it was silent.
    private var silence: Instant?
    private var silences = 0
    /// How many devices the accept list takes; 0 where it cannot be used.
    private var capacity = 0
    private var events = Deque<Event>()

    /// How long devices have their turn, and where one of them must wait for the other, connecting and scanning.
    static let turn = Duration.seconds(5)
    /// How long the controller has to report that it has ended.
    static let stopLimit = Duration.seconds(2)

    /// An initiator of a controller that has received no command yet.
    init() {}
}

// MARK: - What is wanted

extension Initiator {
    /// A device is to be connected to.
    mutating func want(_ device: DeviceAddress) {
        if !wanted.contains(device) { wanted.append(device) }
    }

    /// Removes a device from those to connect to.
    mutating func forget(_ device: DeviceAddress) { wanted.removeAll { $0 == device } }

    /// Whether the controller has nothing to do with connecting, and shall have nothing.
    var isIdle: Bool { isQuiet && wanted.isEmpty }

    /// Whether the controller has nothing to do with connecting.
    var isQuiet: Bool { radio == .off && change == nil }

    /// Whether a change is under way, or the end of an attempt is still to be reported.
    var isChanging: Bool {
        if case .stopping = radio { return true }
        return change != nil
    }

    /// Whether a scan would be in the way of the initiator now.
    var silencesScans: Bool {
        switch share {
        case .both: false
        case .connecting: !isIdle
        case .scanning: !isQuiet
        }
    }

    /// Whether it has the whole radio when it has it, since a scan never runs at the same time.
    var takesTurnsWithScans: Bool {
        if case .both = share { false } else { true }
    }

    /// Says whether a scan is wanted: where they take turns, that limits the initiator's.
    mutating func share(withScan isWanted: Bool, at now: Instant) {
        switch share {
        case .both: break
        case .connecting(let end):
            share = .connecting(until: isWanted && !wanted.isEmpty ? end ?? now + Self.turn : nil)
        case .scanning: if !isWanted || wanted.isEmpty { share = .connecting(until: nil) }
        }
    }

    /// The controller does not scan while it connects: from now on they take turns.
    mutating func takeTurnsWithScans() {
        guard case .both = share else { return }
        share = .connecting(until: nil)
        events.append(
            .log("the controller does not scan and connect at the same time: they take turns of 5 s"))
    }

    /// Returns the devices to connect to under these conditions; nil: none.
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
    /// The controller is as after power-on, with room for so many on its accept list; what is wanted is so still.
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

    /// The next command, if the one before is answered and the radio is not as it is wanted.
    ///
    /// - Parameter requests: gives the requests that wait for one of the devices, oldest first. It may not ask the
    ///   initiator for anything.
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
                for device in change.target.devices { fail(device, error) }
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

    /// Compares what the radio does with what it is to do, and begins to change that.
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
        // A scan that filters by it goes on without.
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
        // Those who want another timing change that of their link.
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

    /// Takes what came of the last command.
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
            endChange()
        case (.create, .silent):
            radio = change.isSpent ? .off : .doubtful(change.target)
            endChange()
            silent(change.target, command, under: conditions)
        case (.create, .refused), (.create, .malformed):
            endChange()
            if change.isSpent { break }
            if isStale, answer == .refused(.commandDisallowed) {
                // The attempt before this one still goes on.
                (radio, isStale) = (.doubtful(change.target), false)
            } else if case .both = share, answer == .refused(.commandDisallowed), conditions.isScanning {
                takeTurnsWithScans()
            } else {
                refused(change.target, command.error(answer))
            }
        case (.cancel, .refused) where change.isDoubtful:
            // There is nothing to cancel, or the link has come in this moment.
            (radio, isStale) = (.off, true)
            endChange()
        case (.cancel, .silent):
            cancelIsUnanswered(under: conditions)
            endChange()
        // It is refused when the link has come in this moment, which an event reports.
        case (.cancel, .done), (.cancel, .refused), (.cancel, .malformed): endChange()
        }
    }

    private mutating func endChange() {
        change = nil
        events.append(.changed)
    }

    /// The accept list could not be had: all that it takes is used, or none of it.
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

    /// Whether the controller listens is not known: that is cancelled first.
    private mutating func silent(_ target: Target, _ command: MachineCommand, under conditions: Conditions) {
        // What brings the controller back begins all this anew.
        if conditions.isRecovering { return }
        askLater(under: conditions)
        for device in target.devices { fail(device, command.error(.silent)) }
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
        isStale = true
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

// MARK: - What the controller reports, and time

extension Initiator {
    /// Whom the radio listens for, or may.
    private var target: Target? {
        switch radio {
        case .off: asked?.step == .create ? change?.target : nil
        case .on(let target), .doubtful(let target), .stopping(let target, _): target
        }
    }

    /// A link was made by this host as the central: which device it is, which is not wanted any more. Nil
    /// when no attempt was for it.
    ///
    /// - Parameter isPeer: says whether an address is one of the device's.
    mutating func connected(_ isPeer: (DeviceAddress) -> Bool) -> DeviceAddress? {
        guard let target else {
            // Late, of an attempt that was given up; a request may want it all the same.
            isStale = false
            return wanted.first(where: isPeer)
        }
        switch target.devices.first(where: isPeer) {
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

    /// The initiator has ended without a link.
    mutating func failed(_ status: HCIStatus) {
        let isCancelled = status == .unknownConnectionIdentifier
        if isCancelled, case .stopping = radio { return ended() }
        // Before the command is answered, the outcome may only be the one of before.
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

    /// When `expire` is to run, if nothing happens before.
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

    /// Acts on what was due by `now`.
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

    /// The next devices have their turn.
    private mutating func rotate() {
        turnEnd = nil
        let served = min(max(capacity, 1), wanted.count)
        wanted = Array(wanted.dropFirst(served) + wanted.prefix(served))
    }

    mutating func nextEvent() -> Event? { events.popFirst() }
}
