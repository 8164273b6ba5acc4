import ATT
import BLECore
import DequeModule
import GATTClient

/// The GATT client of this host on one link: its requests, what it knows of the server at the other end, and the
/// subscribers of the server's values (Core Specification 5.4, Vol 3, Part G).
///
/// Procedures run one after the other, in the order of their submission; commands do not wait for them. Handles
/// of an earlier state of the database are not sent: an operation with such handles waits for a discovery, or
/// fails.
///
/// ```swift
/// let ticket = connection.session.run(ReadLongValue(0x0003))
/// // In the loop that moves the connection's events and frames:
/// while let event = connection.session.nextEvent() {
///     if case .finished(ticket.id, let outcome) = event { print(outcome.result(of: ticket)) }
/// }
/// ```
/// The `GATTConnection` sends its requests and commands. The owner remembers the databases of all peers; the
/// session asks it for them by events.
package struct ClientSession: Sendable {
    /// Names what was known of the server's database at some time: what is found by several requests is of
    /// one state only if none of them was followed by a change.
    package struct DatabaseState: Hashable, Sendable {
        fileprivate let changes: Int
    }

    /// What is to be done when its turn has come.
    private struct Operation: Sendable {
        enum Work: Sendable {
            case procedure(any GATTProcedure)
            /// To write the configuration that a characteristic's subscribers want by then.
            case configuration(RemoteCharacteristic)
        }

        let id: TicketID
        let work: Work
        var handles: [CheckedHandle] = []
        var raisesSecurity = true
        /// Whether only the session itself waits for it.
        var isOwn = false
    }

    /// The operation whose turn it is.
    private struct Running: Sendable {
        enum Phase: Sendable {
            /// Its next step is to be taken.
            case ready
            /// Its request waits for the answer.
            case asking
            /// The server refused for want of security.
            case securing(ATTErrorResponse)
        }

        let operation: Operation
        /// The procedure as it was in the beginning.
        let original: any GATTProcedure
        var procedure: any GATTProcedure
        var phase = Phase.ready
        /// Whether the server has answered something.
        var isAnswered = false
        /// The handles at which it wanted more security, and the link has got more.
        var raisedAt: Set<AttributeHandle> = []
        /// The characteristic's configuration at the server before this operation writes another.
        var configurationBefore: WrittenConfiguration?

        init(_ operation: Operation, _ procedure: any GATTProcedure) {
            self.operation = operation
            (original, self.procedure) = (procedure, procedure)
        }
    }

    /// The configuration of a characteristic that was last written to the server.
    private enum WrittenConfiguration: Hashable, Sendable {
        case known(ClientCharacteristicConfiguration)
        /// A write of it has got no answer.
        case unknown
    }

    /// A command that waits for room; without one, a caller that waits for room.
    private struct WaitingCommand: Sendable {
        let id: TicketID
        let command: ATTCommand?
        let handles: [CheckedHandle]
    }

    /// A procedure or request that waits for the database.
    private enum Waiting: Sendable {
        case database(TicketID)
        case location(TicketID)
        case operation(Operation)
        case command(WaitingCommand)

        var id: TicketID {
            switch self {
            case .database(let id), .location(let id): id
            case .operation(let operation): operation.id
            case .command(let command): command.id
            }
        }

        var isForDatabase: Bool { if case .database = self { true } else { false } }
    }

    /// A discovery of the whole database. It is begun anew when the database changes meanwhile.
    private struct Discovery: Sendable {
        enum Step: Sendable {
            case readingHash(Ticket<[UInt8]?>)
            /// The owner is asked for the database with this hash.
            case recalling(hash: [UInt8]?)
            case walking(Ticket<RemoteDatabase>, hash: [UInt8]?)
            /// The owner is given what was found.
            case adopting
            case writingFeatures(Ticket<Void>)
            case askingForChanges(Ticket<Void>)

            /// The operation that the step waits for.
            var operation: TicketID? {
                switch self {
                case .readingHash(let ticket): ticket.id
                case .walking(let ticket, _): ticket.id
                case .writingFeatures(let ticket), .askingForChanges(let ticket): ticket.id
                case .recalling, .adopting: nil
                }
            }
        }

        /// Whether what is remembered will not do.
        let isRefreshing: Bool
        /// Whether the database is found, and only writes to the server that follow from it remain.
        var isAdopted: Bool {
            switch step {
            case .writingFeatures, .askingForChanges: true
            case .readingHash, .recalling, .walking, .adopting: false
            }
        }
        /// The state of the database when the round began.
        var state: DatabaseState
        var step: Step
        var rounds = 1
        var waiting: [Waiting]
        /// Those who asked for a fresh discovery when this one was under way.
        var refreshing: [Waiting] = []
    }

    private let link: UInt64
    private var lastTicket: UInt64 = 0
    private var events = Deque<Event>()
    /// Why nothing is asked any more.
    private var endedBy: GATTFailure?

    // What is asked.
    private var operations = Deque<Operation>()
    private var running: Running?
    /// What makes the server forget procedures that were given up.
    private var undoing = Deque<ATTRequest>()
    private var commands = Deque<WaitingCommand>()
    private var discovery: Discovery?

    // What the last discovery found, and whether the server has said since then that it is not true any more.
    private var database: RemoteDatabase?
    private var isStale = false
    /// What was found of the database by looking for some services only.
    private var partial: DatabaseGeneration?
    /// How often the server said that its database has changed.
    private var changes = 0
    /// The value of Service Changed, and the session's own subscription to it.
    private var serviceChanged: AttributeHandle?
    private var ownSubscription: SubscriptionID?
    /// Whether the server knows what this client can do.
    private var hasWrittenFeatures = false

    private struct Subscription: Sendable {
        let characteristic: RemoteCharacteristic
        /// Whether an indication is confirmed only when the subscriber has taken it.
        let holdsConfirmation: Bool
    }

    /// The subscribers of each value; the session itself is among them, for Service Changed.
    private var table = SubscriptionTable()
    private var subscriptions: [SubscriptionID: Subscription] = [:]
    /// The configurations last written, by the value's handle; for other handles none was written.
    private var written: [AttributeHandle: WrittenConfiguration] = [:]
    private var early = UnclaimedValues()
    private var held = PendingConfirmations()
    private var confirmationsOwed = 0

    /// A session on a link that has just come up, whose tickets have its number.
    init(link: UInt64) { self.link = link }
}

