import BLECore
import DequeModule

/// Sends commands to a controller as it accepts them, and matches the answers to them (Core Specification
/// 5.4, Vol 4, Part E, 4.4).
///
/// Frames are HCI packets with their type octet: events are received, commands are sent. The queue reads only
/// Command Complete and Command Status and ignores all other events, so it can be given all packets. With a
/// shared controller, it also receives the commands of others.
///
/// - Commands are sent in the order of their submission. There are never more unanswered commands than the
///   controller's latest answer allowed, and never two with the same opcode, because an answer contains only
///   the opcode.
/// - A time limit starts at submission, so that no command waits forever if the controller does not answer.
///   After the limit the queue waits as long again for a late answer, which it drops; until then it uses
///   neither the credit nor the opcode of the command again.
/// - Reset overtakes all commands that were submitted before it: waiting and unanswered commands fail with
///   Operation Cancelled by Host (0x44). Reset needs no credit, and nothing else is sent until it is answered
///   (Vol 4, Part E, 7.3.2).
package struct CommandQueue: Machine, Sendable {
    /// Whether only this host sends commands to the controller.
    package enum Ownership: Hashable, Sendable {
        /// Only this host uses the controller, and this queue counts the credits.
        case exclusive
        /// The kernel shares the controller through a raw socket and counts the credits. The queue also
        /// receives the commands of other processes and their answers. The kernel sends one command at a time
        /// to the controller and shows the commands of others when it sends them, so the answer after such a
        /// command belongs to that command.
        case shared
    }

    /// Identifies a submitted command; never reused.
    package struct Ticket: Hashable, Sendable {
        package let opcode: HCIOpcode
        fileprivate let number: UInt64
    }

    /// The result of a command.
    package enum Event: Hashable, Sendable {
        /// Command Complete was received: the return parameters, with the status first if the command has
        /// one. This is also possible for a command that should be answered with Command Status.
        case completed(Ticket, parameters: [UInt8])
        /// Command Status was received with success: another event will report the outcome.
        case accepted(Ticket)
        /// Command Status was received with an error, or a Reset overtook the command.
        case failed(Ticket, HCIStatus)
        /// The controller did not answer within the time limit.
        case timedOut(Ticket)
        /// A command of another program or of the kernel, from its opcode on, was answered with that status:
        /// the controller has executed or rejected it.
        case foreign([UInt8], HCIStatus)
        /// An answer could not be read.
        case malformed(DecodeError)
    }

    /// The maximum size of `nextFrame`'s output in octets: type, opcode, length and 255 octets.
    package static let maximumFrameLength = 259

    /// Whether only this host sends commands to the controller.
    package let ownership: Ownership
    /// The number of answers without a command of this queue, or for a command for which no caller was
    /// waiting any more.
    package private(set) var unsolicitedCount = 0
    /// The number of commands that have not been sent.
    package var waitingCount: Int { waiting.count }

    private struct Waiting {
        let ticket: Ticket
        let packet: HCICommandPacket
        let timeLimit: Duration
        let deadline: Instant
    }
    private struct Sent {
        let ticket: Ticket
        let timeLimit: Duration
        var deadline: Instant
        /// Whether a caller is waiting for the answer.
        var isWanted = true
        /// Whether the time limit has expired.
        var isLate = false
    }
    private var waiting: Deque<Waiting> = []
    private var sent: [Sent] = []
    private var events: Deque<Event> = []
    /// The number of commands that can be unanswered: one after power-on, then the number in the latest
    /// answer.
    private var allowance = 1
    private var lastNumber: UInt64 = 0
    private struct Foreign {
        /// The command, from its opcode on.
        let octets: [UInt8]
        /// The time until which an answer is expected.
        let deadline: Instant
    }
    /// The commands of others that a shared controller has not answered.
    private var foreign: [HCIOpcode: Foreign] = [:]
    /// The time for which the kernel waits for an answer.
    private static let kernelTimeLimit = Duration.seconds(2)

    /// Creates a queue for a controller that has received no command yet.
    package init(_ ownership: Ownership = .exclusive) { self.ownership = ownership }
}

// MARK: - The owner's side

extension CommandQueue {
    /// Queues a command. Exactly one event reports its result within `timeLimit`, unless it is cancelled.
    ///
    /// Do not use this for Host Number Of Completed Packets, which has no answer and needs no credit.
    package mutating func submit(
        _ packet: HCICommandPacket, timeLimit: Duration, at now: Instant
    ) -> Ticket {
        lastNumber += 1
        let ticket = Ticket(opcode: packet.opcode, number: lastNumber)
        if packet.opcode == .reset { overtake() }
        waiting.append(
            Waiting(ticket: ticket, packet: packet, timeLimit: timeLimit, deadline: now + timeLimit))
        return ticket
    }

    /// Cancels a command: no event will report its result. If it has been sent, the controller executes it.
    package mutating func cancel(_ ticket: Ticket) {
        waiting.removeAll { $0.ticket == ticket }
        if let index = sent.firstIndex(where: { $0.ticket == ticket }) { sent[index].isWanted = false }
    }

    /// Removes the commands that have not been sent and for which `isMeant` returns true. Returns their
    /// tickets. No event will report their results.
    package mutating func withdraw(where isMeant: (HCICommandPacket) -> Bool) -> [Ticket] {
        let meant = waiting.filter { isMeant($0.packet) }.map(\.ticket)
        waiting.removeAll { isMeant($0.packet) }
        return meant
    }

    private mutating func overtake() {
        abandonSent()
        for command in waiting { events.append(.failed(command.ticket, .operationCancelledByHost)) }
        waiting.removeAll()
    }

