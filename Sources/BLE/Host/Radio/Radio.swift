import BLECore
import DequeModule
import HCI

/// What the radio of a controller does for this host: advertisements, scans, periodic trains, and the devices to which it
/// connects. The machines of these share the radio and the accept list, and none of them knows another: what one of them
/// requires of another is passed on here.
///
/// Any input can change what is required. The owner then settles: it asks for the next output until there is none.
///
/// ```swift
/// let id = radio.scan(options, at: now)
/// while let output = radio.next(under: surroundings, &common) { handle(output) }
/// radio.answered(answer, to: .scanner, under: surroundings, common)
/// while let output = radio.next(under: surroundings, &common) { handle(output) }
/// // Run `expire` at `deadline`.
/// ```
// Nothing copies it. It is not `~Copyable` because Swift 6.3 then checks this file for
// six minutes in each debug build.
package struct Radio: Sendable {
    /// The state of the rest of the host on which the radio depends.
    package struct Surroundings: Sendable {
        /// Whether the controller is being recovered: then nothing is commanded.
        package var isRecovering = false
        /// The number of connected centrals, and of links of either role.
        package var (centrals, links) = (0, 0)
        package var now = Instant.zero
    }

    package enum Machine: Hashable, Sendable {
        case scanner, synchronizer, advertiser, initiator
        /// The machine for private addresses, and the number of its command.
        case privacy(UInt64)
    }

    package enum Event: Sendable {
        /// The controller refuses to scan as this scan requires.
        case scanEnded(ScanID, BLEError)
        /// The train is no longer followed, or no longer searched for.
        case trainEnded(PeriodicSyncID, BLEError)
        /// What became of an advertisement.
        case advertising(Advertiser.Event)
        /// The device cannot be connected to; requests still wait for it.
        case connectFailed(DeviceAddress, BLEError)
        /// A wait is over.
        case rested(UInt64)
        /// A pause for a change of addresses is over, or the controller does not resolve addresses: peers may be known by
        /// other addresses.
        case addressesChanged
        case note(AdapterHealthEvent)
        case log(String)
        /// For the log, at the level debug.
        case debug(String)
        /// For the log: the controller does not behave as it should.
        case warning(String)
    }

    /// What a caller can wait for.
    package enum Rest: Sendable {
        /// No scan, advertisement or train is being started, changed or ended.
        case changes
        /// The controller makes no connection attempts; it has 2 s to report the end of one.
        case connecting
        /// The radio does not pause for a change of addresses.
        case pauses
    }

    package enum Output: Sendable {
        /// A command to send. Its answer, or the lack of one, is passed to `answered`.
        case command(MachineCommand, Machine)
        /// Claim this advertising set of a shared controller for this process, and pass the outcome to `claimed`.
        case claim(AdvertisingHandle)
        case event(Event)
    }

    private var privacy: Privacy
    /// Whether the bonds may have changed since the last update of the list of peers.
    private var arePeersStale = true
    private var scanner: Scanner
    private var synchronizer = PeriodicSynchronizer()
    private var advertiser = Advertiser()
    private var initiator = Initiator()
    private var connecting = ConnectState()
    /// The connectable devices that were received during a search for peers, and the bonded peer that each one is.
    private var found = Deque<(address: DeviceAddress, peer: DeviceAddress?)>()
    private var acceptList = AcceptList()
    private var outputs = Deque<Output>()
    private var waits: [(number: UInt64, rest: Rest)] = []
    /// Whether the machines require nothing more of each other and of the controller.
    package private(set) var isSettled = true
    /// The number of times that the machines were asked since they were settled.
    private var rounds = 0

    /// More rounds than any input requires: the machines contradict each other.
    private static let roundLimit = 8

    /// Creates the radio of a controller that has received no commands yet; `limit` is the maximum number of devices
    /// that scans remember.
    package init(remembering limit: Int, privacy options: PrivacyOptions = .off) {
        scanner = Scanner(remembering: limit)
        privacy = Privacy(options)
    }
}