// MARK: - Events

extension ClientSession {
    /// What a session reports to its owner.
    package enum Event: Sendable {
        /// An operation has come to its end.
        case finished(TicketID, Outcome<GATTFailure>)
        /// The server refused an operation with that code; `securityEnded(_:for:)` says what became of it.
        case securityWanted(TicketID, ATTErrorCode)
        /// A discovery needs the database that is remembered of this server, if it has that hash;
        /// `remember(_:for:)` gives it.
        case databaseWanted(hash: [UInt8]?)
        /// A discovery is complete, or the remembered database is current. The owner passes it to
        /// `adopt(_:of:in:)`.
        case databaseFound(RemoteDatabase)
        /// The server's database has changed among these handles: what is remembered of it is not true any more.
        case databaseChanged(AttributeRange)
        /// The server sent a value by itself, for these subscribers, in the order in which they subscribed;
        /// for none when it is early, or unwanted.
        case value(ReceivedValue, to: [SubscriptionID])
        /// The subscription has ended: values with its handle may now be those of another attribute.
        case subscriptionEnded(SubscriptionID, GATTFailure)
        /// A discovery goes on in spite of a problem.
        case discoveryNote(DiscoveryNote)
    }

    /// What a discovery came upon, for a log.
    package enum DiscoveryNote: Sendable {
        /// The server's database hash could not be read.
        case noHash(GATTFailure)
        /// The server has refused the features that this client supports.
        case featuresRefused(GATTFailure)
        /// Service Changed could not be subscribed to.
        case changesRefused(GATTFailure)
        /// The database has changed meanwhile, as the failure says if there is one: it is begun anew.
        case begunAnew(GATTFailure?)
    }

    /// Returns the next event, oldest first.
    package mutating func nextEvent() -> Event? { events.popFirst() }

    var hasEvents: Bool { !events.isEmpty }

    mutating func open<Value>(_: Value.Type = Value.self) -> Ticket<Value> {
        lastTicket &+= 1
        return Ticket(TicketID(link: link, number: lastTicket))
    }

    mutating func finish(_ id: TicketID, _ result: Result<any Sendable, GATTFailure>) {
        events.append(.finished(id, Outcome(result)))
    }
}

// MARK: - Operations

