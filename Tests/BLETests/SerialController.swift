import BLE
import BLECore
import Glibc
import HCI
import HCISocket

/// A controller of the virtual air behind a pseudo terminal: the host opens the terminal as a serial port.
/// A test can change the octets on the line in both directions.
final class SerialController: Sendable {
    /// The terminal's file, for `serial:PATH`.
    let path: String
    private let terminal: CInt
    private let loop: EventLoop
    private let line: H4Port
    private let controller: any PacketPort
    private let shared = Lock(Shared())

    fileprivate struct Shared {
        var alter: (@Sendable ([UInt8]) -> [UInt8])?
        var alterHost: (@Sendable ([UInt8]) -> [UInt8])?
        var received = ReceivedStream()
        var resets = 0
        var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    init(_ controller: any PacketPort, on loop: EventLoop) throws {
        // TIOCSPTLCK and TIOCGPTN: Swift's Glibc has no posix_openpt.
        var (unlocked, number): (CInt, CInt) = (0, 0)
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard terminal >= 0, ioctl(terminal, 0x4004_5431, &unlocked) == 0,
            ioctl(terminal, 0x8004_5430, &number) == 0
        else { throw BLEError.notFound(.device(within: nil)) }
        path = "/dev/pts/\(number)"
        // The settings of a UART: no echo, even if the host has not set up its side yet.
        var settings = termios()
        tcgetattr(terminal, &settings)
        cfmakeraw(&settings)
        tcsetattr(terminal, TCSANOW, &settings)
        (self.terminal, self.loop, self.controller) = (terminal, loop, controller)
        line = H4Port(terminal, on: loop, expecting: HCIPacketType.fromHost)
    }

    /// Starts both ends. Must be called on the loop.
    func start() throws(PortError) {
        try controller.start(
            PacketPortHandlers(
                receive: { [terminal, shared] packet in
                    let octets = [UInt8](copying: packet)
                    let altered = shared.withLock { Shared.apply(&$0.alter, to: octets) }
                    _ = altered.withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
                }, writable: {}, closed: { _ in }))
        try line.start(
            PacketPortHandlers(
                receive: { [controller, shared] packet in
                    if packet.count == 4, packet[0] == 1, packet[1] == 0x03, packet[2] == 0x0c {
                        let waiter = shared.withLock { $0.countReset() }
                        waiter?.resume()
                    }
                    let octets = [UInt8](copying: packet)
                    let packets = shared.withLock { shared in
                        shared.received.add(Shared.apply(&shared.alterHost, to: octets))
                    }
                    for packet in packets { controller.send(packet.span) }
                }, writable: {}, closed: { _ in }))
    }

    /// Applies `alter` to the controller's packets until it has changed one. Later packets are unchanged.
    func alter(_ alter: @escaping @Sendable ([UInt8]) -> [UInt8]) { shared.withLock { $0.alter = alter } }

    /// Applies `alter` to the host's packets until it has changed one. Later packets are unchanged.
    func alterHost(_ alter: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        shared.withLock { $0.alterHost = alter }
    }

    /// The number of Resets that the host has sent.
    var resets: Int { shared.withLock { $0.resets } }

    /// Waits until the host has sent `count` Resets.
    func resets(reach count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = shared.withLock { shared in
                if shared.resets < count { shared.waiting = (count, continuation) }
                return shared.resets >= count
            }
            if isThere { continuation.resume() }
        }
    }

    /// Closes the line and the controller, as when the controller is unplugged.
    func unplug() async {
        await withCheckedContinuation { done in
            loop.execute { [self] in
                line.close()
                controller.close()
                done.resume()
            }
        }
    }
}

extension SerialController.Shared {
    /// Returns the octets as `alter` changes them, and removes the closure when it has changed some.
    fileprivate static func apply(
        _ alter: inout (@Sendable ([UInt8]) -> [UInt8])?, to octets: [UInt8]
    ) -> [UInt8] {
        let altered = alter?(octets) ?? octets
        if altered != octets { alter = nil }
        return altered
    }

    fileprivate mutating func countReset() -> CheckedContinuation<Void, Never>? {
        resets += 1
        guard let waiting, waiting.count <= resets else { return nil }
        self.waiting = nil
        return waiting.continuation
    }
}

/// The octets that a controller receives on a serial line. As a UART controller does, it takes all octets for
/// the rest of a packet until that is whole, and skips octets that begin no packet.
private struct ReceivedStream {
    private var octets: [UInt8] = []

    /// Adds octets, and removes and returns the packets that are whole.
    mutating func add(_ more: [UInt8]) -> [[UInt8]] {
        octets += more
        var packets: [[UInt8]] = []
        while let type = octets.first {
            let header: Int
            switch type {
            case 1: header = 4
            case 2: header = 5
            default:
                octets.removeFirst()
                continue
            }
            guard octets.count >= header else { break }
            let length = header + Int(octets[3]) + (type == 2 ? Int(octets[4]) << 8 : 0)
            guard octets.count >= length else { break }
            packets.append(Array(octets[..<length]))
            octets.removeFirst(length)
        }
        return packets
    }
}