extension Radio.Surroundings {
    /// Creates the surroundings of a host that does nothing else.
    package init(at now: Instant) {
        self.init()
        self.now = now
    }
}

// MARK: - Settling

extension Radio {
    /// Whether the machines do not settle. Nothing is asked of them then until `resume`.
    package var isRestless: Bool { !isSettled && rounds >= Self.roundLimit }

    /// Notes that the surroundings have changed.
    package mutating func surroundingsChanged() { isSettled = false }

    /// Asks restless machines again.
    package mutating func resume() { rounds = 0 }

    /// Returns what is to be done next; nil when nothing is until the next input. The owner carries it out before it
    /// asks for more, because that may change the surroundings.
    package mutating func next(under surroundings: Surroundings, _ common: inout Common) -> Output? {
        while true {
            if let output = outputs.popFirst() { return output }
            takeEvents(at: surroundings.now)
            guard outputs.isEmpty else { continue }
            // After the events: a peer may be searched for because of the report by which it was found.
            if let each = found.popFirst() {
                consider(each.address, of: each.peer)
                continue
            }
            guard !isSettled else {
                rounds = 0
                endWaits(under: surroundings)
                return outputs.popFirst()
            }
            guard rounds < Self.roundLimit else { return nil }
            (isSettled, rounds) = (true, rounds + 1)
            ask(under: surroundings, &common)
        }
    }

    /// Asks each machine for its next command. A search for a train follows the scan that it needs: the controller finds
    /// a train only while it scans (Core Specification 5.4, Vol 4, Part E, 7.8.67).
    private mutating func ask(under surroundings: Surroundings, _ common: inout Common) {
        let now = surroundings.now
        let isRecovering = surroundings.isRecovering
        pauseIfDue(under: surroundings, common)
        let search = isRecovering ? nil : synchronizer.nextCommand(isPaused: privacy.isPausing, at: now)
        scanner.search(.train, synchronizer.scan, at: now)
        initiator.share(withScan: scanner.isWanted, at: now)
        if !isRecovering,
            let command = scanner.nextCommand(
                under: scannerConditions(surroundings, common), &acceptList)
        {
            outputs.append(.command(command, .scanner))
        }
        if let search { outputs.append(.command(search, .synchronizer)) }
        if !isRecovering {
            if let command = advertiser.nextCommand(under: advertiserConditions(surroundings, common)) {
                outputs.append(.command(command, .advertiser))
            } else if let set = advertiser.wantedSet {
                outputs.append(.claim(set))
            }
        }
        if !isRecovering {
            let (wasForConnecting, connecting) = (acceptList.isForConnecting, connecting)
            if let command = initiator.nextCommand(
                under: initiatorConditions(surroundings, common), &acceptList,
                for: { connecting.requests(for: $0) })
            {
                outputs.append(.command(command, .initiator))
            }
            // A scan that filters by the list has to continue without it, or can use it again.
            if wasForConnecting != acceptList.isForConnecting { isSettled = false }
        }
        askPrivacy(under: surroundings, &common)
    }

    /// Begins the pause in which the address or the list of peers is changed, if such a change is due.
    private mutating func pauseIfDue(under surroundings: Surroundings, _ common: Common) {
        guard !common.isShared, !surroundings.isRecovering else { return }
        if arePeersStale, !privacy.isPausing { setPeers(common) }
        _ = privacy.pauseIfDue(isSearching: synchronizer.isSearching, at: surroundings.now)
    }

    private mutating func askPrivacy(under surroundings: Surroundings, _ common: inout Common) {
        if !common.isShared, !surroundings.isRecovering,
            let command = privacy.nextCommand(
                radio: activity, isSearching: synchronizer.isSearching, at: surroundings.now,
                newAddress: { common.newPrivateAddress() })
        {
            outputs.append(.command(command, .privacy(privacy.lastCommand)))
        }
    }

    private mutating func takePrivacyEvents(at now: Instant) {
        while let event = privacy.nextEvent() {
            switch event {
            case .resumed:
                (isSettled, arePeersStale) = (false, true)
                report(.addressesChanged)
            case .trustEnded: helpController(at: now)
            case .gaveUpList: report(.addressesChanged)
            case .log(let line): report(.debug(line))
            case .warning(let line): report(.warning(line))
            }
        }
    }

