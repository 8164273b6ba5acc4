import BLECore
import DequeModule
import HCI

/// What the radio of a controller receives for this host: scans, periodic trains, and the devices to which it connects.
/// The machines of these share the radio and the accept list, and none of them knows another: what one of them requires
/// of another is passed on here.
///
/// Any input can change what is required. The owner then settles: it asks for the next output until there is none.
///
/// ```swift
/// let id = radio.scan(options, at: now)
/// while let output = radio.next(under: surroundings) { handle(output) }
/// radio.answered(answer, to: .scanner, under: surroundings)
/// while let output = radio.next(under: surroundings) { handle(output) }
/// // Run `expire` at `deadline`.
/// ```
package struct Radio: Sendable {
    /// The state of the rest of the host on which the radio depends.
    package struct Surroundings {
        package var hasExtendedFamily = false
        /// Returns whether a device can use private addresses that the controller does not know.
        package var isKnownToHostAlone: (DeviceAddress) -> Bool = { _ in false }
        /// Returns the requests that wait for one of the devices to which the controller connects, oldest first.
        package var requests: (Set<DeviceAddress>) -> [ConnectState.Request] = { _ in [] }
        /// Whether other programs use the controller as well.
        package var isShared = false
        /// Whether the controller is being recovered: then nothing is commanded.
        package var isRecovering = false
        /// Whether a change of addresses needs the radio to be silent.
        package var isPausing = false
        /// Whether the system sleeps, or is about to.
        package var isSuspended = false
        /// The type of the address that requests to scan and to connect carry.
        package var ownAddressType = OwnAddressType.public
        /// The random address to set before a scan; the kernel sets it only when it needs it itself.
        package var randomAddress: DeviceAddress?
        package var now = Instant.zero
    }

    package enum Machine: Hashable, Sendable {
        case scanner, synchronizer, initiator
    }

    package enum Event: Sendable {
        /// The controller refuses to scan as this scan requires.
        case scanEnded(ScanID, BLEError)
        case peerSearchEnded(BLEError)
        /// The train is no longer followed, or no longer searched for.
        case trainEnded(PeriodicSyncID, BLEError)
        /// The device cannot be connected to, and is no longer requested.
        case connectFailed(DeviceAddress, BLEError)
        /// A change of the radio has ended: activities that had to wait for that can continue.
        case changed(Machine)
        case note(AdapterHealthEvent)
        case log(String)
        /// For the log: the controller does not behave as it should.
        case warning(String)
    }

    package enum Output: Sendable {
        /// A command to send. Its answer, or the lack of one, is passed to `answered`.
        case command(MachineCommand, Machine)
        case event(Event)
    }

    private var scanner: Scanner
    private var synchronizer = PeriodicSynchronizer()
    private var initiator = Initiator()
    private var acceptList = AcceptList()
    private var outputs = Deque<Output>()
    /// Whether the machines require nothing more of each other and of the controller.
    private var isSettled = true
    /// The number of times that the machines were asked since they were settled.
    private var rounds = 0

    /// More rounds than any input requires: the machines contradict each other.
    private static let roundLimit = 8

    /// Creates the radio of a controller that has received no commands yet; `limit` is the maximum number of devices
    /// that scans remember.
    package init(remembering limit: Int) { scanner = Scanner(remembering: limit) }
}

extension Radio.Surroundings {
    /// Creates the surroundings of a host that does nothing else.
    package init(at now: Instant) { self.init(hasExtendedFamily: false, now: now) }
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
    package mutating func next(under surroundings: Surroundings) -> Output? {
        while true {
            if let output = outputs.popFirst() { return output }
            takeEvents()
            guard outputs.isEmpty else { continue }
            guard !isSettled else {
                rounds = 0
                return nil
            }
            guard rounds < Self.roundLimit else { return nil }
            (isSettled, rounds) = (true, rounds + 1)
            ask(under: surroundings)
        }
    }

