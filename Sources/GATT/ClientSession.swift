import ATT
import BLECore
import DequeModule
import GATTClient

/// The GATT client of this host on one link: its requests, its knowledge of the server at the other end, and
/// the subscribers of the server's values (Core Specification 5.4, Vol 3, Part G).
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
/// The `GATTConnection` sends the session's requests and commands. The owner remembers the databases of all
/// peers; the session requests them from it by events.
package struct ClientSession: Sendable {
    /// Identifies what was known of the server's database at some time. The results of several requests
    /// belong to one state only if no change followed any of them.
    package struct DatabaseState: Hashable, Sendable {
        fileprivate let changes: Int
    }

    /// An operation that runs when its turn comes.
    private struct Operation: Sendable {
        enum Work: Sendable {
            case procedure(any GATTProcedure)
            /// Writes the configuration that a characteristic's subscribers require when the operation runs.
            case configuration(RemoteCharacteristic)
        }

        let id: TicketID
        let work: Work
        var handles: [CheckedHandle] = []
        var raisesSecurity = true
        /// Whether only the session itself waits for the operation.
        var isOwn = false
    }

    /// The operation that is in progress.
    private struct Running: Sendable {
        enum Phase: Sendable {
            /// The next step of the procedure is due.
            case ready
            /// A request of the procedure waits for its answer.
            case asking
            /// The server rejected a request for lack of security.
            case securing(ATTErrorResponse)
        }

        let operation: Operation
        /// The procedure in its initial state, from which it is restarted.
        let original: any GATTProcedure
        var procedure: any GATTProcedure
        var phase = Phase.ready
        /// Whether the server has answered a request of the operation.
        var isAnswered = false
        /// The handles for which the server required more security and the security of the link was raised.
        var raisedAt: Set<AttributeHandle> = []
        /// The characteristic's configuration at the server before this operation writes another.
        var configurationBefore: WrittenConfiguration?

        var isPreparation: Bool { type(of: original).isPreparation }

        init(_ operation: Operation, _ procedure: any GATTProcedure) {
            self.operation = operation
            (original, self.procedure) = (procedure, procedure)
        }
    }

    /// The configuration of a characteristic that was last written to the server.
    private enum WrittenConfiguration: Hashable, Sendable {
        case known(ClientCharacteristicConfiguration)
        /// A write of the configuration got no answer.
        case unknown
    }

    /// A command that waits for room; without a command, a caller that waits for room.
    private struct WaitingCommand: Sendable {
        let id: TicketID
        let command: ATTCommand?
        let handles: [CheckedHandle]
    }

    /// A call, an operation or a command that waits for a discovery.
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

    /// A discovery of the whole database. It is restarted if the database changes meanwhile.
    private struct Discovery: Sendable {
        enum Step: Sendable {
            case readingHash(Ticket<[UInt8]?>)
            /// The owner was asked for the remembered database with this hash.
            case recalling(hash: [UInt8]?)
            case walking(Ticket<RemoteDatabase>, hash: [UInt8]?)
            /// The owner was given the database that was found.
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

        /// Whether a remembered database must not be used.
        let isRefreshing: Bool
        /// Whether the database was found, and only the writes to the server that follow from it remain.
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
        /// Whether what requires more security than the link has is left out.
        var isAtAnySecurity = false
        var waiting: [Waiting]
        /// Requests for a fresh discovery that were made while this one was in progress.
        var refreshing: [Waiting] = []
    }

    private let link: UInt64
    private var lastTicket: UInt64 = 0
    private var events = Deque<Event>()
    /// The failure with which the session ended; nil while it runs.
    private var endedBy: GATTFailure?

    // The requests and commands to send.
    private var operations = Deque<Operation>()
    private var running: Running?
    /// Requests that make the server discard abandoned procedures.
    private var undoing = Deque<ATTRequest>()
    private var commands = Deque<WaitingCommand>()
    private var discovery: Discovery?
    /// Whether the server has been of use on this link: it has answered a request of the application, other than the
    /// exchange of the MTU and discovery, or has sent a value to a subscriber.
    package private(set) var hasServed = false

    // The result of the last discovery, and whether the server has reported since then that it is no longer
    // valid.
    private var database: RemoteDatabase?
    private var isStale = false
    /// The generation of what was found by looking for some services only.
    private var partial: DatabaseGeneration?
    private var history = DatabaseHistory()
    /// The number of times that the server reported a change of its database.
    private var changes = 0
    /// The value handle of Service Changed, and the session's own subscription to it.
    private var serviceChanged: AttributeHandle?
    private var ownSubscription: SubscriptionID?
    /// Whether this client has written its supported features to the server, whatever the answer was.
    private var hasWrittenFeatures = false

    private struct Subscription: Sendable {
        let characteristic: RemoteCharacteristic
        /// Whether an indication is confirmed only after the subscriber has taken it.
        let holdsConfirmation: Bool
    }

    /// The subscribers of each value, including the session itself for Service Changed.
    private var table = SubscriptionTable()
    private var subscriptions: [SubscriptionID: Subscription] = [:]
    /// The configurations last written, by value handle; no entry if none was written.
    private var written: [AttributeHandle: WrittenConfiguration] = [:]
    private var early = UnclaimedValues()
    private var held = PendingConfirmations()
    private var confirmationsOwed = 0

    /// Creates a session on a link that has just come up; its tickets contain the number of the link.
    init(link: UInt64) { self.link = link }
}

// MARK: - Events

extension ClientSession {
    /// An event that a session reports to its owner.
    package enum Event: Sendable {
        /// An operation has ended with this outcome.
        case finished(TicketID, Outcome<GATTFailure>)
        /// The server rejected an operation with this code; the owner reports by `securityEnded(_:for:)` how
        /// raising the security ended.
        case securityWanted(TicketID, ATTErrorCode)
        /// A discovery requires the remembered database of this server, if there is one with this hash; the
        /// owner supplies it by `remember(_:for:)`.
        case databaseWanted(hash: [UInt8]?)
        /// A discovery is complete, or the remembered database is current. The owner passes it to
        /// `adopt(_:of:in:)`.
        case databaseFound(RemoteDatabase)
        /// The server's database has changed within these handles: what is remembered of it is no longer
        /// valid.
        case databaseChanged(AttributeRange)
        /// The server sent a value without a request, for these subscribers, in the order in which they
        /// subscribed. There are none if the value is early or has no subscriber.
        case value(ReceivedValue, to: [SubscriptionID])
        /// The subscription has ended: values with its handle can now belong to another attribute.
        case subscriptionEnded(SubscriptionID, GATTFailure)
        /// A discovery continues despite a problem.
        case discoveryNote(DiscoveryNote)
    }

    /// A problem that a discovery encountered, for a log.
    package enum DiscoveryNote: Sendable {
        /// The server's database hash could not be read.
        case noHash(GATTFailure)
        /// The server rejected the features that this client supports.
        case featuresRefused(GATTFailure)
        /// The subscription to Service Changed failed.
        case changesRefused(GATTFailure)
        /// The database has changed meanwhile, as shown by the failure if there is one, and the discovery is
        /// restarted.
        case begunAnew(GATTFailure?)
        /// The link cannot be made as secure as a part of the database requires, so this is left out.
        case leftOut(GATTFailure)
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
    /// Runs a procedure when its turn comes.
    ///
    /// - Parameters:
    ///   - handles: the handles in the procedure. Before each request, they are checked to belong to the
    ///     current state of the database.
    ///   - raisesSecurity: whether the procedure is restarted on a more secure link, once for each attribute
    ///     in error, if the server rejects it for lack of security.
    package mutating func run<Procedure: GATTProcedure>(
        _ procedure: Procedure, about handles: [CheckedHandle] = [], raisesSecurity: Bool = true
    ) -> Ticket<Procedure.Output> {
        let ticket = open(Procedure.Output.self)
        submit(
            Operation(
                id: ticket.id, work: .procedure(procedure), handles: handles, raisesSecurity: raisesSecurity))
        return ticket
    }

    /// Offers the MTU of this side to the server, ahead of the waiting procedures.
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

    /// Writes, when its turn comes, the configuration that all subscribers of a characteristic require
    /// together, unless the server already has it (Core Specification 5.4, Vol 3, Part G, 3.3.3.3). The
    /// configuration is computed at that time, so that the last change takes effect, in whatever order
    /// subscribing and unsubscribing follow each other.
    package mutating func configure(_ characteristic: RemoteCharacteristic) -> Ticket<Void> {
        let ticket = open(Void.self)
        let handles = [CheckedHandle(characteristic)]
        submit(Operation(id: ticket.id, work: .configuration(characteristic), handles: handles))
        return ticket
    }

    /// Whether procedures run or wait for their turn, not counting those that wait for a discovery.
    package var isAsking: Bool { running != nil || !operations.isEmpty }

    /// Returns the database of the server: the known one if it is certain to be current, otherwise the one
    /// that a discovery finds. Calls during a discovery wait for the same discovery, but refreshing calls
    /// wait for a new one.
    ///
    /// - Parameter isRefreshing: whether the database is discovered even if it is known.
    package mutating func discover(refreshing isRefreshing: Bool = false) -> Submission<RemoteDatabase> {
        if !isRefreshing, discovery == nil, let known = currentDatabase { return .done(known) }
        let ticket = open(RemoteDatabase.self)
        wait(.database(ticket.id), refreshing: isRefreshing)
        return .pending(ticket)
    }

    /// Checks handles of an earlier link by a discovery, because only a discovery shows whether they can be
    /// used.
    package mutating func locate(_ handles: [CheckedHandle]) -> Submission<Void> {
        guard needsDiscovery(for: handles) else { return .done(()) }
        let ticket = open(Void.self)
        wait(.location(ticket.id))
        return .pending(ticket)
    }

    /// Throws when one of the handles belongs to an outdated state of the database.
    package func check(_ handles: [CheckedHandle]) throws(GATTFailure) {
        for each in handles where !isCurrent(each) { throw .databaseChanged(each.handle) }
    }

    /// Continues an operation that waits for more security, according to the outcome of the attempt to raise
    /// it.
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

    /// Queues an operation, or makes it wait for a discovery.
    private mutating func submit(_ operation: Operation) {
        if let endedBy { return finish(operation.id, .failure(endedBy)) }
        guard needsDiscovery(for: operation.handles) else { return operations.append(operation) }
        wait(.operation(operation))
    }

    private func needsDiscovery(for handles: [CheckedHandle]) -> Bool {
        database == nil && handles.contains { !isCurrent($0) }
    }

    /// Cancels an operation. Returns whether the request that waits for its answer must be withdrawn;
    /// `isSent` is whether that request was already sent to the server.
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
        // A discovery for which nothing waits is abandoned, unless only its writes to the server remain.
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

    /// Ends all operations because the connection has ended; later operations fail.
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
    /// The next request to send, once the previous one has ended.
    enum Question {
        case request(ATTRequest)
        /// A request that makes the server discard an abandoned procedure; the answer does not matter.
        case undo(ATTRequest)
    }

    /// Returns the request to send now, if there is one.
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
        if !hasServed, running?.operation.isOwn == false, running?.isPreparation == false { hasServed = true }
        do throws(GATTClientError) {
            try running?.procedure.receive(response)
        } catch {
            fail(.procedure(error))
        }
    }

    /// Fails the running operation because its request was not sent.
    mutating func requestRefused(_ error: ATTLimitError) { fail(.limit(error)) }

    /// Fails the running operation because its request got no answer that can be decoded.
    mutating func requestFailed(_ error: ATTTransactionError) {
        running?.isAnswered = true
        fail(.transaction(error))
    }

    /// Starts the next operation; returns false when there is none.
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

    /// Returns the next request of the running procedure; nil when the procedure has its result.
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

    /// Fails the running operation, or requests more security for it first.
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
        } else if refusal.code.requiresSecurity, current.operation.raisesSecurity,
            !current.raisedAt.contains(refusal.handle)
        {
            running?.phase = .securing(refusal)
            events.append(.securityWanted(current.operation.id, refusal.code))
            return
        }
        conclude(.failure(failure))
    }

    /// Queues the request that makes the server discard an abandoned procedure, such as queued writes. It is
    /// sent before any other request.
    private mutating func undo(_ current: Running) {
        if let undo = current.procedure.undo { undoing.append(undo) }
    }

    /// Ends the running operation. `isUncertain` is whether the server may have performed its last request
    /// although that request failed.
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
    /// Returns the next request, or the result, of a procedure of any type.
    fileprivate mutating func step(mtu: Int) throws(GATTClientError) -> GATTStep<any Sendable> {
        switch try next(mtu: mtu) {
        case .ask(let request): .ask(request)
        case .done(let output): .done(output)
        }
    }
}