    private var activity: Privacy.RadioActivity {
        if scanner.isQuiet, advertiser.isQuiet, initiator.isQuiet { return .quiet }
        return scanner.isChanging || advertiser.isChanging || !initiator.isQuiet ? .changing : .on
    }

    private mutating func takeEvents(at now: Instant) {
        while let event = synchronizer.nextEvent() {
            switch event {
            case .ended(let id, let error): report(.trainEnded(id, error))
            case .changed:
                // Before the next search begins, during which the list of peers may not be changed.
                (isSettled, arePeersStale) = (false, true)
            case .log(let line): report(.log(line))
            }
        }
        while let event = scanner.nextEvent() {
            switch event {
            case .ended(let id, let error): report(.scanEnded(id, error))
            case .searchEnded(.train, let error):
                synchronizer.fail(error)
                isSettled = false
            case .searchEnded(.peers, let error): peerSearchFailed(error, at: now)
            case .disallowedBesideConnecting:
                initiator.takeTurnsWithScans()
                isSettled = false
            case .changed:
                // A connection attempt may have waited for the accept list.
                isSettled = false
            case .note(let event): report(.note(event))
            case .log(let line): report(.log(line))
            }
        }
        takeAdvertiserEvents()
        takeInitiatorEvents()
        takePrivacyEvents(at: now)
    }

    private mutating func takeAdvertiserEvents() {
        while let event = advertiser.nextEvent() {
            switch event {
            case .started, .power, .updated, .ended, .offAir: report(.advertising(event))
            case .changed: isSettled = false
            case .log(let line): report(.log(line))
            case .warning(let line): report(.warning(line))
            }
        }
    }

    private mutating func takeInitiatorEvents() {
        while let event = initiator.nextEvent() {
            switch event {
            case .failed(let device, let error): report(.connectFailed(connecting.wanted(by: device), error))
            case .changed: isSettled = false
            case .log(let line): report(.log(line))
            case .warning(let line): report(.warning(line))
            }
        }
    }

    private mutating func endWaits(under surroundings: Surroundings) {
        let over = waits.filter { isAtRest($0.rest, under: surroundings) }
        guard !over.isEmpty else { return }
        waits.removeAll { wait in over.contains { $0.number == wait.number } }
        for wait in over { report(.rested(wait.number)) }
    }

    private func isAtRest(_ rest: Rest, under surroundings: Surroundings) -> Bool {
        switch rest {
        case .changes:
            // What a recovery interrupts cannot be ended before its end.
            !scanner.isChanging && !advertiser.isChanging && !synchronizer.isAsking
                && (!synchronizer.hasLeftovers || surroundings.isRecovering)
        case .connecting: initiator.isIdle
        case .pauses: !privacy.isPausing
        }
    }

    private mutating func report(_ event: Event) { outputs.append(.event(event)) }
}

// MARK: - What the machines see of each other

extension Radio {
    private func scannerConditions(_ surroundings: Surroundings, _ common: Common) -> Scanner.Conditions {
        Scanner.Conditions(
            limits: ScanConditions(
                hasExtendedFamily: common.controller.hasExtendedFamily,
                hiddenPeers: privacy.hiddenPeers(common),
                isConnecting: !initiator.wanted.isEmpty && !initiator.takesTurnsWithScans),
            isShared: common.isShared,
            isPaused: privacy.isPausing || common.isSuspended || initiator.silencesScans,
            isInitiating: !initiator.isQuiet, ownAddressType: ownAddressType(common),
            // The kernel sets its random address only when it needs it itself.
            randomAddress: common.isShared && common.identity.type == .random ? common.identity : nil,
            now: surroundings.now)
    }

    private func addressOnAir(_ common: Common) -> DeviceAddress { privacy.own ?? common.identity }

    private func ownAddressType(_ common: Common) -> OwnAddressType {
        addressOnAir(common).type == .public ? .public : .random
    }