    /// Asks each machine for its next command. A search for a train follows the scan that it needs: the controller finds
    /// a train only while it scans (Core Specification 5.4, Vol 4, Part E, 7.8.67).
    private mutating func ask(under surroundings: Surroundings) {
        let now = surroundings.now
        let isRecovering = surroundings.isRecovering
        let search =
            isRecovering ? nil : synchronizer.nextCommand(isPaused: surroundings.isPausing, at: now)
        scanner.search(.train, synchronizer.scan, at: now)
        initiator.share(withScan: scanner.isWanted, at: now)
        if !isRecovering,
            let command = scanner.nextCommand(under: scannerConditions(surroundings), &acceptList)
        {
            outputs.append(.command(command, .scanner))
        }
        if let search { outputs.append(.command(search, .synchronizer)) }
        if !isRecovering {
            let wasForConnecting = acceptList.isForConnecting
            if let command = initiator.nextCommand(
                under: initiatorConditions(surroundings), &acceptList, for: surroundings.requests)
            {
                outputs.append(.command(command, .initiator))
            }
            // A scan that filters by the list has to continue without it, or can use it again.
            if wasForConnecting != acceptList.isForConnecting { isSettled = false }
        }
        takeInitiatorEvents()
    }

    private mutating func takeEvents() {
        while let event = synchronizer.nextEvent() {
            switch event {
            case .ended(let id, let error): report(.trainEnded(id, error))
            case .changed: report(.changed(.synchronizer))
            case .log(let line): report(.log(line))
            }
        }
        while let event = scanner.nextEvent() {
            switch event {
            case .ended(let id, let error): report(.scanEnded(id, error))
            case .searchEnded(.train, let error):
                synchronizer.fail(error)
                isSettled = false
            case .searchEnded(.peers, let error): report(.peerSearchEnded(error))
            case .disallowedBesideConnecting:
                initiator.takeTurnsWithScans()
                isSettled = false
            case .changed:
                report(.changed(.scanner))
                // A connection attempt may have waited for the accept list.
                isSettled = false
            case .note(let event): report(.note(event))
            case .log(let line): report(.log(line))
            }
        }
    }

    private mutating func takeInitiatorEvents() {
        while let event = initiator.nextEvent() {
            switch event {
            case .failed(let device, let error): report(.connectFailed(device, error))
            case .changed:
                report(.changed(.initiator))
                isSettled = false
            case .log(let line): report(.log(line))
            case .warning(let line): report(.warning(line))
            }
        }
    }

    private mutating func report(_ event: Event) { outputs.append(.event(event)) }
}

// MARK: - What the machines see of each other

extension Radio {
    private func scannerConditions(_ surroundings: Surroundings) -> Scanner.Conditions {
        Scanner.Conditions(
            limits: ScanConditions(
                hasExtendedFamily: surroundings.hasExtendedFamily,
                isKnownToHostAlone: surroundings.isKnownToHostAlone,
                isConnecting: !initiator.wanted.isEmpty && !initiator.takesTurnsWithScans),
            isShared: surroundings.isShared,
            isPaused: surroundings.isPausing || surroundings.isSuspended || initiator.silencesScans,
            isInitiating: !initiator.isQuiet, ownAddressType: surroundings.ownAddressType,
            randomAddress: surroundings.randomAddress, now: surroundings.now)
    }