extension ATTErrorCode {
    /// Whether the code reports that the link is not secure enough (Core Specification 5.4, Vol 3, Part C,
    /// 10.3.2).
    fileprivate var requiresSecurity: Bool {
        self == .insufficientEncryption || self == .insufficientAuthentication
    }
}

// MARK: - Commands

extension ClientSession {
    /// Returns whether a command with these handles can be sent without waiting for other commands or for a
    /// discovery.
    func sendsAtOnce(about handles: [CheckedHandle]) -> Bool {
        commands.isEmpty && endedBy == nil && !needsDiscovery(for: handles)
    }

    /// Whether commands, or callers without one, wait for room.
    var hasWaitingCommands: Bool { !commands.isEmpty }

    /// The number of commands that wait for room.
    var commandCount: Int { commands.count { $0.command != nil } }

    /// Makes a command wait for room; without a command, the ticket ends when there is room.
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

    /// Passes the command that has waited longest to `send`, because there is room. Returns false when none
    /// waits.
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
    /// Answers `Event.databaseWanted` with the remembered database of the server; nil if there is none, or
    /// none with that hash. An answer is ignored if no discovery waits for it any longer.
    package mutating func remember(_ database: RemoteDatabase?, for hash: [UInt8]?) {
        guard let discovery, case .recalling(hash) = discovery.step else { return }
        if let database, !discovery.isRefreshing {
            found(database)
        } else {
            // The hash was read first: if the database changes now, the hash is that of the earlier database,
            // and the next link detects the change.
            let isAtAnySecurity = discovery.isAtAnySecurity
            let ticket = runOwn(
                DiscoverDatabase(atAnySecurity: isAtAnySecurity), raisesSecurity: !isAtAnySecurity)
            self.discovery?.step = .walking(ticket, hash: hash)
        }
    }