    private func advertiserConditions(
        _ surroundings: Surroundings, _ common: Common
    ) -> Advertiser.Conditions {
        Advertiser.Conditions(
            controller: common.controller, isShared: common.isShared,
            isPaused: privacy.isPausing || common.isSuspended, isRecovering: surroundings.isRecovering,
            ownAddressType: ownAddressType(common),
            addressOnAir: ownAddressType(common) == .random ? addressOnAir(common) : nil,
            centrals: surroundings.centrals, links: surroundings.links, now: surroundings.now)
    }

    private func initiatorConditions(
        _ surroundings: Surroundings, _ common: Common
    ) -> Initiator.Conditions {
        Initiator.Conditions(
            hasExtendedFamily: common.controller.hasExtendedFamily, isPaused: privacy.isPausing,
            isRecovering: surroundings.isRecovering, isListFree: !scanner.usesAcceptList,
            isScanning: !scanner.isQuiet, ownAddressType: ownAddressType(common),
            // A scan beside the attempt receives packets, too.
            share: !scanner.isWanted || initiator.takesTurnsWithScans
                ? 1 : 1 - ScanConditions.shareBesideConnecting,
            now: surroundings.now)
    }
}

// MARK: - Requests

extension Radio {
    package mutating func scan(_ options: ScanOptions, at now: Instant) -> ScanID {
        isSettled = false
        return scanner.scan(options, at: now)
    }

    package mutating func end(_ id: ScanID, at now: Instant) {
        isSettled = false
        scanner.end(id, at: now)
    }

    /// Ends all scans and searches, and returns the scans.
    package mutating func endScans(at now: Instant) -> [ScanID] {
        isSettled = false
        return scanner.endAll(at: now)
    }

    /// Follows a train. The options are those of its first consumer.
    package mutating func follow(
        _ train: PeriodicSynchronizer.Train, _ options: PeriodicSyncOptions
    ) -> PeriodicSyncID {
        isSettled = false
        return synchronizer.follow(train, options)
    }

    /// Ends a consumer of a train. The last one ends the train, too.
    package mutating func end(_ id: PeriodicSyncID) {
        isSettled = false
        synchronizer.end(id)
    }

    /// Ends all consumers of trains. The trains are then terminated.
    package mutating func endTrains() {
        isSettled = false
        synchronizer.endAll()
    }

    /// Adds an advertisement, which is due while fewer than `maximumLinks` centrals are connected.
    ///
    /// - Throws: an error when the controller does not support the request; `BLEError.limit` when all its sets are in
    ///   use.
    package mutating func advertise(
        _ request: AdvertisingRequest, maximumLinks: Int, under surroundings: Surroundings, _ common: Common
    ) throws(BLEError) -> AdvertisingID {
        isSettled = false
        return try advertiser.advertise(
            request, maximumLinks: maximumLinks, under: advertiserConditions(surroundings, common))
    }

    /// Changes the request of an advertisement. A time limit that differs counts from now on.
    ///
    /// - Throws: an error when the controller does not support the request; `BLEError.invalidRequest` when the
    ///   advertisement has ended.
    package mutating func update(
        _ id: AdvertisingID, to request: AdvertisingRequest, under surroundings: Surroundings,
        _ common: Common
    ) throws(BLEError) -> AdvertisingUpdateID {
        isSettled = false
        return try advertiser.update(id, to: request, under: advertiserConditions(surroundings, common))
    }

    /// Ends an advertisement. `offAir` reports that it is off the air, also if it has ended before.
    package mutating func stop(_ id: AdvertisingID) {
        isSettled = false
        advertiser.stop(id)
    }

    /// Ends an advertisement whose caller no longer waits for its start.
    package mutating func giveUp(_ id: AdvertisingID) {
        isSettled = false
        advertiser.giveUp(id)
    }

    /// Ends all advertisements with this result.
    package mutating func endAdvertising(_ end: Result<AdvertisingEnd, BLEError>) {
        isSettled = false
        advertiser.endAll(end)
    }

