import BLECore
import DequeModule

/// The management socket's conversation: one command at a time, answers matched by code and index, and
/// the kernel's own events between them.
public struct ManagementQueue: Machine {
    /// Names a command that was submitted.
    public struct Ticket: Hashable, Sendable {
        let number: UInt64
    }

    /// What happened.
    public enum Event: Equatable, Sendable {
        /// The command was answered; on success, with these octets.
        case answered(Ticket, Management.Status, [UInt8])
        /// The kernel did not answer in time.
        case timedOut(Ticket)
        /// An adapter came.
        case added(index: UInt16)
        /// An adapter went.
        case removed(index: UInt16)
        /// An adapter's settings changed.
        case settings(index: UInt16, Management.Settings)
        /// Bytes that are no management packet.
        case malformed(DecodeError)
    }

    private struct Command {
        let ticket: Ticket
        let packet: Management.Packet
        let submitted: Instant
    }

    /// How long the kernel may take: powering a USB adapter on can take seconds.
    private static let timeLimit = Duration.seconds(10)

    private var waiting: Deque<Command> = []
    private var current: Command?
    private var events: Deque<Event> = []
    private var next: UInt64 = 0
    /// When the kernel must have answered.
    public private(set) var deadline: Instant?

    /// A conversation that has not begun.
    public init() {}

    /// Queues a command.
    public mutating func submit(
        _ opcode: Management.Opcode, index: UInt16, _ parameters: [UInt8] = [], at now: Instant
    ) -> Ticket {
        next &+= 1
        let ticket = Ticket(number: next)
        let packet = Management.Packet(code: opcode.rawValue, index: index, parameters: parameters)
        waiting.append(Command(ticket: ticket, packet: packet, submitted: now))
        return ticket
    }

    /// Takes one packet of the socket.
    public mutating func receive(_ frame: Span<UInt8>, at now: Instant) {
        do throws(DecodeError) {
            try take(try Management.Packet(frame))
        } catch {
            events.append(.malformed(error))
        }
    }

    private mutating func take(_ packet: Management.Packet) throws(DecodeError) {
        var reader = ByteReader(packet.parameters.span, of: "management event 0x\(packet.code.hex)")
        switch packet.code {
        case 0x0001, 0x0002:
            let code = try reader.u16("command")
            let status = Management.Status(rawValue: try reader.u8("status"))
            guard let current, current.packet.code == code, current.packet.index == packet.index else {
                return
            }
            events.append(.answered(current.ticket, status, reader.rest()))
            finish()
        case 0x0004: events.append(.added(index: packet.index))
        case 0x0005: events.append(.removed(index: packet.index))
        case 0x0006:
            let settings = Management.Settings(rawValue: try reader.u32("settings"))
            events.append(.settings(index: packet.index, settings))
        default: break
        }
    }

    /// Gives up what was due by `now`.
    public mutating func expire(at now: Instant) {
        guard let deadline, deadline <= now, let current else { return }
        events.append(.timedOut(current.ticket))
        finish()
    }

    /// Writes the next command, when the one before it is answered.
    public mutating func nextFrame(into output: inout OutputSpan<UInt8>) -> Bool {
        guard current == nil, let command = waiting.popFirst() else { return false }
        current = command
        deadline = command.submitted + Self.timeLimit
        command.packet.encode(into: &output)
        return true
    }

    /// The next thing to tell.
    public mutating func nextEvent() -> Event? { events.popFirst() }

    private mutating func finish() {
        current = nil
        deadline = nil
    }
}
