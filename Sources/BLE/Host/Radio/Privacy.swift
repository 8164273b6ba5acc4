import BLECore
import DequeModule
import HCI

/// An adapter's own private address and the peers whose addresses its controller resolves, and the commands for them.
///
/// Neither may be changed while the radio advertises, scans or initiates (Core Specification 5.4, Vol 4, Part
/// E, 7.8.4 and 7.8.38), so the radio pauses for that: `isPausing`. A change that the controller refuses for
/// the moment is retried later. A controller that refuses its resolving list for another reason, or does not
/// resolve, is no longer relied on: the host resolves in its place. One command is unanswered at a time.
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
        /// The radio is stopping, or a command that changes it is unanswered.
        case changing
        /// The radio is on, and is not being stopped.
        case on
    }

    enum Event: Sendable {
        /// The radio may resume, and peers may be known by other addresses.
        case resumed
        /// The time has passed in which the controller should have found peers by their keys.
        case trustEnded
        /// The host now resolves the addresses of peers that were left to the controller.
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
        /// Disables resolution, whatever the answer: the list is not relied on.
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

        /// Whether the step is part of an update of the list.
        var isOfList: Bool {
            switch self {
            case .disableResolution, .clearList, .add, .setMode, .enableResolution: true
            case .leaveResolution, .setAddress: false
            }
        }
    }

    /// A change of the controller's list or address.
    private struct Change {
        var steps: Deque<Step>
        /// The peers that the controller has accepted.
        var listed: [DeviceAddress: PeerKeyList.Keys] = [:]
        /// Whether the change updates the list, and is not finished with it.
        var isOfList = false
        let isSetup: Bool
    }

    private enum Phase {
        /// No change is under way, and none has to wait.
        case settled
        /// The radio is to pause before the change.
        case pausing
        /// The commands of a change are being sent.
        case executing(Change)
        /// A change has failed; no other one starts until this time.
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
    /// The time at which this host's address has to change.
    private var ownEnd: Instant?
    private var list = PeerKeyList()
    /// The time until which the controller is trusted to find the peers that it should know.
    private var trustEnd: Instant?
    /// Whether the last command is unanswered.
    private var isAsking = false
    /// Whether the last command got no answer in time: the next one may first have to wait until that answer
    /// is given up.
    private var wasSilent = false
    private var events = Deque<Event>()

    init(_ options: PrivacyOptions) { self.options = options }

    /// The delay before the radio is asked to pause again.
    static let secondTry = Duration.seconds(10)
    /// The time that a controller has to find a peer by its keys before the host scans, too: some controllers
    /// have a resolving list and do not resolve.
    static let trust = Duration.seconds(3)
}

// MARK: - What is due

extension Privacy {
    /// Sets the bonds of this adapter, which are listed in the order of their use. `localKey` is the key of
    /// this host's private addresses; zero without privacy.
    mutating func setPeers(
        _ records: @autoclosure () -> [BondRecord], localKey: UInt128, knowsHidden: Bool
    ) {
        knowsHiddenPeers = knowsHidden
        if list.isUsed { list.setPeers(records(), local: localKey) }
    }

    /// Whether the radio has to be off.
    var isPausing: Bool {
        switch phase {
        case .pausing: true
        case .executing(let change): !change.isSetup
        case .settled, .waiting, .failed: false
        }
    }

    /// Whether a change waits for the radio.
    var awaitsRadio: Bool { if case .pausing = phase { true } else { false } }

    /// Returns whether the controller resolves a peer's private addresses.
    func controllerHasKey(of peer: DeviceAddress) -> Bool { list.contains(peer) }

    /// Returns the bonded peers that can use private addresses that the controller does not know; nil if there are none.
    func hiddenPeers(_ common: Common) -> HiddenPeers? {
        knowsHiddenPeers ? HiddenPeers(bonds: common.bonds, identity: common.identity, list: list) : nil
    }

    /// Starts to pause the radio if a change is due. Returns false when none is, or when the pause has
    /// started before. With `isSearching` the controller searches for a periodic train, so that its list may
    /// not be changed.
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
    /// Handles a reset of the controller: its list is empty and can hold `listSize` peers, and this host's
    /// address has to be set again.
    mutating func controllerWasReset(listSize: Int, at now: Instant) {
        list.wasReset(capacity: listSize)
        (trustEnd, isAsking, wasSilent) = (nil, false, false)
        ownEnd = options.isEnabled ? now : nil
        phase = .settled
    }

    /// Returns the next command for a controller that was reset and is idle; nil when it is set up.
    mutating func nextSetupCommand(
        at now: Instant, newAddress: () -> DeviceAddress
    ) throws(BLEError) -> MachineCommand? {
        if case .settled = phase { begin(isSetup: true, isSearching: false, at: now, newAddress) }
        if case .failed(let error) = phase { throw error }
        return nextStep()
    }

    /// Returns the next command, if the one before is answered and the radio is quiet.
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
        if steps.isEmpty { end(isSetup: isSetup) }
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

    /// Handles the answer to a command. Ignores an answer to a command from before a reset.
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
        // Except during the set-up, Command Disallowed is not handled here: something is on air that this
        // host does not know of, and the change is retried later.
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
        if change.steps.isEmpty { end(isSetup: change.isSetup) }
    }

    private mutating func end(isSetup: Bool) {
        phase = .settled
        // Nothing has paused for a set-up.
        if !isSetup { events.append(.resumed) }
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

    var hasEvents: Bool { !events.isEmpty }

    /// The time at which `expire` has to be called.
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

    /// Starts the time in which the controller should find a peer by its keys.
    mutating func trustController(toFind peer: DeviceAddress, at now: Instant) {
        guard list.contains(peer), !list.isProven, trustEnd == nil else { return }
        trustEnd = now + Self.trust
    }

    /// Notes that the controller has resolved an address.
    mutating func controllerResolved() { list.isProven = true }

    /// Returns the bonded peer that sent a report from a private address; nil where no bond matches. `peer` returns the
    /// bonded peer that uses a private address.
    mutating func hiddenPeer(
        of report: AdvertisingReport, _ peer: (DeviceAddress) -> DeviceAddress?
    ) -> DeviceAddress? {
        guard let address = report.address else { return nil }
        if report.advertiser?.isResolved == true {
            controllerResolved()
            return address
        }
        // Some controllers report the identity as if it had been on air.
        if controllerHasKey(of: address) { return address }
        guard address.kind == .resolvable, let peer = peer(address) else { return nil }
        controllerMissed(peer, at: address)
        return peer
    }

    /// Handles a packet of a peer from an address that the controller should have resolved.
    mutating func controllerMissed(_ peer: DeviceAddress, at address: DeviceAddress) {
        guard list.contains(peer) else { return }
        events.append(.log("the controller has a resolving list and does not resolve \(address)"))
        events.append(.gaveUpList)
        list.giveUp()
    }
}