    /// Returns whether one more advertisement would be refused because all sets are in use.
    package mutating func hasAllSetsInUse(under surroundings: Surroundings, _ common: Common) -> Bool {
        advertiser.isFull(under: advertiserConditions(surroundings, common))
    }

    /// Begins a wait, whose end `rested` reports, also when there is nothing to wait for.
    package mutating func wait(_ number: UInt64, for rest: Rest) { waits.append((number, rest)) }

    /// Ends a wait, which is then not reported.
    package mutating func cancelWait(_ number: UInt64) { waits.removeAll { $0.number == number } }
}

// MARK: - Devices to connect to

extension Radio {
    /// The devices that requests wait for, in the order of their oldest requests.
    package var wantedDevices: [DeviceAddress] { connecting.devices }

    /// Returns whether a request waits for a device.
    package func isWaiting(for device: DeviceAddress) -> Bool { connecting.isWaiting(for: device) }

    /// Returns whether a connect to a device has not returned: it waits for the device, or pauses between two attempts.
    package func isConnecting(to device: DeviceAddress) -> Bool { connecting.isConnecting(to: device) }

    /// Returns the options of the oldest request for a device.
    func firstOptions(for device: DeviceAddress) -> ConnectionOptions? {
        connecting.firstOptions(for: device)
    }

    /// Returns the ticket of a new request.
    package mutating func nextTicket() -> ConnectTicket { connecting.nextTicket() }

    /// Adds a request that waits for a device. Returns true when it is the first one: then `look` begins the search.
    package mutating func wait(
        _ request: ConnectState.Request, for device: DeviceAddress, at now: Instant
    ) -> Bool {
        let isFirst = connecting.wait(request, for: device)
        if !isFirst { searchPeers(at: now) }
        return isFirst
    }

    /// Removes a request. Returns its device if no other request waits for that device.
    package mutating func leave(_ ticket: ConnectTicket, at now: Instant) -> DeviceAddress? {
        let device = connecting.leave(ticket)
        searchPeers(at: now)
        return device
    }

    /// Ends the search for a device. Returns the requests that waited for it.
    package mutating func giveUp(_ device: DeviceAddress, at now: Instant) -> [ConnectState.Request] {
        defer { endLook(for: device, at: now) }
        return connecting.remove(device)
    }

    /// Drops all requests to connect.
    package mutating func dropRequests() { connecting.end() }

    /// Moves the requests for a device to its other address, which has become known.
    package mutating func rename(_ old: DeviceAddress, _ new: DeviceAddress, at now: Instant) {
        connecting.rename(old, new)
        endLook(for: old, at: now)
    }

    /// Records that a connect to a device begins a pause between two attempts.
    package mutating func beginPause(before device: DeviceAddress) { connecting.beginPause(before: device) }

    package mutating func endPause(before device: DeviceAddress) { connecting.endPause(before: device) }

    /// Returns whether a device is searched for.
    package func isLooking(for device: DeviceAddress) -> Bool {
        connecting.isSearching(for: device) || initiator.wanted.contains(device)
    }

    /// Searches for a device. The controller listens for its address, and connects. If the controller does not know a
    /// peer's private addresses, the host scans, and gives the controller the address that it receives.
    package mutating func look(for device: DeviceAddress, _ common: Common, at now: Instant) {
        if privacy.hiddenPeers(common)?.contains(device) == true {
            forget(device)
            connecting.search(for: device)
        } else {
            endSearch(for: device)
            connect(to: device)
            privacy.trustController(toFind: device, at: now)
        }
        searchPeers(at: now)
    }

    private mutating func endLook(for device: DeviceAddress, at now: Instant) {
        endSearch(for: device)
        forget(device)
        searchPeers(at: now)
    }

    /// Ends the host's search for a peer.
    private mutating func endSearch(for peer: DeviceAddress) {
        for address in connecting.endSearch(for: peer) { forget(address) }
    }

    /// Updates the scan for the peers that the host searches for, whose pace slows down when its requests are patient.
    private mutating func searchPeers(at now: Instant) {
        isSettled = false
        scanner.search(.peers, connecting.search(at: now), at: now)
    }

