import BLECore
import DequeModule
import HCI
import SMP

/// The procedures of the link layer that this host starts on one link. They run one after the other, as
/// controllers require, in the order in which they were requested. Encryption runs independently of all
/// others (Core Specification 5.4, Vol 6, Part B, 5.3).
///
/// A procedure starts with a command or a request to the peer, and ends with an event, with the refusal of
/// the command, or when its time limit expires. A procedure that has begun continues when its caller gives it
/// up, so that its result is not taken for that of a later one.
///
/// ```swift
/// procedures.ask(number, for: .phys, by: .command(command))
/// while let event = procedures.nextEvent(at: now) { handle(event) }
/// procedures.answered(.done([]), to: command, of: number)
/// procedures.ended(.phys, .success(()))
/// // Run `expire` at `deadline`.
/// ```
struct LinkProcedures: Sendable {
    indirect enum Start: Sendable {
        /// A command, whose answer the owner passes to `answered`.
        case command(MachineCommand)
        /// A request for connection parameters over L2CAP signaling.
        case request(LEConnectionParameters)
        /// The command that encrypts the link with a key, and the security that the key gives.
        case encryption(LongTermKey, GivenKey)
        /// Nothing: the caller only waits for its turn.
        case nothing
    }

    enum Event: Sendable {
        /// A procedure is at the head of the queue and begins.
        case begin(UInt64, LinkProcedure, Start)
        /// A procedure has ended that a caller waits for.
        case ended(UInt64, Result<Void, BLEError>)
        /// The connection update with the accepted parameters of the peer has failed.
        case acceptedUpdateFailed(BLEError)
        /// The encryption with the key of a pairing has failed.
        case pairingNotEncrypted(BLEError)
    }

    fileprivate struct Asked: Sendable {
        let number: UInt64
        let procedure: LinkProcedure
        var start: Start
        /// Whether this is the connection update with the parameters of the peer that were accepted last.
        var isAcceptedUpdate = false

        /// Whether a pairing waits for the end.
        var isOfPairing: Bool { if case .encryption(_, .pairing) = start { true } else { false } }
    }

    fileprivate struct Running: Sendable {
        let asked: Asked
        let end: Instant
        /// Whether a caller waits for its end.
        var isWanted = true
        /// Whether it is a request to the peer that has no answer yet.
        var isUnanswered = false
        /// Whether the change has happened for which an unanswered request asks.
        var isDone = false
    }

    /// Procedures that wait for each other.
    fileprivate struct Lane: Sendable {
        private var running: Running?
        private var queue: Deque<Asked> = []
        private var ends: Deque<Event> = []
    }

    /// The time limit for a peer's controller (Core Specification 5.4, Vol 6, Part B, 5.2).
    static let timeLimit = Duration.seconds(40)

    private var control = Lane()
    private var encryption = Lane()

    /// The time at which `expire` is to be called.
    var deadline: Instant? { earlier(control.deadline, encryption.deadline) }

    private mutating func inLane<Value>(
        of procedure: LinkProcedure, _ body: (inout Lane) -> Value
    ) -> Value {
        procedure == .encryption ? body(&encryption) : body(&control)
    }
}

// MARK: - Requests of users

extension LinkProcedures {
    /// Requests a procedure under a number that is never used again.
    mutating func ask(_ number: UInt64, for procedure: LinkProcedure, by start: Start) {
        inLane(of: procedure) {
            $0.ask(Asked(number: number, procedure: procedure, start: start))
        }
    }

    /// Requests the connection update with the accepted parameters of the peer. If others are accepted before the
    /// update starts, the last ones are set.
    mutating func updateAsAccepted(_ number: UInt64, by start: Start) {
        control.ask(
            Asked(number: number, procedure: .timing, start: start, isAcceptedUpdate: true))
    }

    /// The caller no longer waits for a procedure. A procedure that has not begun is dropped.
    mutating func giveUp(_ number: UInt64) {
        control.giveUp(number)
        encryption.giveUp(number)
    }
}

// MARK: - Progress

extension LinkProcedures {
    /// Handles the answer to the command that starts a procedure.
    mutating func answered(_ answer: CommandAnswer, to command: MachineCommand, of number: UInt64) {
        control.answered(answer, to: command, of: number)
        encryption.answered(answer, to: command, of: number)
    }