    private func initiatorConditions(_ surroundings: Surroundings) -> Initiator.Conditions {
        Initiator.Conditions(
            hasExtendedFamily: surroundings.hasExtendedFamily, isPaused: surroundings.isPausing,
            isRecovering: surroundings.isRecovering, isListFree: !scanner.usesAcceptList,
            isScanning: !scanner.isQuiet, ownAddressType: surroundings.ownAddressType,
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

    /// Starts or changes the search for peers whose addresses only the host knows; nil ends it.
    package mutating func searchPeers(_ options: ScanOptions?, at now: Instant) {
        isSettled = false
        scanner.search(.peers, options, at: now)
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
    /// Whether the controller is starting or ending a scan of this host.
    package var isScanChanging: Bool { scanner.isChanging }
    /// Whether the controller is not connecting.
    package var isInitiatorQuiet: Bool { initiator.isQuiet }
    /// Whether the controller is not connecting, and no device is to be connected to.
    package var isInitiatorIdle: Bool { initiator.isIdle }
    /// Returns whether a device is to be connected to.
    package func isConnecting(to device: DeviceAddress) -> Bool { initiator.wanted.contains(device) }
    /// Whether the controller searches for a train, or may do so.
    package var isSearchingForTrain: Bool { synchronizer.isSearching }
    /// Whether a command about trains is unanswered, or a search or a train is to be ended, which cannot be done while
    /// the controller is being recovered.
    package func isEndingTrains(isRecovering: Bool) -> Bool {
        synchronizer.isAsking || synchronizer.hasLeftovers && !isRecovering
    }

    /// The statistics of the table of devices.
    package var statistics: ScanStatistics { scanner.statistics }

    /// Returns a name that a device advertises, if it is remembered.
    package func name(of address: DeviceAddress) -> String? { scanner.name(of: address) }

    /// The commands that end at once what may be on.
    package var abandonment: [HCICommandPacket] {
        (scanner.abandonment.map { [$0] } ?? []) + synchronizer.abandonment
    }
}

// MARK: - The controller

extension Radio {
    /// Handles the answer to a machine's command, or the lack of one.
    package mutating func answered(
        _ answer: CommandAnswer, to machine: Machine, under surroundings: Surroundings
    ) {
        isSettled = false
        switch machine {
        case .scanner: scanner.answered(answer, under: scannerConditions(surroundings), &acceptList)
        case .initiator: initiator.answered(answer, under: initiatorConditions(surroundings), &acceptList)
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

    /// Handles a link that this host established as the central. Returns its device, which is then no longer one to
    /// connect to; nil when no attempt was for it.
    package mutating func connected(_ isPeer: (DeviceAddress) -> Bool) -> DeviceAddress? {
        isSettled = false
        return initiator.connected(isPeer)
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
            synchronizer.controllerWasReset()
        } else {
            scanner.controllerIsBack()
            synchronizer.controllerIsBack()
        }
    }

    /// Handles a command of another program on a shared controller.
    package mutating func foreignCommand(_ command: Span<UInt8>, isRecovering: Bool, at now: Instant) {
        scanner.foreignCommand(command, isRecovering: isRecovering, at: now)
    }

    /// Handles the advertising reports of an event, as `Scanner.receive` does. Neither closure may use the radio.
    package mutating func receive(
        _ packet: Span<UInt8>, at now: Instant, identify: (AdvertisingReport) -> DeviceAddress?,
        deliver: (ScanID, Advertisement) -> Void
    ) throws(DecodeError) -> Bool {
        try scanner.receive(packet, at: now, identify: identify, deliver: deliver)
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

// MARK: - Time

extension Radio {
    /// Returns the time at which `expire` is to be called. Scans and connects wait for the recovery of the controller; the
    /// time limit of a search for a train does not.
    package func deadline(isRecovering: Bool) -> Instant? {
        isRecovering
            ? synchronizer.deadline
            : earlier(initiator.deadline, earlier(scanner.deadline, synchronizer.deadline))
    }

    /// Handles everything that is due.
    package mutating func expire(under surroundings: Surroundings) {
        isSettled = false
        let now = surroundings.now
        func isDue(_ deadline: Instant?) -> Bool { deadline.map { $0 <= now } ?? false }
        if !surroundings.isRecovering {
            if isDue(initiator.deadline) { initiator.expire(at: now) }
            if isDue(scanner.deadline) { scanner.expire(under: scannerConditions(surroundings), acceptList) }
        }
        if isDue(synchronizer.deadline) { synchronizer.expire(at: now) }
    }
}