    /// Starts a scan for peers that the controller should have found by their keys: they may be out of range, or the
    /// controller does not resolve.
    private mutating func helpController(at now: Instant) {
        for peer in connecting.devices where controllerHasKey(of: peer) && isLooking(for: peer) {
            connecting.search(for: peer)
        }
        searchPeers(at: now)
    }

    /// Handles a refused scan for peers. The controller may still find those that it searches for, too.
    private mutating func peerSearchFailed(_ error: BLEError, at now: Instant) {
        for peer in connecting.endSearches() {
            if initiator.wanted.contains(peer) {
                endSearch(for: peer)
                connect(to: peer)
            } else {
                report(.connectFailed(peer, error))
            }
        }
        searchPeers(at: now)
    }

    /// Handles a report that was received during a search: a peer that is searched for can be connected to by this
    /// address.
    private mutating func consider(_ address: DeviceAddress, of hidden: DeviceAddress?) {
        let peer = hidden ?? address
        guard let before = connecting.find(peer, as: address) else { return }
        // The peer no longer uses its earlier addresses.
        for old in before { forget(old) }
        report(.debug("\(peer) is \(address)"))
        connect(to: address)
    }

    /// Adds a device to connect to.
    package mutating func connect(to device: DeviceAddress) {
        isSettled = false
        initiator.add(device)
    }

    /// Removes a device from those to connect to.
    package mutating func forget(_ device: DeviceAddress) {
        isSettled = false
        initiator.forget(device)
    }
}

// MARK: - State

extension Radio {
    /// Whether there is a scan or a search.
    package var isScanWanted: Bool { scanner.isWanted }
    /// Whether the controller does not scan for this host, and is not about to.
    package var isScanQuiet: Bool { scanner.isQuiet }
    /// Whether no set of this host is on air, may be on air, or is about to be.
    package var isAdvertiserQuiet: Bool { advertiser.isQuiet }
    /// Whether a device may connect to this one now.
    package var isConnectable: Bool { advertiser.isConnectable }
    /// The sets that this host uses.
    package var sets: some Collection<AdvertisingHandle> { advertiser.sets }
    /// Whether the controller is not connecting.
    package var isInitiatorQuiet: Bool { initiator.isQuiet }
    /// Whether the controller is not connecting, and no device is to be connected to.
    package var isInitiatorIdle: Bool { initiator.isIdle }
    /// Returns whether the controller is to connect to a device.
    package func isInitiating(to device: DeviceAddress) -> Bool { initiator.wanted.contains(device) }
    /// Whether the controller searches for a train, or may do so.
    package var isSearchingForTrain: Bool { synchronizer.isSearching }
    /// The statistics of the table of devices.
    package var statistics: ScanStatistics { scanner.statistics }

    /// Returns a name that a device advertises, if it is remembered.
    package func name(of address: DeviceAddress) -> String? { scanner.name(of: address) }

    /// The commands that end at once what may be on.
    package var abandonment: [HCICommandPacket] {
        (scanner.abandonment.map { [$0] } ?? []) + advertiser.abandonment + synchronizer.abandonment
    }
}

// MARK: - The controller

extension Radio {
    /// Handles the answer to a machine's command, or the lack of one.
    package mutating func answered(
        _ answer: CommandAnswer, to machine: Machine, under surroundings: Surroundings, _ common: Common
    ) {
        isSettled = false
        switch machine {
        case .scanner: scanner.answered(answer, under: scannerConditions(surroundings, common), &acceptList)
        case .privacy(let number): privacy.answered(answer, to: number, at: surroundings.now)
        case .advertiser: advertiser.answered(answer, under: advertiserConditions(surroundings, common))
        case .initiator:
            initiator.answered(answer, under: initiatorConditions(surroundings, common), &acceptList)
        case .synchronizer:
            synchronizer.answered(answer, isRecovering: surroundings.isRecovering, at: surroundings.now)
        }
    }

    /// Records that the controller was reset, and that its accept list has room for `capacity` devices.
    package mutating func acceptListWasReset(holding capacity: Int) {
        isSettled = false
        acceptList.wasReset(holding: capacity)
        initiator.controllerWasReset(capacity: capacity)
    }

