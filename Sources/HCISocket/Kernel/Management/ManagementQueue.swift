import BLECore
import DequeModule
import HCI

/// The management socket's conversation: one command at a time, but for those that wait for a user; answers matched
/// by code and index; and the kernel's own events between them.
package struct ManagementQueue: Machine {
    /// Names a command that was submitted.
    package struct Ticket: Hashable, Sendable {
        let number: UInt64
    }

    /// The result of a command, or something else that came from the socket.
    package enum Event: Equatable, Sendable {
        /// The command was answered; on success, with these octets.
        case answered(Ticket, ManagementStatus, [UInt8])
        /// The kernel did not answer in the time that it has for this command.
        case timedOut(Ticket, after: Duration)
        /// The kernel sent an event about the adapter with that index.
        case event(index: UInt16, ManagementEvent)
        /// Bytes that are no management packet.
        case malformed(DecodeError)
    }

    private struct Command {
        let ticket: Ticket
        let command: ManagementCommand
        let packet: Management.Packet
        /// When the kernel was given it; before, when it was queued.
        var begun: Instant

        var deadline: Instant { begun + command.timeLimit }
    }

    private var waiting: Deque<Command> = []
    private var current: Command?
    /// Commands that others need not wait for.
    private var lasting: [Command] = []
    private var events: Deque<Event> = []
    private var next: UInt64 = 0

    /// A conversation that has not begun.
    package init() {}

    /// When the kernel must have answered something.
    package var deadline: Instant? { lasting.map(\.deadline).reduce(current?.deadline, earlier) }

    /// Queues a command about the adapter with that index.
    package mutating func submit(
        _ command: ManagementCommand, index: UInt16, at now: Instant
    ) -> Ticket {
        next &+= 1
        let ticket = Ticket(number: next)
        waiting.append(
            Command(ticket: ticket, command: command, packet: command.packet(for: index), begun: now))
        return ticket
    }

    /// Takes one packet of the socket.
    package mutating func receive(_ frame: Span<UInt8>, at now: Instant) {
        do throws(DecodeError) {
            try take(try Management.Packet(frame))
        } catch {
            events.append(.malformed(error))
        }
    }

    private mutating func take(_ packet: Management.Packet) throws(DecodeError) {
        switch packet.code {
        case 0x0001, 0x0002:
            var reader = ByteReader(packet.parameters.span, of: "management event 0x\(packet.code.hex)")
            let code = try reader.u16("command")
            let status = ManagementStatus(rawValue: try reader.u8("status"))
            let octets = reader.rest()
            guard let command = end(code, packet.index, octets) else { return }
            events.append(.answered(command.ticket, status, octets))
        default: events.append(.event(index: packet.index, try ManagementEvent(packet)))
        }
    }

    /// Takes out the command that an answer is for.
    private mutating func end(_ code: UInt16, _ index: UInt16, _ octets: [UInt8]) -> Command? {
        if let current, current.packet.code == code, current.packet.index == index {
            self.current = nil
            return current
        }
        let candidates = lasting.indices.filter {
            lasting[$0].packet.code == code && lasting[$0].packet.index == index
        }
        // The answer names the device, but by its identity where that came to light.
        var reader = ByteReader(octets.span, of: "answer")
        let peer = (try? reader.peer()) ?? nil
        let meant = candidates.first { lasting[$0].command.peer == peer } ?? candidates.first
        return meant.map { lasting.remove(at: $0) }
    }

    /// Gives up what was due by `now`.
    package mutating func expire(at now: Instant) {
        if let late = current, late.deadline <= now {
            current = nil
            events.append(.timedOut(late.ticket, after: late.command.timeLimit))
        }
        for late in lasting where late.deadline <= now {
            events.append(.timedOut(late.ticket, after: late.command.timeLimit))
        }
        lasting.removeAll { $0.deadline <= now }
    }

    /// Octets of the next command, for room to write it; 0 when there is none, or one before it is not answered.
    package var nextFrameCount: Int { current == nil ? waiting.first?.packet.encodedCount ?? 0 : 0 }

    /// Writes the next command, when the one before it is answered.
    package mutating func nextFrame(into output: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        guard current == nil, var command = waiting.popFirst() else { return false }
        command.begun = now
        if command.command.isLasting { lasting.append(command) } else { current = command }
        command.packet.encode(into: &output)
        return true
    }

    /// Removes and returns the next event.
    package mutating func nextEvent() -> Event? { events.popFirst() }
}
