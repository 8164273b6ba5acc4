import BLECore
import DequeModule
import HCI

/// The queue of commands to the management socket. It sends one command at a time, except for commands that
/// last long, such as pairing. It matches responses by code and index, and passes on the kernel's own events.
package struct ManagementQueue: Machine {
    /// Identifies a submitted command.
    package struct Ticket: Hashable, Comparable, Sendable {
        let number: UInt64

        package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    }

    /// The result of a command, or another packet from the socket.
    package enum Event: Equatable, Sendable {
        /// The kernel responded to the command with this status and these octets.
        case answered(Ticket, ManagementStatus, [UInt8])
        /// The kernel did not respond within the time limit of this command.
        case timedOut(Ticket, after: Duration)
        /// The kernel sent an event about the adapter with that index.
        case event(index: UInt16, ManagementEvent)
        /// The bytes received are not a management packet.
        case malformed(DecodeError)
    }

    private struct Command {
        let ticket: Ticket
        let command: ManagementCommand
        let packet: Management.Packet
        /// The time at which the command was sent to the kernel, or queued if it has not been sent.
        var begun: Instant

        var deadline: Instant { begun + command.timeLimit }
    }

    private var waiting: Deque<Command> = []
    private var current: Command?
    /// Commands that do not delay later commands while they wait for a response.
    private var lasting: [Command] = []
    private var events: Deque<Event> = []
    private var next: UInt64 = 0

    /// Creates an empty queue.
    package init() {}

    /// The time by which the kernel must have responded to a command.
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

    /// Handles one packet from the socket.
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

    /// Removes and returns the command to which a response belongs.
    private mutating func end(_ code: UInt16, _ index: UInt16, _ octets: [UInt8]) -> Command? {
        if let current, current.packet.code == code, current.packet.index == index {
            self.current = nil
            return current
        }
        let candidates = lasting.indices.filter {
            lasting[$0].packet.code == code && lasting[$0].packet.index == index
        }
        // The response contains the device, but with its identity address if that has become known.
        var reader = ByteReader(octets.span, of: "answer")
        let peer = (try? reader.peer()) ?? nil
        let meant = candidates.first { lasting[$0].command.peer == peer } ?? candidates.first
        return meant.map { lasting.remove(at: $0) }
    }

    /// Times out the commands whose deadline is not after `now`.
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

    /// The size of the next command in octets, for allocating its buffer; 0 if there is none or if the
    /// previous command has no response yet.
    package var nextFrameCount: Int { current == nil ? waiting.first?.packet.encodedCount ?? 0 : 0 }

    /// Writes the next command, if the kernel has responded to the previous one.
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