    /// Handles the outcome of the claim on a set: false when another process uses it.
    package mutating func claimed(_ set: AdvertisingHandle, isOurs: Bool) {
        // A claim is not one of the machines' rounds; there are as many as the controller has sets.
        (isSettled, rounds) = (false, rounds - 1)
        advertiser.claimed(set, isOurs: isOurs)
    }

    /// Handles the end of a set by the controller.
    package mutating func terminated(_ event: LEAdvertisingSetTerminated) {
        isSettled = false
        advertiser.terminated(event.set, event.status, events: event.completedEvents)
    }

    /// Handles the end of the legacy commands' advertising by the controller: by a connection, or at its time limit.
    package mutating func legacyAdvertisingTerminated(_ status: HCIStatus) {
        isSettled = false
        advertiser.legacyTerminated(status)
    }

    /// Handles the end of a link: advertisements that were refused are tried again.
    package mutating func linkEnded() {
        isSettled = false
        advertiser.linkEnded()
    }

    /// Handles a link that this host established as the central to a device that is known by these names. Returns the
    /// device for which the attempt was, which is then no longer one to connect to.
    package mutating func connected(
        to reported: DeviceAddress, as names: [DeviceAddress], _ common: inout Common
    ) -> DeviceAddress {
        isSettled = false
        let connecting = connecting
        let device = initiator.connected { address in
            names.contains(address) || names.contains(connecting.wanted(by: address))
                || names.contains(common.identity(behind: address))
        }
        return common.identity(behind: connecting.wanted(by: device ?? reported))
    }

    /// Handles an attempt that ended without a link.
    package mutating func connectFailed(_ status: HCIStatus) {
        isSettled = false
        initiator.failed(status)
    }

    /// Handles the recovery of the controller. One that was reset does nothing any more; another one may still do what
    /// it was commanded before.
    package mutating func controllerIsBack(wasReset: Bool) {
        isSettled = false
        if wasReset {
            scanner.controllerWasReset()
            advertiser.controllerWasReset()
            synchronizer.controllerWasReset()
        } else {
            scanner.controllerIsBack()
            advertiser.controllerIsBack()
            synchronizer.controllerIsBack()
        }
    }

    /// Handles a command of another program on a shared controller.
    package mutating func foreignCommand(_ command: Span<UInt8>, isRecovering: Bool, at now: Instant) {
        isSettled = false
        scanner.foreignCommand(command, isRecovering: isRecovering, at: now)
        advertiser.foreignCommand(command, isRecovering: isRecovering, at: now)
    }

    /// Handles the advertising reports of an event. Returns false when the packet is something else. The reports before a
    /// malformed one are delivered.
    ///
    /// - Parameter deliver: is called with each advertisement that passes a scan's filter. It may not use the radio.
    package mutating func receive(
        _ packet: Span<UInt8>, at now: Instant, _ common: inout Common,
        deliver: (ScanID, Advertisement) -> Void
    ) throws(DecodeError) -> Bool {
        let isSearching = connecting.isSearching
        defer { if privacy.hasEvents || !found.isEmpty { isSettled = false } }
        return try Self.receive(packet, &scanner, &privacy, &common, at: now) { report, peer in
            guard isSearching, report.type.contains(.connectable), let address = report.address else {
                return
            }
            found.append((address, peer))
        } deliver: {
            deliver($0, $1)
        }
    }

    private static func receive(
        _ packet: Span<UInt8>, _ scanner: inout Scanner, _ privacy: inout Privacy, _ common: inout Common,
        at now: Instant, found: (AdvertisingReport, DeviceAddress?) -> Void,
        deliver: (ScanID, Advertisement) -> Void
    ) throws(DecodeError) -> Bool {
        try scanner.receive(packet, at: now) { report in
            let hidden =
                privacy.knowsHiddenPeers
                ? privacy.hiddenPeer(of: report) { common.record(behind: $0)?.bond.peer } : nil
            found(report, hidden)
            return hidden
        } deliver: {
            deliver($0, $1)
        }
    }

