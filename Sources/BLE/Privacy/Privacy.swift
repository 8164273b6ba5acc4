import BLECore
import DequeModule
import HCI

/// An adapter's own private address and the peers whose addresses its controller resolves, and the commands for them.
///
/// Neither may be changed while the radio advertises, scans or initiates (Core Specification 5.4, Vol 4, Part
/// E, 7.8.4 and 7.8.38), so it pauses for that: `isPausing`. What the controller refuses to change now is
/// tried again later. A controller that refuses its resolving list for another reason, or does not resolve,
/// is not relied on any more: the host resolves for it. One command is unanswered at a time.
///
/// ```swift
/// privacy.controllerWasReset(listSize: 8, at: now)
/// privacy.setPeers(records, localKey: key, knowsHidden: true)
/// while let command = try privacy.nextSetupCommand(at: now, newAddress: makeAddress) {
///     privacy.answered(await execute(command), to: privacy.lastCommand, at: now)
/// }
/// // From then on:
/// if privacy.pauseIfDue(isSearching: false, at: now) { pauseRadio() }
/// if let command = privacy.nextCommand(
///     radio: .quiet, isSearching: false, at: now, newAddress: makeAddress)
/// {
///     submit(command)
/// }
/// privacy.answered(answer, to: privacy.lastCommand, at: now)
/// while let event = privacy.nextEvent() { handle(event) }
/// ```
struct Privacy: Sendable {
    /// The state of the radio, as far as changes of the address depend on it.
    enum RadioActivity: Sendable {
        /// The radio does nothing that forbids a change.
        case quiet
        /// It comes to rest, or a command about it is not answered.
        case changing
        /// It goes on, and nothing is done about that.
        case on
    }

    enum Event: Sendable {
        /// The radio may go on, and peers may be known by other names.
        case resumed
        /// The controller had its time to find the peers that it should know by their keys.
        case trustEnded
        /// The host knows peers that were left to the controller.
        case gaveUpList
        case log(String)
        /// For the log, as a warning.
        case warning(String)
    }

    private enum Step {
        case disableResolution
        case clearList
        case add(DeviceAddress, PeerKeyList.Keys)
        case setMode(DeviceAddress, PeerKeyList.Keys)
        case enableResolution
        /// Whatever comes of it: the list is not relied on.
        case leaveResolution
        case setAddress(DeviceAddress)

        var opcode: HCIOpcode {
            switch self {
            case .disableResolution, .enableResolution, .leaveResolution: .leSetAddressResolutionEnable
            case .clearList: .leClearResolvingList
            case .add: .leAddDeviceToResolvingList
            case .setMode: .leSetPrivacyMode
            case .setAddress: .leSetRandomAddress
            }
        }

        var isOfPeer: Bool {
            switch self {
            case .add, .setMode: true
            default: false
            }
        }

        var isEnabling: Bool { if case .enableResolution = self { true } else { false } }

        /// Whether it makes the list what it should be.
        var isOfList: Bool {
            switch self {
            case .disableResolution, .clearList, .add, .setMode, .enableResolution: true
            case .leaveResolution, .setAddress: false
            }
        }
    }

    /// A change of what the controller knows.
    private struct Change {
        var steps: Deque<Step>
        /// The peers that the controller has taken.
        var listed: [DeviceAddress: PeerKeyList.Keys] = [:]
        /// Whether it makes the list what it should be.
        var isOfList = false
        let isSetup: Bool
    }

    private enum Phase {
        /// All is as it should be, as far as the radio allowed.
        case settled
        /// The radio is to pause before the change.
        case pausing
        /// The controller is sent a change.
        case executing(Change)
        /// A change has failed, which holds all others up until then.
        case waiting(until: Instant)
        /// The controller cannot be set up.
        case failed(BLEError)
    }

    let options: PrivacyOptions
    /// The address that is on air in place of the identity; nil without privacy.
    private(set) var own: DeviceAddress?
    /// Whether there are bonds whose peers may use private addresses.
    private(set) var knowsHiddenPeers = false
    /// The number of the last command.
    private(set) var lastCommand: UInt64 = 0
    private var phase = Phase.settled
    /// When the own address is old.
    private var ownEnd: Instant?
    private var list = PeerKeyList()
    /// Until when the controller is trusted to find the peers that it should know.
    private var trustEnd: Instant?
    /// Whether the last command is not answered.
    private var isAsking = false
    /// Whether the last command that was answered was not: the next one may have to wait for that.
    private var wasSilent = false
    private var events = Deque<Event>()