extension ClientSession {
    /// Runs a procedure when its turn has come.
    ///
    /// - Parameters:
    ///   - handles: the handles in it. Before each request they are checked to be of the present state of the database.
    ///   - raisesSecurity: whether it is begun anew, once, on a more secure link when the server refuses it for want of
    ///     security.
    package mutating func run<Procedure: GATTProcedure>(
        _ procedure: Procedure, about handles: [CheckedHandle] = [], raisesSecurity: Bool = true
    ) -> Ticket<Procedure.Output> {
        let ticket = open(Procedure.Output.self)
        submit(
            Operation(
                id: ticket.id, work: .procedure(procedure), handles: handles, raisesSecurity: raisesSecurity))
        return ticket
    }

    /// Offers the MTU of this side to the server, before the procedures that wait.
    mutating func exchangeMTU(_ mtu: ATTMTU) -> Ticket<Void> {
        let ticket = open(Void.self)
        let work = Operation.Work.procedure(ExchangeMTU(mtu))
        if let endedBy {
            finish(ticket.id, .failure(endedBy))
        } else {
            operations.prepend(Operation(id: ticket.id, work: work, raisesSecurity: false))
        }
        return ticket
    }

    /// Writes, when the turn has come, the configuration that all subscribers of a characteristic want together, unless
    /// the server has it (Core Specification 5.4, Vol 3, Part G, 3.3.3.3). It is computed at that time, so that the
    /// last change holds, however subscribing and unsubscribing follow each other.
    package mutating func configure(_ characteristic: RemoteCharacteristic) -> Ticket<Void> {
        let ticket = open(Void.self)
        let handles = [CheckedHandle(characteristic)]
        submit(Operation(id: ticket.id, work: .configuration(characteristic), handles: handles))
        return ticket
    }

    /// Whether procedures run or wait for their turn. Those that wait for a discovery do not count.
    package var isAsking: Bool { running != nil || !operations.isEmpty }

    /// Returns the database of the server: the known one if it is certain to be current, else the one that a
    /// discovery finds. Calls during a discovery wait for the same discovery.
    ///
    /// - Parameter isRefreshing: whether it is discovered in any case.
    package mutating func discover(refreshing isRefreshing: Bool = false) -> Submission<RemoteDatabase> {
        if !isRefreshing, discovery == nil, let known = currentDatabase { return .done(known) }
        let ticket = open(RemoteDatabase.self)
        wait(.database(ticket.id), refreshing: isRefreshing)
        return .pending(ticket)
    }

    /// Checks handles that are of an earlier link by a discovery: only that shows whether they may be used.
    package mutating func locate(_ handles: [CheckedHandle]) -> Submission<Void> {
        guard needsDiscovery(for: handles) else { return .done(()) }
        let ticket = open(Void.self)
        wait(.location(ticket.id))
        return .pending(ticket)
    }

    /// Throws when one of the handles is of a state of the database that is gone.
    package func check(_ handles: [CheckedHandle]) throws(GATTFailure) {
        for each in handles where !isCurrent(each.generation) { throw .databaseChanged(each.handle) }
    }

    /// Continues an operation that waits for more security, by the outcome of the attempt to raise it.
    package mutating func securityEnded(_ end: SecurityRaise, for id: TicketID) {
        guard let current = running, current.operation.id == id, case .securing(let refusal) = current.phase
        else { return }
        switch end {
        case .raised:
            var again = Running(current.operation, current.original)
            again.raisedAt = current.raisedAt.union([refusal.handle])
            again.configurationBefore = current.configurationBefore
            running = again
        case .unavailable: conclude(.failure(.procedure(.att(refusal))))
        case .failed(let error): conclude(.failure(.security(error)))
        }
    }

    /// The operation that waits for a more secure link.
    package var securing: TicketID? {
        guard let running, case .securing = running.phase else { return nil }
        return running.operation.id
    }

    /// Begins an operation, or has it wait for the database.
    private mutating func submit(_ operation: Operation) {
        if let endedBy { return finish(operation.id, .failure(endedBy)) }
        guard needsDiscovery(for: operation.handles) else { return operations.append(operation) }
        wait(.operation(operation))
    }

    private func needsDiscovery(for handles: [CheckedHandle]) -> Bool {
        database == nil && handles.contains { !isCurrent($0.generation) }
    }

