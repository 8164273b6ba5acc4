import BLECore
import HCI
import HCISocket

/// A port of a host whose controller a test can replace in part. The port withholds commands from the controller,
/// answers them in its place, and sends events that the controller has not sent.
final class ControlledPort: PacketPort, Sendable {
    private let inner: any PacketPort
    private let loop: EventLoop
    private let shared = Lock(Shared())

    private struct Shared {
        var rule: (@Sendable (HCICommandPacket) -> [HCIEventPacket]?)?
        var commands: [HCICommandPacket] = []
        var receive: (@Sendable (Span<UInt8>) -> Void)?
    }

    init(_ inner: any PacketPort, on loop: EventLoop) {
        self.inner = inner
        self.loop = loop
    }

    /// The commands that the host has sent since the last `forget`.
    var commands: [HCICommandPacket] { shared.withLock { $0.commands } }

    /// The opcodes of `commands`.
    var opcodes: [HCIOpcode] { commands.map(\.opcode) }

    func forget() { shared.withLock { $0.commands = [] } }

    /// Sets the rule for the following commands. A command for which `rule` returns events is answered with these and
    /// is withheld from the controller. All other commands are passed to the controller.
    func play(_ rule: (@Sendable (HCICommandPacket) -> [HCIEventPacket]?)?) {
        shared.withLock { $0.rule = rule }
    }

    /// Sends the host an event.
    func emit(_ event: HCIEventPacket) { emit(.event(event)) }

    /// Sends the host a packet.
    func emit(_ packet: HCIPacket) {
        let octets = packet.encoded
        loop.execute { [self] in shared.withLock { $0.receive }?(octets.span) }
    }

    var isWritable: Bool { inner.isWritable }

    func start(_ handlers: PacketPortHandlers) throws(PortError) {
        shared.withLock { $0.receive = handlers.receive }
        try inner.start(handlers)
    }

    func send(_ packet: Span<UInt8>) {
        guard case .command(let command)? = try? HCIPacket(packet) else { return inner.send(packet) }
        let rule = shared.withLock { shared in
            shared.commands.append(command)
            return shared.rule
        }
        guard let events = rule?(command) else { return inner.send(packet) }
        for event in events { emit(event) }
    }

    func close() { inner.close() }
}