    /// Adopts the database that `Event.databaseFound` reported, and stores it in `cache`.
    ///
    /// - Returns: the database, with the same generation as on earlier links if nothing has changed; nil if
    ///   the database changed during the discovery.
    @discardableResult
    package mutating func adopt(
        _ found: CachedDatabase, of peer: DeviceAddress, in cache: inout DatabaseCache
    ) -> RemoteDatabase? {
        guard let discovery, case .adopting = discovery.step else { return nil }
        let changed = found.database.characteristics(.serviceChanged, in: .genericAttribute).first
        // The changes that were reported before the handle of Service Changed was known.
        for change in changed.map({ early.take($0.valueHandle) }) ?? [] {
            noteChange(among: ServiceChange(change.value).range)
        }
        guard discovery.state == state else {
            cache.invalidate(peer)
            discoverAgain()
            return nil
        }
        let kept = cache.keep(found, of: peer)
        if let database, kept.generation.number != database.generation.number {
            history.replace(database, with: kept)
            forgetConfigurations()
            if let subscription = ownSubscription.take() { table.unsubscribe(subscription) }
        }
        (database, isStale, serviceChanged) = (kept, false, changed?.valueHandle)
        history.add(kept.generation)
        let located = takeLocated()
        writeFeatures()
        resume(with: located)
        return kept
    }