    /// Handles the peer's answer, other than a refusal, to the request under way. The change may have
    /// happened before: a controller can report it while the answer still waits for a connection event. With
    /// `error` the peer has not answered in time, and a request without that change has failed.
    mutating func requestAnswered(orNot error: BLEError? = nil) { control.requestAnswered(orNot: error) }

    /// Handles the end of a procedure, whichever side started it. A request to the peer ends only when it is
    /// answered, too. Does nothing when a procedure other than `number` is under way by now.
    mutating func ended(
        _ procedure: LinkProcedure, _ result: Result<Void, BLEError>, ifItIs number: UInt64? = nil
    ) {
        inLane(of: procedure) { $0.ended(procedure, result, ifItIs: number) }
    }

    /// Ends procedures whose time limit has expired.
    mutating func expire(at now: Instant) {
        control.expire(at: now)
        encryption.expire(at: now)
    }

    /// Ends everything, with `error` for the pairing that waits for encryption. The owner notifies the callers that
    /// wait.
    mutating func close(_ error: BLEError) {
        control = Lane()
        encryption.close(error)
    }

    /// Returns the next event, and starts the procedure that it reports.
    mutating func nextEvent(at now: Instant) -> Event? {
        control.nextEvent(at: now) ?? encryption.nextEvent(at: now)
    }
}

extension LinkProcedures.Lane {
    var deadline: Instant? { running?.end }

    mutating func ask(_ asked: LinkProcedures.Asked) {
        if asked.isAcceptedUpdate, let index = queue.firstIndex(where: \.isAcceptedUpdate) {
            queue[index].start = asked.start
        } else {
            queue.append(asked)
        }
    }

    mutating func giveUp(_ number: UInt64) {
        queue.removeAll { $0.number == number }
        if running?.asked.number == number { running?.isWanted = false }
    }

    mutating func answered(_ answer: CommandAnswer, to command: MachineCommand, of number: UInt64) {
        guard let running, running.asked.number == number else { return }
        switch answer {
        case .done: break
        case .silent:
            // The procedure may have begun despite that.
            emit(running, .failure(command.error(answer)))
            self.running?.isWanted = false
        case .refused, .malformed: end(.failure(command.error(answer)))
        }
    }

    mutating func ended(
        _ procedure: LinkProcedure, _ result: Result<Void, BLEError>, ifItIs number: UInt64?
    ) {
        guard let asked = running?.asked, asked.procedure == procedure,
            number.map({ $0 == asked.number }) ?? true
        else { return }
        if number == nil, running?.isUnanswered == true, case .success = result {
            running?.isDone = true
        } else {
            end(result)
        }
    }

    mutating func requestAnswered(orNot error: BLEError?) {
        guard running?.isUnanswered == true else { return }
        running?.isUnanswered = false
        if running?.isDone == true { end(.success(())) } else if let error { end(.failure(error)) }
    }

    mutating func expire(at now: Instant) {
        guard let running, running.end <= now else { return }
        end(.failure(.timedOut(running.asked.procedure.activity, after: LinkProcedures.timeLimit)))
    }

    mutating func close(_ error: BLEError) {
        let isEncrypting = running.map { $0.isWanted && $0.asked.isOfPairing } ?? false
        let fails = isEncrypting || queue.contains(where: \.isOfPairing)
        self = LinkProcedures.Lane()
        if fails { ends.append(.pairingNotEncrypted(error)) }
    }

    mutating func nextEvent(at now: Instant) -> LinkProcedures.Event? {
        if let end = ends.popFirst() { return end }
        guard running == nil, let asked = queue.popFirst() else { return nil }
        if case .nothing = asked.start { return .ended(asked.number, .success(())) }
        running = LinkProcedures.Running(asked: asked, end: now + LinkProcedures.timeLimit)
        if case .request = asked.start { running?.isUnanswered = true }
        return .begin(asked.number, asked.procedure, asked.start)
    }

    private mutating func end(_ result: Result<Void, BLEError>) {
        if let running = running.take() { emit(running, result) }
    }

    private mutating func emit(_ running: LinkProcedures.Running, _ result: Result<Void, BLEError>) {
        guard running.isWanted else { return }
        let asked = running.asked
        guard asked.isAcceptedUpdate || asked.isOfPairing else {
            return ends.append(.ended(asked.number, result))
        }
        // No caller waits, and the machines of the link get its success by other events.
        guard case .failure(let error) = result else { return }
        ends.append(asked.isOfPairing ? .pairingNotEncrypted(error) : .acceptedUpdateFailed(error))
    }
}
