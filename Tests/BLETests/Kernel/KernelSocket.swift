import BLECore
import HCI
import HCISocket
import SystemPackage

@testable import BLE

/// The socket of a kernel's link, without a kernel. It records the required security levels, and the test
/// sets the results.
final class KernelSocket: L2CAPSocket, Sendable {
    private let loop: EventLoop
    private let inner: MemoryPort
    /// The peer's end of the channel.
    let peer: MemoryPort
    private let handle: ConnectionHandle
    /// The error with which the start fails; nil when it succeeds.
    private let failure: PortError?
    private let shared = Lock(Shared())

    private struct Shared {
        var level = SecurityLevel.open
        var keySize = 0
        var required: [SecurityLevel] = []
        var refusal: PortError?
        var writable: (@Sendable () -> Void)?
        var closed: (@Sendable (PortError) -> Void)?
        var unsent = 0
        /// The number of awaited packets that were sent.
        var awaited = 0
        var departed: (@Sendable () -> Void)?
        var watches = 0
        /// The packets that the socket keeps; nil when it keeps none.
        var kept: [[UInt8]]?
    }

    init(
        on loop: EventLoop, handle: ConnectionHandle = ConnectionHandle(0x40),
        refusing refusal: PortError? = nil, failing failure: PortError? = nil
    ) {
        (self.loop, self.failure) = (loop, failure)
        (inner, peer) = MemoryPort.pair(on: loop)
        self.handle = handle
        shared.withLock { $0.refusal = refusal }
    }

    /// The security levels that were required, in order.
    var required: [SecurityLevel] { shared.withLock { $0.required } }

    /// Sets the level and reports the socket as writable, as the kernel does when it has encrypted the link.
    func reach(_ level: SecurityLevel, keySize: Int = 16) {
        set(level, keySize: keySize)
        shared.withLock { $0.writable }?()
    }

    func set(_ level: SecurityLevel, keySize: Int = 16) {
        shared.withLock { ($0.level, $0.keySize) = (level, keySize) }
    }

    /// Sets the number of packets that have not left, and reports that others have left.
    func keep(_ packets: Int) {
        shared.withLock {
            $0.unsent = packets
            return $0.departed
        }?()
    }

    /// Sets the number of packets that have not left, without a report.
    func keepSilently(_ packets: Int) { shared.withLock { $0.unsent = packets } }

    /// Whether departures of packets are reported.
    var isWatched: Bool { shared.withLock { $0.departed != nil } }

    /// Ends the link with `connectionReset`.
    func lose() { shared.withLock { $0.closed }?(.system(.connectionReset, during: "recvmmsg")) }

    func security() -> (level: SecurityLevel?, keySize: Int) {
        shared.withLock { ($0.level, $0.keySize) }
    }

    func require(_ level: SecurityLevel) throws(PortError) {
        shared.withLock { $0.required.append(level) }
        if let refusal = shared.withLock({ $0.refusal }) { throw refusal }
    }

    func connectionHandle() -> ConnectionHandle { handle }

    /// The number of awaited packets that were sent, those that the test adds included, less those that have
    /// not left.
    var sendState: L2CAPSendState {
        shared.withLock {
            L2CAPSendState(waiting: $0.unsent, awaited: $0.unsent, departed: $0.awaited - $0.unsent)
        }
    }

    /// Sets the handler of departures and calls it at once, as the kernel does.
    func watchDepartures(_ departed: (@Sendable () -> Void)?) {
        shared.withLock {
            $0.departed = departed
            if departed != nil { $0.watches += 1 }
        }
        if let departed { loop.execute(departed) }
    }

    /// The number of times that a watch of departures has begun.
    var watches: Int { shared.withLock { $0.watches } }

    var isWritable: Bool { shared.withLock { $0.kept?.isEmpty ?? true } && inner.isWritable }

    /// Keeps the next packet in the socket, as the kernel does while it pairs.
    func keepNext() { shared.withLock { $0.kept = [] } }

    /// Sends the packets that were kept.
    func release() {
        for packet in shared.withLock({ $0.kept.take() ?? [] }) { inner.send(packet.span) }
        shared.withLock { $0.writable }?()
    }

    func start(_ handlers: PacketPortHandlers) throws(PortError) {
        shared.withLock {
            $0.writable = handlers.writable
            $0.closed = handlers.closed
        }
        if let failure { throw failure }
        try inner.start(handlers)
    }

    func send(_ packet: Span<UInt8>) { send(packet, isAwaited: false) }

    func send(_ packet: Span<UInt8>, isAwaited: Bool) {
        if isAwaited { shared.withLock { $0.awaited += 1 } }
        let octets = [UInt8](copying: packet)
        let isKept = shared.withLock { shared in
            shared.kept?.append(octets)
            return shared.kept != nil
        }
        if !isKept { inner.send(packet) }
    }

    func close() { inner.close() }
}

extension KernelHost {
    /// Adds a link of the kernel to `peer`.
    func link(
        to peer: DeviceAddress, as role: LinkRole = .peripheral, over socket: KernelSocket
    ) async -> LinkID {
        await adapter.link(to: peer, as: role, over: socket)
    }
}

extension Adapter {
    var linkCount: Int { links.count }

    fileprivate func link(to peer: DeviceAddress, as role: LinkRole, over socket: KernelSocket) -> LinkID {
        if role == .central {
            // A link that this host has established ends if no caller waits for it.
            let ticket = radio.nextTicket()
            _ = radio.wait(.init(ticket: ticket, options: .init()), for: peer, at: loop.now)
        }
        return addLink(to: peer, as: role, over: .socket(L2CAPChannel(port: socket, peer: peer)))
    }
}