    private mutating func wait(_ waiting: Waiting, refreshing isRefreshing: Bool = false) {
        if let endedBy {
            finish(waiting.id, .failure(endedBy))
        } else if discovery == nil {
            beginDiscovery(for: [waiting], refreshing: isRefreshing)
        } else if isRefreshing {
            // The result of the discovery in progress can be older than this request.
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
            case .success(let found):
                self.found(RemoteDatabase(services: found.services, hash: hash, faults: found.faults))
            case .failure(let failure) where failure.isForSecurity && discovery?.isAtAnySecurity == false:
                events.append(.discoveryNote(.leftOut(failure)))
                discovery?.isAtAnySecurity = true
                let ticket = runOwn(DiscoverDatabase(atAnySecurity: true), raisesSecurity: false)
                discovery?.step = .walking(ticket, hash: hash)
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

    /// Writes the client's supported features (Core Specification 5.4, Vol 3, Part G, 7.2). If the server
    /// rejects them, security is not raised: only the application's operations raise it.
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

    /// Removes and returns what waits for the discovery but not for its result.
    private mutating func takeLocated() -> [Waiting] {
        let waiting = discovery?.waiting ?? []
        discovery?.waiting = waiting.filter(\.isForDatabase)
        return waiting.filter { !$0.isForDatabase }
    }

    /// Continues what waited for its handles to be checked, which is possible now.
    private mutating func resume(with located: [Waiting]) {
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

    /// Handles a failure of a discovery, or of the writes that follow from it. The discovery is restarted if
    /// the database has changed meanwhile, for three rounds at most.
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

    /// Whether the link is not secure enough for the operation.
    fileprivate var isForSecurity: Bool {
        switch self {
        case .security: true
        case .procedure(.att(let refusal)):
            [
                .insufficientAuthentication, .insufficientEncryption, .insufficientAuthorization,
                .encryptionKeySizeTooShort,
            ]
            .contains(refusal.code)
        default: false
        }
    }

    /// Whether the server's answer violates the specification.
    fileprivate var isMisbehavior: Bool {
        switch self {
        case .procedure(.misbehaving), .transaction(.malformedResponse), .transaction(.foreignError): true
        default: false
        }
    }

    /// Whether the failure can be tolerated in a feature that the server need not support.
    fileprivate var isTolerable: Bool {
        if case .procedure(.att) = self { return !isChange }
        return isMisbehavior
    }
}

// MARK: - The database

extension ClientSession {
    /// The database, if it can be relied on.
    package var currentDatabase: RemoteDatabase? { isStale ? nil : database }

    /// Records that the link has become more secure: what the server refused to show before is discovered the next time.
    package mutating func noteSecurity() {
        if database?.faults.contains(where: \.isForSecurity) == true { isStale = true }
    }

    /// The state of the database as known now, to compare with the state at a later time.
    package var state: DatabaseState { DatabaseState(changes: changes) }

    /// Returns whether a handle can be used: nothing has changed there since it was found. True for bare handles,
    /// for which their user is responsible.
    package func isCurrent(_ handle: CheckedHandle) -> Bool {
        handle.generation.number == DatabaseGeneration.unknown.number
            || history.isCurrent(handle.range, of: handle.generation)
    }

    /// Returns the generation for parts of the database that are found one by one, of which the first was
    /// requested at `state`; nil if the database has changed since.
    package mutating func partialGeneration(
        since state: DatabaseState, in cache: inout DatabaseCache
    ) -> DatabaseGeneration? {
        guard self.state == state else { return nil }
        if let partial { return partial }
        let generation = cache.newGeneration()
        partial = generation
        history.add(generation)
        return generation
    }

    /// Records that the server reported a change of its database, by Service Changed or by an error.
    /// Subscriptions to handles in `range` end, except those to bare handles.
    private mutating func noteChange(among range: AttributeRange) {
        changes += 1
        isStale = database != nil
        partial = nil
        history.note(range)
        // Of a database that is known, only its replacement shows that it is another one.
        if database == nil { forgetConfigurations() }
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
    /// Adds a subscriber, and returns the values that came before the first subscriber as well.
    /// `configure(_:)` informs the server.
    package mutating func subscribe(
        to characteristic: RemoteCharacteristic, _ configuration: ClientCharacteristicConfiguration,
        holdingConfirmation: Bool = false
    ) -> (id: SubscriptionID, early: [ReceivedValue]) {
        let added = subscribe(
            to: [(characteristic, configuration)], holdingConfirmation: holdingConfirmation)
        return (added.ids[0], added.early)
    }

    /// Adds a subscriber of several characteristics, with an identifier for each, and returns the values that came
    /// before their first subscriber as well, in the order of arrival.
    package mutating func subscribe(
        to characteristics: [(RemoteCharacteristic, ClientCharacteristicConfiguration)],
        holdingConfirmation: Bool = false
    ) -> (ids: [SubscriptionID], early: [ReceivedValue]) {
        let ids = characteristics.map { characteristic, configuration in
            let id = table.subscribe(to: characteristic.valueHandle, configuration)
            subscriptions[id] = Subscription(
                characteristic: characteristic, holdsConfirmation: holdingConfirmation)
            return id
        }
        return (ids, early.take(characteristics.map { $0.0.valueHandle }))
    }

    /// Returns the characteristic of a subscription; nil if it has ended.
    package func characteristic(of id: SubscriptionID) -> RemoteCharacteristic? {
        subscriptions[id]?.characteristic
    }

    /// Removes a subscriber, and writes the configuration that the others require. Indications that waited
    /// for this subscriber alone are confirmed.
    ///
    /// - Returns: a ticket that ends when the server has the new configuration; nil if there is no such
    ///   subscriber.
    @discardableResult
    package mutating func unsubscribe(_ id: SubscriptionID) -> Ticket<Void>? {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return nil }
        table.unsubscribe(id)
        confirmationsOwed += held.released(by: id)
        // If the database is no longer known, no request is sent, and no discovery is made for this.
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

    /// Makes the next configuration of each characteristic be written, because the database is another one.
    private mutating func forgetConfigurations() {
        written = written.mapValues { _ in .unknown }
        if running?.configurationBefore != nil { running?.configurationBefore = .unknown }
    }

    /// Returns the configuration to write for all subscribers of a characteristic together; nil if the server
    /// already has it, or if the characteristic has no descriptor for it.
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
    /// Handles a value that the server sent without a request. An indication is confirmed at once, unless a
    /// subscriber holds the confirmation until it has taken the value.
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
            if !subscribers.isEmpty { hasServed = true }
            events.append(.value(value, to: subscribers))
        }
    }

    /// Drops the values that wait for their first subscriber. They came before the link was encrypted with the key
    /// of a bond, so anyone could have sent them.
    package mutating func dropEarlyValues() { early.removeAll() }

    /// Records that a subscriber has taken an indication whose confirmation waits for that.
    package mutating func taken(_ value: PendingConfirmations.Number, by subscriber: SubscriptionID) {
        if held.taken(value, by: subscriber) { confirmationsOwed += 1 }
    }

    /// Records that a subscriber has received the values that another one, of the same characteristic, has not taken.
    /// Their confirmation waits for it if those of later ones do.
    package mutating func handOverValues(from subscriber: SubscriptionID, to other: SubscriptionID) {
        guard subscriptions[other]?.holdsConfirmation == true else { return }
        held.handOver(from: subscriber, to: other)
    }

    /// Confirms indications that were not taken within 25 s, because the server would otherwise give up the
    /// link.
    mutating func expire(at now: Instant) { confirmationsOwed += held.expire(at: now) }

    /// Returns the number of indications to confirm now, and resets it.
    mutating func takeConfirmations() -> Int {
        defer { confirmationsOwed = 0 }
        return confirmationsOwed
    }

    /// The time at which `expire(at:)` is to be called.
    var deadline: Instant? { held.deadline }
}
