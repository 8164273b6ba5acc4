import BLECore
import HCI
import HCISocket

/// A port to a controller that answers some commands at random, the same for the same seed: with nothing, with
/// answers, events or data of random contents, or with random octets. The controller carries out a quarter of these
/// commands as well.
final class BabblingPort: PacketPort, @unchecked Sendable {
    // Sendable: all state except `share` is used on the loop only.
    private let inner: any PacketPort
    private let loop: EventLoop
    private var random: SplitMix64
    private var handlers: PacketPortHandlers?
    /// The number of commands in ten that are answered at random.
    private let share = Lock(0)

    init(_ inner: any PacketPort, on loop: EventLoop, seed: UInt64) {
        (self.inner, self.loop, random) = (inner, loop, SplitMix64(seed: seed))
    }

    /// Sets the number of commands in ten that are answered at random.
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
        // The controller carries out and answers some of these commands as well.
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
        // A random LE Meta event whose status is Success.
        case 5: return event(0x3e, [octet % 0x2b, 0] + random.bytes(upTo: 60))
        // Data whose handle has the low octet 0x40, as the first handle of the simulated controllers has.
        case 6: return [2, 0x40, octet] + random.bytes(upTo: 40)
        default: return [octet % 6] + random.bytes(upTo: 60)
        }
    }

    private func event(_ code: UInt8, _ parameters: [UInt8]) -> [UInt8] {
        [4, code, UInt8(parameters.count)] + parameters
    }
}