    /// Ends an operation without its result. Returns whether the request that waits for its answer is to be withdrawn;
    /// `isSent` says whether that is on its way to the server.
    mutating func cancel(_ id: TicketID, isSent: Bool) -> Bool {
        if let current = running, current.operation.id == id {
            var isAsking = false
            if case .asking = current.phase { isAsking = true }
            if current.isAnswered || (isAsking && isSent) { undo(current) }
            conclude(.failure(.cancelled), isUncertain: isAsking && isSent)
            return isAsking
        }
        if let index = operations.firstIndex(where: { $0.id == id }) {
            end(operations.remove(at: index), .failure(.cancelled))
        } else if let index = commands.firstIndex(where: { $0.id == id }) {
            commands.remove(at: index)
            finish(id, .failure(.cancelled))
        } else if leaveDiscovery(id) {
            finish(id, .failure(.cancelled))
        }
        // A discovery that nothing waits for is given up, unless only its writes to the server remain.
        guard let discovery, discovery.waiting.isEmpty, !discovery.isAdopted else { return false }
        self.discovery = nil
        refresh(discovery)
        return discovery.step.operation.map { cancel($0, isSent: isSent) } ?? false
    }

    private mutating func leaveDiscovery(_ id: TicketID) -> Bool {
        guard var discovery else { return false }
        let count = discovery.waiting.count + discovery.refreshing.count
        discovery.waiting.removeAll { $0.id == id }
        discovery.refreshing.removeAll { $0.id == id }
        self.discovery = discovery
        return discovery.waiting.count + discovery.refreshing.count < count
    }

    /// The connection is over: all operations end, and new ones fail.
    mutating func end(_ failure: GATTFailure) {
        guard endedBy == nil else { return }
        endedBy = failure
        let given = discovery.take()
        conclude(.failure(failure), isUncertain: true)
        for operation in operations { end(operation, .failure(failure)) }
        for command in commands { finish(command.id, .failure(failure)) }
        for waiting in (given?.waiting ?? []) + (given?.refreshing ?? []) {
            finish(waiting.id, .failure(failure))
        }
        (operations, commands, undoing) = ([], [], [])
    }
}

// MARK: - Requests

extension ClientSession {
    /// What is to be asked, if the request before has ended.
    enum Question {
        case request(ATTRequest)
        /// What makes the server forget a procedure that was given up; the answer does not matter.
        case undo(ATTRequest)
    }

    /// Gives what is to be asked now.
    mutating func nextQuestion(mtu: ATTMTU) -> Question? {
        while true {
            if let undo = undoing.popFirst() { return .undo(undo) }
            guard running != nil || beginNext(), case .ready? = running?.phase else { return nil }
            do throws(GATTFailure) {
                if let request = try advance(mtu) { return .request(request) }
            } catch {
                fail(error)
            }
        }
    }

    /// Handles the server's response to the running request.
    mutating func receive(_ response: ATTResponse) {
        guard running != nil else { return }
        running?.phase = .ready
        running?.isAnswered = true
        do throws(GATTClientError) {
            try running?.procedure.receive(response)
        } catch {
            fail(.procedure(error))
        }
    }

    /// Notes that the request was not sent.
    mutating func requestRefused(_ error: ATTLimitError) { fail(.limit(error)) }

    /// Notes that the request has no answer that can be read.
    mutating func requestFailed(_ error: ATTTransactionError) {
        running?.isAnswered = true
        fail(.transaction(error))
    }

    /// Begins what comes next; false when there is nothing.
    private mutating func beginNext() -> Bool {
        while let operation = operations.popFirst() {
            switch operation.work {
            case .procedure(let procedure): running = Running(operation, procedure)
            case .configuration(let characteristic):
                guard let (descriptor, wanted) = configurationToWrite(for: characteristic) else { break }
                var begun = Running(operation, WriteValue(descriptor.handle, configuration: wanted))
                begun.configurationBefore = written.updateValue(
                    .known(wanted), forKey: characteristic.valueHandle)
                running = begun
            }
            if running != nil { return true }
            end(operation, .success(()))
        }
        return false
    }

    /// The next request of the procedure that runs; nil when that has its result.
    private mutating func advance(_ mtu: ATTMTU) throws(GATTFailure) -> ATTRequest? {
        guard let handles = running?.operation.handles else { return nil }
        let step: GATTStep<any Sendable>?
        do throws(GATTClientError) {
            step = try running?.procedure.step(mtu: mtu.octets)
        } catch {
            throw .procedure(error)
        }
        switch step {
        case .ask(let request)?:
            try check(handles)
            running?.phase = .asking
            return request
        case .done(let output)?: conclude(.success(output))
        case nil: break
        }
        return nil
    }