    /// Handles the outcome of the search for a train.
    package mutating func established(_ event: LEPeriodicAdvertisingSyncEstablished) {
        isSettled = false
        synchronizer.established(event)
    }

    /// Handles the loss of a train.
    package mutating func lost(_ event: LEPeriodicAdvertisingSyncLost) {
        isSettled = false
        synchronizer.lost(event)
    }

    /// Handles a report of a train, and delivers the data to its consumers once they are complete.
    package mutating func receive(
        _ report: LEPeriodicAdvertisingReport, at now: Instant,
        deliver: (PeriodicSyncID, PeriodicAdvertisement) -> Void
    ) {
        synchronizer.receive(report, at: now, deliver: deliver)
    }
}

// MARK: - Private addresses

extension Radio {
    package var privacyOptions: PrivacyOptions { privacy.options }
    /// The private address that is on air in place of the identity; nil without privacy.
    package var privateAddress: DeviceAddress? { privacy.own }
    /// Whether a change of addresses silences the radio.
    package var isPausing: Bool { privacy.isPausing }

    /// Returns whether the controller resolves a peer's private addresses.
    package func controllerHasKey(of peer: DeviceAddress) -> Bool { privacy.controllerHasKey(of: peer) }

    /// Notes that the controller has resolved an address.
    package mutating func controllerResolved() { privacy.controllerResolved() }

    /// Notes that bonds were made, removed or used.
    package mutating func peersChanged() { (isSettled, arePeersStale) = (false, true) }

    /// Takes over the peers whose private addresses the controller can resolve.
    package mutating func setPeers(_ common: Common) {
        arePeersStale = false
        privacy.setPeers(
            common.bonds.recordsByAddress(at: common.identity),
            localKey: privacy.options.isEnabled ? common.localIdentity.identityKey : 0,
            knowsHidden: common.bonds.knowsHiddenPeers(of: common.identity))
    }

    /// Handles a reset of the controller: its list is empty and can hold `listSize` peers, and this host's address has to
    /// be set again.
    package mutating func privacyWasReset(listSize: Int, at now: Instant) {
        privacy.controllerWasReset(listSize: listSize, at: now)
    }

    /// Returns the next command that sets up private addresses on a controller that is idle; nil when that is done.
    package mutating func nextSetupCommand(
        at now: Instant, _ common: inout Common
    ) throws(BLEError) -> MachineCommand? {
        try privacy.nextSetupCommand(at: now) { common.newPrivateAddress() }
    }

    package mutating func setupAnswered(_ answer: CommandAnswer, at now: Instant) {
        privacy.answered(answer, to: privacy.lastCommand, at: now)
    }
}

// MARK: - Time

extension Radio {
    /// Returns the time at which `expire` is to be called. Scans and connects wait for the recovery of the controller; the
    /// time limit of a search for a train, and the pace of a search for peers, do not.
    package func deadline(isRecovering: Bool) -> Instant? {
        let always = earlier(synchronizer.deadline, connecting.searchPaceEnd)
        guard !isRecovering else { return always }
        return earlier(
            earlier(privacy.deadline, earlier(initiator.deadline, advertiser.deadline)),
            earlier(scanner.deadline, always))
    }

    /// Handles everything that is due.
    package mutating func expire(under surroundings: Surroundings, _ common: Common) {
        isSettled = false
        let now = surroundings.now
        func isDue(_ deadline: Instant?) -> Bool { deadline.map { $0 <= now } ?? false }
        if isDue(connecting.searchPaceEnd) { searchPeers(at: now) }
        if !surroundings.isRecovering {
            if isDue(privacy.deadline) {
                arePeersStale = true
                privacy.expire(at: now)
            }
            if isDue(initiator.deadline) { initiator.expire(at: now) }
            if isDue(advertiser.deadline) { advertiser.expire(at: now) }
            if isDue(scanner.deadline) {
                scanner.expire(under: scannerConditions(surroundings, common), acceptList)
            }
        }
        if isDue(synchronizer.deadline) { synchronizer.expire(at: now) }
    }
}
