import BLECore
import HCI
import HCISocket

/// A controller that does not comply with the specification: one of the virtual air behind a script that
/// determines its answers.
final class ScriptedPort: PacketPort, @unchecked Sendable {
    // Sendable: accessed only on the loop, except `shared`.
    private let inner: any PacketPort
    private let loop: EventLoop
    private let shared = Lock(Shared())

    /// The controller's response to a command.
    enum Behavior: Sendable {
        /// The command is neither executed nor answered.
        case silence
        /// The command is executed, and its answer is delayed by this time.
        case late(Duration)
        /// The command is not executed, and these events are sent.
        case sends([HCIEventPacket])
        /// The command is executed, and its answer is replaced by the events that the closure returns.
        case answers(@Sendable (HCIEventPacket) -> [HCIEventPacket])

        /// The command is executed, and answered twice.
        static let twice = answers { [$0, $0] }
        /// Returns a behavior that does not execute the command, and completes it with only this status.
        static func refuses(_ opcode: HCIOpcode, _ status: HCIStatus) -> Behavior {
            sends([CommandComplete(opcode, status: status).packet])
        }
    }

    private struct Rule {
        let opcode: HCIOpcode
        let behavior: Behavior
        /// The number of commands to which the rule still applies.
        var times: Int
    }

    private struct Shared {
        var rules: [Rule] = []
        var commands: [HCICommandPacket] = []
        var handlers: PacketPortHandlers?
        /// The unanswered commands whose answers a rule changes.
        var altered: [(opcode: HCIOpcode, behavior: Behavior)] = []
    }

    init(_ inner: any PacketPort, on loop: EventLoop) { (self.inner, self.loop) = (inner, loop) }

    /// Applies a behavior to the next `times` commands with this opcode.
    func script(_ opcode: HCIOpcode, _ behavior: Behavior, times: Int = .max) {
        shared.withLock { $0.rules.append(Rule(opcode: opcode, behavior: behavior, times: times)) }
    }

    /// Removes all rules: from now on the controller answers all commands by itself.
    func removeRules() { shared.withLock { $0.rules = [] } }

    /// The opcodes of the commands that the host has sent, in order.
    var opcodes: [HCIOpcode] { commands.map(\.opcode) }
    /// The commands that the host has sent, in order.
    var commands: [HCICommandPacket] { shared.withLock { $0.commands } }

    /// Sends the host an event.
    func emit(_ event: HCIEventPacket) {
        loop.execute { [self] in deliver(event) }
    }

    /// Passes another program's command to the host, as a raw socket does.
    func overhear(_ command: HCICommandPacket) {
        let octets = HCIPacket.command(command).encoded
        loop.execute { [self] in shared.withLock { $0.handlers }?.receive(octets.span) }
    }

    var isWritable: Bool { inner.isWritable }

    func start(_ handlers: PacketPortHandlers) throws(PortError) {
        shared.withLock { $0.handlers = handlers }
        var mine = handlers
        mine.receive = { [weak self] packet in self?.received(packet) }
        try inner.start(mine)
    }

    func send(_ packet: Span<UInt8>) {
        guard let command = Self.command(packet) else { return inner.send(packet) }
        let behavior = shared.withLock { shared -> Behavior? in
            shared.commands.append(command)
            guard let index = shared.rules.firstIndex(where: { $0.opcode == command.opcode && $0.times > 0 })
            else { return nil }
            shared.rules[index].times -= 1
            return shared.rules[index].behavior
        }
        switch behavior {
        case .silence?: break
        case .sends(let events)?: for event in events { emit(event) }
        case .late?, .answers?:
            if let behavior { shared.withLock { $0.altered.append((command.opcode, behavior)) } }
            inner.send(packet)
        case nil: inner.send(packet)
        }
    }

    func close() {
        shared.withLock { $0.handlers = nil }
        inner.close()
    }

    private func received(_ packet: Span<UInt8>) {
        guard let event = Self.answer(packet), let behavior = meddling(with: event.opcode) else {
            return shared.withLock { $0.handlers }?.receive(packet) ?? ()
        }
        switch behavior {
        case .late(let time):
            Task(executorPreference: loop) { [self] in
                if await loop.sleep(for: time) { deliver(event.packet) }
            }
        case .answers(let make): for each in make(event.packet) { deliver(each) }
        case .silence, .sends: break
        }
    }

    private func meddling(with opcode: HCIOpcode) -> Behavior? {
        shared.withLock { shared in
            shared.altered.firstIndex { $0.opcode == opcode }.map { shared.altered.remove(at: $0).behavior }
        }
    }

    private func deliver(_ event: HCIEventPacket) {
        let octets = [HCIPacketType.event.rawValue] + event.encoded
        shared.withLock { $0.handlers }?.receive(octets.span)
    }

    private static func command(_ packet: Span<UInt8>) -> HCICommandPacket? {
        guard case .command(let command) = try? HCIPacket([UInt8](copying: packet)) else { return nil }
        return command
    }

    private static func answer(_ packet: Span<UInt8>) -> (packet: HCIEventPacket, opcode: HCIOpcode)? {
        guard case .event(let packet) = try? HCIPacket([UInt8](copying: packet)) else { return nil }
        switch try? HCIEvent(packet) {
        case .commandComplete(let event): return (packet, event.opcode)
        case .commandStatus(let event): return (packet, event.opcode)
        default: return nil
        }
    }
}

extension HCIEventPacket {
    /// Returns the same event without the last `count` octets of its parameters.
    func dropping(_ count: Int) -> HCIEventPacket {
        HCIEventPacket(code: code, parameters: parameters.dropLast(count))
    }

    /// Returns the same Command Complete with another number of commands that the host may send.
    func granting(_ credits: UInt8) -> HCIEventPacket {
        HCIEventPacket(code: code, parameters: [credits] + parameters.dropFirst())
    }
}