    /// The operation that runs has failed, or needs more security first.
    private mutating func fail(_ failure: GATTFailure) {
        guard let current = running else { return }
        if current.isAnswered { undo(current) }
        guard case .procedure(.att(let refusal)) = failure else {
            return conclude(.failure(failure), isUncertain: current.isAnswered)
        }
        if refusal.code == .databaseOutOfSync {
            noteChange(among: .all)
            do throws(GATTFailure) {
                // Users of bare handles receive the server's error.
                try check(current.operation.handles)
            } catch {
                return conclude(.failure(error))
            }
        } else if refusal.code.wantsSecurity, current.operation.raisesSecurity,
            !current.raisedAt.contains(refusal.handle)
        {
            running?.phase = .securing(refusal)
            events.append(.securityWanted(current.operation.id, refusal.code))
            return
        }
        conclude(.failure(failure))
    }

    /// Has the server forget a procedure that was given up, like queued writes: before anything else is asked.
    private mutating func undo(_ current: Running) {
        if let undo = current.procedure.undo { undoing.append(undo) }
    }

    /// The operation that runs has come to its end. `isUncertain`: whether the server may have done its last
    /// request although that has failed.
    private mutating func conclude(
        _ result: Result<any Sendable, GATTFailure>, isUncertain: Bool = false
    ) {
        guard let ended = running.take() else { return }
        if case .configuration(let characteristic) = ended.operation.work, case .failure = result {
            written[characteristic.valueHandle] = isUncertain ? .unknown : ended.configurationBefore
        }
        end(ended.operation, result)
    }

    private mutating func end(_ operation: Operation, _ result: Result<any Sendable, GATTFailure>) {
        if discovery?.step.operation == operation.id {
            discoveryStepEnded(Outcome(result))
        } else if !operation.isOwn {
            finish(operation.id, result)
        }
    }
}

extension GATTProcedure {
    /// What to ask now, or the result, of a procedure of any type.
    fileprivate mutating func step(mtu: Int) throws(GATTClientError) -> GATTStep<any Sendable> {
        switch try next(mtu: mtu) {
        case .ask(let request): .ask(request)
        case .done(let output): .done(output)
        }
    }
}

extension ATTErrorCode {
    /// Whether a server says by it that the link is not secure enough (Core Specification 5.4, Vol 3, Part C, 10.3.2).
    fileprivate var wantsSecurity: Bool {
        self == .insufficientEncryption || self == .insufficientAuthentication
    }
}

// MARK: - Commands

extension ClientSession {
    /// Whether a command about these handles need not wait for others, nor for a discovery.
    func sendsAtOnce(about handles: [CheckedHandle]) -> Bool {
        commands.isEmpty && endedBy == nil && !needsDiscovery(for: handles)
    }

    /// Whether commands, or callers without one, wait for room.
    var hasWaitingCommands: Bool { !commands.isEmpty }

    /// How many commands wait for room.
    var commandCount: Int { commands.count { $0.command != nil } }

    /// Has a command wait for room; without a command, the ticket ends when there is room.
    mutating func wait(toSend command: ATTCommand?, about handles: [CheckedHandle] = []) -> Ticket<Void> {
        let ticket = open(Void.self)
        let waiting = WaitingCommand(id: ticket.id, command: command, handles: handles)
        if let endedBy {
            finish(ticket.id, .failure(endedBy))
        } else if needsDiscovery(for: handles) {
            wait(.command(waiting))
        } else {
            commands.append(waiting)
        }
        return ticket
    }

    /// There is room: has `send` take the command that waits for longest. Returns false when none waits.
    mutating func sendNext(_ send: (ATTCommand) throws(ATTLimitError) -> Void) -> Bool {
        guard let next = commands.popFirst() else { return false }
        do throws(GATTFailure) {
            try check(next.handles)
            do throws(ATTLimitError) {
                if let command = next.command { try send(command) }
            } catch {
                throw .limit(error)
            }
            finish(next.id, .success(()))
        } catch {
            finish(next.id, .failure(error))
        }
        return true
    }
}

// MARK: - Discovery

extension ClientSession {
    /// Answers `Event.databaseWanted` with what is remembered of the server; nil when nothing is, or not with
    /// that hash. An answer that comes when no discovery waits for it any more is left alone.
    package mutating func remember(_ database: RemoteDatabase?, for hash: [UInt8]?) {
        guard let discovery, case .recalling(hash) = discovery.step else { return }
        if let database, !discovery.isRefreshing {
            found(database)
        } else {
            // The hash was read first: should the database change now, the hash is of the one before, and the next link
            // finds out.
            let ticket = runOwn(DiscoverDatabase())
            self.discovery?.step = .walking(ticket, hash: hash)
        }
    }