    private mutating func abandonSent() {
        for index in sent.indices where sent[index].isWanted {
            sent[index].isWanted = false
            events.append(.failed(sent[index].ticket, .operationCancelledByHost))
        }
    }
}

// MARK: - The machine

extension CommandQueue {
    /// The time at which the next time limit or wait for a late answer ends.
    package var deadline: Instant? {
        let all = sent.lazy.map(\.deadline)
        return earlier(all.min(), waiting.lazy.map(\.deadline).min())
    }

    /// Ends the time limits that have expired by `now`.
    package mutating func expire(at now: Instant) {
        for index in sent.indices where sent[index].deadline <= now && !sent[index].isLate {
            if sent[index].isWanted { events.append(.timedOut(sent[index].ticket)) }
            sent[index].isWanted = false
            sent[index].isLate = true
            sent[index].deadline = sent[index].deadline + sent[index].timeLimit
        }
        sent.removeAll { $0.isLate && $0.deadline <= now }
        for command in waiting where command.deadline <= now { events.append(.timedOut(command.ticket)) }
        waiting.removeAll { $0.deadline <= now }
    }

    /// Writes the next command, its type octet first; `output` needs room for `maximumFrameLength`.
    package mutating func nextFrame(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        guard let next = waiting.first, mayBeSent(next.ticket.opcode) else { return false }
        waiting.removeFirst()
        if next.ticket.opcode == .reset { sent.removeAll { $0.ticket.opcode == .reset } }
        sent.append(Sent(ticket: next.ticket, timeLimit: next.timeLimit, deadline: next.deadline))
        output.u8(HCIPacketType.command.rawValue)
        next.packet.encode(into: &output)
        return true
    }

    /// Returns the next event, oldest first.
    package mutating func nextEvent() -> Event? { events.popFirst() }

    private func mayBeSent(_ opcode: HCIOpcode) -> Bool {
        if opcode == .reset { return true }
        return !sent.contains { $0.ticket.opcode == opcode || $0.ticket.opcode == .reset }
            && (ownership == .shared || sent.count < allowance)
    }
}

// MARK: - Answers

extension CommandQueue {
    /// Handles a packet from the controller, with its type octet first.
    package mutating func receive(_ frame: Span<UInt8>, at now: Instant) {
        guard frame.count >= 2 else { return }
        if ownership == .shared, frame.count >= 3, frame[0] == HCIPacketType.command.rawValue {
            let opcode = HCIOpcode(rawValue: UInt16(frame[1]) | UInt16(frame[2]) << 8)
            foreign[opcode] = Foreign(
                octets: Array(copying: frame.extracting(droppingFirst: 1)),
                deadline: now + Self.kernelTimeLimit)
        }
        guard frame[0] == HCIPacketType.event.rawValue else { return }
        do throws(DecodeError) {
            switch HCIEventCode(rawValue: frame[1]) {
            case .commandComplete: try complete(frame, at: now)
            case .commandStatus: try accept(frame, at: now)
            default: break
            }
        } catch {
            events.append(.malformed(error))
        }
    }

    private mutating func complete(_ frame: Span<UInt8>, at now: Instant) throws(DecodeError) {
        var reader = ByteReader(frame, of: "Command Complete")
        try Self.skipHeader(&reader)
        let allowance = try reader.u8("Num_HCI_Command_Packets")
        let opcode = HCIOpcode(rawValue: try reader.u16("Command_Opcode"))
        let parameters = reader.rest()
        let status = HCIStatus(rawValue: parameters.first ?? 0)
        if let answered = settle(opcode, status, allowance, at: now) {
            events.append(.completed(answered, parameters: parameters))
        }
        if opcode == .reset {
            // The reset controller has discarded all other commands.
            abandonSent()
            sent.removeAll()
            foreign.removeAll()
        }
    }

    private mutating func accept(_ frame: Span<UInt8>, at now: Instant) throws(DecodeError) {
        var reader = ByteReader(frame, of: "Command Status")
        try Self.skipHeader(&reader)
        let status = HCIStatus(rawValue: try reader.u8("Status"))
        let allowance = try reader.u8("Num_HCI_Command_Packets")
        let opcode = HCIOpcode(rawValue: try reader.u16("Command_Opcode"))
        try reader.end()
        guard let answered = settle(opcode, status, allowance, at: now) else { return }
        events.append(status == .success ? .accepted(answered) : .failed(answered, status))
    }

    /// Removes an unanswered command with that opcode. Returns its ticket if a caller is waiting for it.
    private mutating func settle(
        _ opcode: HCIOpcode, _ status: HCIStatus, _ allowance: UInt8, at now: Instant
    ) -> Ticket? {
        self.allowance = Int(allowance)
        // Only updates the allowance (7.7.14).
        guard opcode != .none else { return nil }
        if let command = foreign.removeValue(forKey: opcode), now < command.deadline {
            unsolicitedCount += 1
            events.append(.foreign(command.octets, status))
            return nil
        }
        guard let index = sent.firstIndex(where: { $0.ticket.opcode == opcode }) else {
            unsolicitedCount += 1
            return nil
        }
        let command = sent.remove(at: index)
        if !command.isWanted { unsolicitedCount += 1 }
        return command.isWanted ? command.ticket : nil
    }

    /// Reads past the type, code and length. Throws if the length is wrong.
    private static func skipHeader(_ reader: inout ByteReader) throws(DecodeError) {
        _ = try reader.u16("Event_Code")
        let length = Int(try reader.u8("Parameter_Total_Length"))
        guard length == reader.remaining else {
            throw reader.failure(
                "Event_Parameters",
                .malformed("the length is \(length), but \(reader.remaining) octets follow"))
        }
    }
}