    init(_ options: PrivacyOptions) { self.options = options }

    /// How long until the radio is asked to pause again.
    static let secondTry = Duration.seconds(10)
    /// How long a controller has to find a peer by its keys until the host looks, too: there are some that have a
    /// resolving list and do not resolve.
    static let trust = Duration.seconds(3)
}

// MARK: - What is wanted

extension Privacy {
    /// Takes the bonds of this adapter, in the order of whose use they are listed. `localKey` is the key of
    /// this host's private addresses; zero without privacy.
    mutating func setPeers(
        _ records: @autoclosure () -> [BondRecord], localKey: UInt128, knowsHidden: Bool
    ) {
        knowsHiddenPeers = knowsHidden
        if list.isUsed { list.setPeers(records(), local: localKey) }
    }

    /// Whether the radio is to be kept off.
    var isPausing: Bool {
        switch phase {
        case .pausing: true
        case .executing(let change): !change.isSetup
        case .settled, .waiting, .failed: false
        }
    }

    /// Whether the radio is waited for.
    var awaitsRadio: Bool { if case .pausing = phase { true } else { false } }

    /// Whether the controller knows a peer by its private addresses.
    func controllerKnows(_ peer: DeviceAddress) -> Bool { list.knows(peer) }

    /// Begins to pause the radio if something is due; false: nothing is, or the pause has begun before.
    /// `isSearching`: the controller looks for a periodic train, so that its list may not be changed.
    mutating func pauseIfDue(isSearching: Bool, at now: Instant) -> Bool {
        guard case .settled = phase, isAddressDue(at: now) || isListDue(isSearching) else { return false }
        phase = .pausing
        return true
    }

    private func isAddressDue(at now: Instant) -> Bool { ownEnd.map { $0 <= now } ?? false }

    private func isListDue(_ isSearching: Bool) -> Bool { !isSearching && list.contents != list.wanted }
}

// MARK: - Commands

extension Privacy {
    /// The controller was reset: its list is empty, and takes that many peers, and the own address is to be set anew.
    mutating func controllerWasReset(listSize: Int, at now: Instant) {
        list.wasReset(capacity: listSize)
        (trustEnd, isAsking, wasSilent) = (nil, false, false)
        ownEnd = options.isEnabled ? now : nil
        phase = .settled
    }

    /// The next command for a controller that was reset and does nothing yet; nil when it is set up.
    mutating func nextSetupCommand(
        at now: Instant, newAddress: () -> DeviceAddress
    ) throws(BLEError) -> MachineCommand? {
        if case .settled = phase { begin(isSetup: true, isSearching: false, at: now, newAddress) }
        if case .failed(let error) = phase { throw error }
        return nextStep()
    }

    /// The next command, if the one before is answered and the radio is quiet.
    mutating func nextCommand(
        radio: RadioActivity, isSearching: Bool, at now: Instant, newAddress: () -> DeviceAddress
    ) -> MachineCommand? {
        if case .pausing = phase {
            switch radio {
            case .quiet: begin(isSetup: false, isSearching: isSearching, at: now, newAddress)
            case .changing: break
            case .on:
                events.append(.log("the radio does not pause"))
                wait(from: now)
            }
        }
        return nextStep()
    }

    private mutating func begin(
        isSetup: Bool, isSearching: Bool, at now: Instant, _ newAddress: () -> DeviceAddress
    ) {
        var steps = Deque<Step>()
        let isOfList = isListDue(isSearching)
        if isOfList {
            if list.contents?.isEmpty != true { steps += [.disableResolution, .clearList] }
            let wanted = list.wantedInOrder
            for (peer, keys) in wanted { steps += [.add(peer, keys), .setMode(peer, keys)] }
            if !wanted.isEmpty { steps.append(.enableResolution) }
            list.begin()
        }
        if isAddressDue(at: now) { steps.append(.setAddress(newAddress())) }
        phase = .executing(Change(steps: steps, isOfList: isOfList, isSetup: isSetup))
        if steps.isEmpty { end() }
    }