    /// Takes the database that `Event.databaseFound` reported, and remembers it in `cache`.
    ///
    /// - Returns: the database, named as of the same state as on earlier links where nothing has changed; nil when it
    ///   changed while it was looked for.
    @discardableResult
    package mutating func adopt(
        _ found: CachedDatabase, of peer: DeviceAddress, in cache: inout DatabaseCache
    ) -> RemoteDatabase? {
        guard let discovery, case .adopting = discovery.step else { return nil }
        let changed = found.database.characteristics(.serviceChanged, in: .genericAttribute).first
        // What came before its handle was known.
        for change in changed.map({ early.take($0.valueHandle) }) ?? [] {
            noteChange(among: ServiceChange(change.value).range)
        }
        guard discovery.state == state else {
            cache.invalidate(peer)
            discoverAgain()
            return nil
        }
        let kept = cache.keep(found, of: peer)
        if kept.generation.number != database?.generation.number {
            written.removeAll()
            if let subscription = ownSubscription.take() { table.unsubscribe(subscription) }
        }
        (database, isStale, serviceChanged) = (kept, false, changed?.valueHandle)
        let located = takeLocated()
        writeFeatures()
        goOn(with: located)
        return kept
    }

    private mutating func wait(_ waiting: Waiting, refreshing isRefreshing: Bool = false) {
        if let endedBy {
            finish(waiting.id, .failure(endedBy))
        } else if discovery == nil {
            beginDiscovery(for: [waiting], refreshing: isRefreshing)
        } else if isRefreshing {
            // What is being discovered may be older than this request.
            discovery?.refreshing.append(waiting)
        } else {
            discovery?.waiting.append(waiting)
        }
    }

    private mutating func beginDiscovery(for waiting: [Waiting], refreshing isRefreshing: Bool) {
        let step = Discovery.Step.readingHash(runOwn(ReadDatabaseHash(), raisesSecurity: false))
        discovery = Discovery(isRefreshing: isRefreshing, state: state, step: step, waiting: waiting)
    }

    private mutating func runOwn<Procedure: GATTProcedure>(
        _ procedure: Procedure, about handles: [CheckedHandle] = [], raisesSecurity: Bool = true
    ) -> Ticket<Procedure.Output> {
        let ticket = open(Procedure.Output.self)
        operations.append(
            Operation(
                id: ticket.id, work: .procedure(procedure), handles: handles,
                raisesSecurity: raisesSecurity, isOwn: true))
        return ticket
    }

    private mutating func discoveryStepEnded(_ outcome: Outcome<GATTFailure>) {
        guard let step = discovery?.step else { return }
        switch step {
        case .readingHash(let ticket):
            switch outcome.result(of: ticket) {
            case .success(let hash): recall(hash)
            case .failure(let failure) where failure.isMisbehavior:
                events.append(.discoveryNote(.noHash(failure)))
                recall(nil)
            case .failure(let failure): discoverAgain(after: failure)
            }
        case .walking(let ticket, let hash):
            switch outcome.result(of: ticket) {
            case .success(let found): self.found(RemoteDatabase(services: found.services, hash: hash))
            case .failure(let failure): discoverAgain(after: failure)
            }
        case .writingFeatures:
            if let failure = outcome.failure {
                guard failure.isTolerable else { return discoverAgain(after: failure) }
                events.append(.discoveryNote(.featuresRefused(failure)))
            }
            hasWrittenFeatures = true
            askForChanges()
        case .askingForChanges:
            if let failure = outcome.failure {
                guard failure.isTolerable else { return discoverAgain(after: failure) }
                events.append(.discoveryNote(.changesRefused(failure)))
            }
            endDiscovery()
        case .recalling, .adopting: break
        }
    }

    private mutating func recall(_ hash: [UInt8]?) {
        discovery?.step = .recalling(hash: hash)
        events.append(.databaseWanted(hash: hash))
    }

    private mutating func found(_ database: RemoteDatabase) {
        discovery?.step = .adopting
        events.append(.databaseFound(database))
    }

    /// Writes the client's supported features (Core Specification 5.4, Vol 3, Part G, 7.2). When the server refuses,
    /// security is not raised: that is for the application's operations.
    private mutating func writeFeatures() {
        let features = currentDatabase?.characteristics(.clientSupportedFeatures, in: .genericAttribute).first
        guard !hasWrittenFeatures, let features, features.properties.contains(.write) else {
            return askForChanges()
        }
        let can: ClientSupportedFeatures = [.robustCaching, .multipleNotifications]
        let ticket = runOwn(
            WriteValue(features.valueHandle, [can.rawValue]), about: [CheckedHandle(features)],
            raisesSecurity: false)
        discovery?.step = .writingFeatures(ticket)
    }

