import BLECore
import HCI
import HCISocket

/// A controller that answers commands with whatever comes to its mind, the same for the same seed: nothing,
/// octets that look like an answer, octets that look like nothing, or what it should.
final class BabblingPort: PacketPort, @unchecked Sendable {
    // Sendable: all state is touched on the loop only, but for `share`.
    private let inner: any PacketPort
    private let loop: EventLoop
    private var random: SplitMix64
    private var handlers: PacketPortHandlers?
    /// How many of ten commands it babbles about.
    private let share = Lock(0)

    init(_ inner: any PacketPort, on loop: EventLoop, seed: UInt64) {
        (self.inner, self.loop, random) = (inner, loop, SplitMix64(seed: seed))
    }

    /// From here on it babbles about so many of ten commands.
    func babble(about share: Int) { self.share.withLock { $0 = share } }

    var isWritable: Bool { inner.isWritable }

    func start(_ handlers: PacketPortHandlers) throws(PortError) {
        self.handlers = handlers
        try inner.start(handlers)
    }

    func send(_ packet: Span<UInt8>) {
        let share = share.withLock { $0 }
        guard Int.random(in: 0..<10, using: &random) < share,
            case .command(let command) = try? HCIPacket([UInt8](copying: packet))
        else { return inner.send(packet) }
        let words = (0..<Int.random(in: 1...3, using: &random)).map { _ in word(about: command.opcode) }
        loop.execute { [self] in
            for word in words where !word.isEmpty { handlers?.receive(word.span) }
        }
        // Some commands it carries out and answers as well.
        if Int.random(in: 0..<4, using: &random) == 0 { inner.send(packet) }
    }

    func close() {
        handlers = nil
        inner.close()
    }

    private func word(about opcode: HCIOpcode) -> [UInt8] {
        let number = [UInt8(truncatingIfNeeded: opcode.rawValue), UInt8(opcode.rawValue >> 8)]
        let octet = UInt8.random(in: 0...255, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return []
        case 1: return event(0x0e, [octet % 3] + number + [0] + random.bytes(upTo: 70))
        case 2: return event(0x0e, [1] + number + random.bytes(upTo: 20))
        case 3: return event(0x0f, [octet % 4 == 0 ? octet : 0, 1] + number)
        case 4: return event(octet, random.bytes(upTo: 40))
        // A subevent, its status success.
        case 5: return event(0x3e, [octet % 0x2b, 0] + random.bytes(upTo: 60))
        // Data on one of the handles that the simulated controllers begin with.
        case 6: return [2, 0x40, octet] + random.bytes(upTo: 40)
        default: return [octet % 6] + random.bytes(upTo: 60)
        }
    }

    private func event(_ code: UInt8, _ parameters: [UInt8]) -> [UInt8] {
        [4, code, UInt8(parameters.count)] + parameters
    }
}