    private mutating func nextStep() -> MachineCommand? {
        guard case .executing(let change) = phase, !isAsking, let step = change.steps.first else {
            return nil
        }
        isAsking = true
        lastCommand += 1
        return switch step {
        case .disableResolution, .leaveResolution: ask(LESetAddressResolutionEnable(enable: false))
        case .clearList: ask(LEClearResolvingList())
        case .add(let peer, let keys):
            ask(LEAddDeviceToResolvingList(peer: HCIAddress(peer), peerKey: keys.peer, localKey: keys.local))
        case .setMode(let peer, _): ask(LESetPrivacyMode(peer: HCIAddress(peer), mode: .device))
        case .enableResolution: ask(LESetAddressResolutionEnable(enable: true))
        case .setAddress(let address): ask(LESetRandomAddress(address: address))
        }
    }

    private func ask(_ command: some HCICommand) -> MachineCommand {
        MachineCommand(command, isPatient: wasSilent)
    }

    /// Takes what came of a command. An answer to one of before a reset is ignored.
    mutating func answered(_ answer: CommandAnswer, to number: UInt64, at now: Instant) {
        guard isAsking, number == lastCommand, case .executing(var change) = phase,
            let step = change.steps.popFirst()
        else { return }
        isAsking = false
        wasSilent = answer == .silent
        switch (step, answer) {
        case (.leaveResolution, _): break
        case (.setAddress(let address), .done):
            events.append(.log("hiding behind \(address)"))
            own = address
            ownEnd = now + options.addressLifetime
        case (.setAddress, _): return fail(answer.error(of: step.opcode), change, at: now)
        case (.setMode(let peer, let keys), .done): change.listed[peer] = keys
        case (_, .done): break
        case (.add, .refused(.memoryCapacityExceeded)):
            list.shrink(to: change.listed.count)
            change.steps.removeAll(where: \.isOfPeer)
            if change.listed.isEmpty { change.steps.removeAll(where: \.isEnabling) }
        // While something is on air that this host does not know of: later.
        case (_, .refused(let status)) where status != .commandDisallowed || change.isSetup:
            events.append(
                .log("\(step.opcode): \(status); private addresses are resolved by the host alone"))
            change.steps.removeAll(where: \.isOfList)
            change.steps.prepend(.leaveResolution)
            change.isOfList = false
            list.giveUp()
        case (_, .refused), (_, .malformed), (_, .silent):
            return fail(answer.error(of: step.opcode), change, at: now)
        }
        if change.isOfList, !change.steps.contains(where: \.isOfList) {
            change.isOfList = false
            list.settle(change.listed)
        }
        phase = .executing(change)
        if change.steps.isEmpty { end() }
    }

    private mutating func end() {
        phase = .settled
        events.append(.resumed)
    }

    private mutating func fail(_ error: BLEError?, _ change: Change, at now: Instant) {
        guard let error else { return }
        if change.isSetup {
            phase = .failed(error)
        } else {
            events.append(.warning("cannot change who this host and its peers are: \(error)"))
            wait(from: now)
        }
    }

    private mutating func wait(from now: Instant) {
        phase = .waiting(until: now + Self.secondTry)
        events.append(.resumed)
    }
}

// MARK: - Time, and what is received

extension Privacy {
    mutating func nextEvent() -> Event? { events.popFirst() }

    /// When something is to be done.
    var deadline: Instant? {
        switch phase {
        case .settled: earlier(ownEnd, trustEnd)
        case .waiting(let end): earlier(end, trustEnd)
        case .pausing, .executing, .failed: trustEnd
        }
    }

    /// Handles the time limits that have passed.
    mutating func expire(at now: Instant) {
        if case .waiting(let end) = phase, end <= now { phase = .settled }
        if let end = trustEnd, end <= now {
            trustEnd = nil
            if !list.isProven { events.append(.trustEnded) }
        }
    }

    /// A peer is looked for that the controller should know by its keys.
    mutating func trustController(toFind peer: DeviceAddress, at now: Instant) {
        guard list.knows(peer), !list.isProven, trustEnd == nil else { return }
        trustEnd = now + Self.trust
    }

    /// The controller has resolved an address.
    mutating func controllerResolved() { list.isProven = true }

    /// Handles a packet of a peer from an address that the controller should have resolved.
    mutating func controllerMissed(_ peer: DeviceAddress, at address: DeviceAddress) {
        guard list.knows(peer) else { return }
        events.append(.log("the controller has a resolving list and does not resolve \(address)"))
        events.append(.gaveUpList)
        list.giveUp()
    }
}