    /// Subscribes to Service Changed, which reports database changes (Core Specification 5.4, Vol 3, Part G, 7.1).
    private mutating func askForChanges() {
        let changed = currentDatabase?.characteristics(.serviceChanged, in: .genericAttribute).first
        guard let changed, changed.properties.contains(.indicate) else { return endDiscovery() }
        if ownSubscription == nil { ownSubscription = table.subscribe(to: changed.valueHandle, .indicate) }
        let ticket = open(Void.self)
        operations.append(
            Operation(
                id: ticket.id, work: .configuration(changed), handles: [CheckedHandle(changed)],
                raisesSecurity: false, isOwn: true))
        discovery?.step = .askingForChanges(ticket)
    }

    /// Takes what waits for a discovery and is not to have its result.
    private mutating func takeLocated() -> [Waiting] {
        let waiting = discovery?.waiting ?? []
        discovery?.waiting = waiting.filter(\.isForDatabase)
        return waiting.filter { !$0.isForDatabase }
    }

    /// Handles can be checked now: what is about them goes on.
    private mutating func goOn(with located: [Waiting]) {
        for waiting in located {
            switch waiting {
            case .database: break
            case .location(let id): finish(id, .success(()))
            case .operation(let operation): operations.append(operation)
            case .command(let command): commands.append(command)
            }
        }
    }

    private mutating func endDiscovery() {
        guard let database = currentDatabase else { return discoverAgain() }
        guard let discovery = discovery.take() else { return }
        // From now on values without a subscriber are not kept.
        early.close()
        for waiting in discovery.waiting { finish(waiting.id, .success(database)) }
        refresh(discovery)
    }

    /// A discovery, or what follows from it, has failed: where the database has changed meanwhile it is begun anew.
    private mutating func discoverAgain(after failure: GATTFailure? = nil) {
        guard var discovery else { return }
        if failure?.isChange ?? true, discovery.rounds < 3 {
            events.append(.discoveryNote(.begunAnew(failure)))
            discovery.rounds += 1
            discovery.state = state
            discovery.step = .readingHash(runOwn(ReadDatabaseHash(), raisesSecurity: false))
            self.discovery = discovery
            return
        }
        let failure = failure.flatMap { $0.isChange ? nil : $0 } ?? .restlessDatabase
        self.discovery = nil
        for waiting in discovery.waiting { finish(waiting.id, .failure(failure)) }
        refresh(discovery)
    }

    private mutating func refresh(_ discovery: Discovery) {
        if !discovery.refreshing.isEmpty { beginDiscovery(for: discovery.refreshing, refreshing: true) }
    }
}

extension GATTFailure {
    /// Whether the server's database was found to have changed.
    fileprivate var isChange: Bool {
        switch self {
        case .databaseChanged: true
        case .procedure(.att(let refusal)): refusal.code == .databaseOutOfSync
        default: false
        }
    }

    /// Whether the server has answered as none may.
    fileprivate var isMisbehavior: Bool {
        switch self {
        case .procedure(.misbehaving), .transaction(.malformedResponse): true
        default: false
        }
    }

    /// Whether the server may fail so in what it need not have.
    fileprivate var isTolerable: Bool {
        if case .procedure(.att) = self { return !isChange }
        return isMisbehavior
    }
}

// MARK: - The database

extension ClientSession {
    /// The database, if it can be relied on.
    package var currentDatabase: RemoteDatabase? { isStale ? nil : database }

    /// What is known now; compare it with what is known later.
    package var state: DatabaseState { DatabaseState(changes: changes) }

    /// Whether handles of this state of the database may be used. True for bare handles, which are their user's
    /// responsibility.
    package func isCurrent(_ generation: DatabaseGeneration) -> Bool {
        guard generation.number != DatabaseGeneration.unknown.number else { return true }
        if generation.number == partial?.number { return true }
        return !isStale && generation.number == database?.generation.number
    }

    /// Names parts of the database that are found one by one, of which the first was asked for at `state`;
    /// nil when it has changed since.
    package mutating func partialGeneration(
        since state: DatabaseState, in cache: inout DatabaseCache
    ) -> DatabaseGeneration? {
        guard self.state == state else { return nil }
        let generation = partial ?? cache.newGeneration()
        partial = generation
        return generation
    }

    /// The server said that its database has changed, by Service Changed or by an error. Subscriptions of handles in
    /// `range` end; those of bare handles do not.
    private mutating func noteChange(among range: AttributeRange) {
        changes += 1
        isStale = database != nil
        partial = nil
        let outdated = subscriptions.filter { _, subscription in
            range.contains(subscription.characteristic.valueHandle)
                && subscription.characteristic.generation.number != DatabaseGeneration.unknown.number
        }
        for (id, subscription) in outdated.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let handle = subscription.characteristic.valueHandle
            events.append(.subscriptionEnded(id, .databaseChanged(handle)))
        }
        events.append(.databaseChanged(range))
    }
}

// MARK: - Subscriptions

extension ClientSession {
    /// Adds a subscriber; also returns the values that came before the first one. `configure(_:)` informs the server.
    package mutating func subscribe(
        to characteristic: RemoteCharacteristic, _ wants: ClientCharacteristicConfiguration,
        holdingConfirmation: Bool = false
    ) -> (id: SubscriptionID, early: [ReceivedValue]) {
        let id = table.subscribe(to: characteristic.valueHandle, wants)
        subscriptions[id] = Subscription(
            characteristic: characteristic, holdsConfirmation: holdingConfirmation)
        return (id, early.take(characteristic.valueHandle))
    }

    /// Removes a subscriber, and writes what the others want. Indications that waited for it alone are confirmed.
    ///
    /// - Returns: a ticket that ends when the server has the new configuration; nil when there is no such
    ///   subscriber.
    @discardableResult
    package mutating func unsubscribe(_ id: SubscriptionID) -> Ticket<Void>? {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return nil }
        table.unsubscribe(id)
        confirmationsOwed += held.released(by: id)
        // Of a database that is not known any more nothing is asked, nor is it discovered for that.
        let ticket = open(Void.self)
        let characteristic = subscription.characteristic
        let handles = [CheckedHandle(characteristic)]
        if let endedBy {
            finish(ticket.id, .failure(endedBy))
        } else {
            operations.append(
                Operation(id: ticket.id, work: .configuration(characteristic), handles: handles))
        }
        return ticket
    }

    /// The configuration to write for all subscribers of a characteristic together; nil when the server has it.
    private func configurationToWrite(
        for characteristic: RemoteCharacteristic
    ) -> (descriptor: RemoteDescriptor, configuration: ClientCharacteristicConfiguration)? {
        let wanted = table.configuration(of: characteristic.valueHandle)
        guard written[characteristic.valueHandle] ?? .known([]) != .known(wanted),
            let descriptor = characteristic.descriptor(.clientCharacteristicConfiguration)
        else { return nil }
        return (descriptor, wanted)
    }
}

// MARK: - Values

extension ClientSession {
    /// Takes what the server sent by itself. An indication is confirmed at once, unless a subscriber holds
    /// the confirmation until it has taken the value.
    mutating func receive(_ unsolicited: ATTUnsolicited, mtu: ATTMTU, at now: Instant) {
        var confirms = unsolicited.opcode == .handleValueIndication
        defer { if confirms { confirmationsOwed += 1 } }
        for var value in unsolicited.values(mtu: mtu, at: now) {
            let subscribers = table.subscribers(of: value.handle).filter { subscriptions[$0] != nil }
            let holding = subscribers.filter { subscriptions[$0]?.holdsConfirmation == true }
            if value.isIndication, !holding.isEmpty {
                value.held = held.hold(for: holding, at: now)
                confirms = false
            }
            if value.handle == serviceChanged {
                noteChange(among: ServiceChange(value.value).range)
                if subscribers.isEmpty { continue }
            } else if subscribers.isEmpty {
                early.keep(value)
            }
            events.append(.value(value, to: subscribers))
        }
    }

    /// A subscriber has taken an indication whose confirmation waits for that.
    package mutating func taken(_ value: PendingConfirmations.Number, by subscriber: SubscriptionID) {
        if held.taken(value, by: subscriber) { confirmationsOwed += 1 }
    }

    /// Time has passed: what was not taken in 25 s is confirmed all the same, since the server would give up the link.
    mutating func expire(at now: Instant) { confirmationsOwed += held.expire(at: now) }

    /// How many indications are to be confirmed now.
    mutating func takeConfirmations() -> Int {
        defer { confirmationsOwed = 0 }
        return confirmationsOwed
    }

    /// When `expire(at:)` is to be called.
    var deadline: Instant? { held.deadline }
}
