import BLECore
import CLinux
import Glibc
import SystemPackage

/// A port over a descriptor that keeps packets apart: raw HCI, management, monitor and L2CAP sockets. One
/// read is one packet, one write is one packet.
public final class PacketSocket: PacketPort, @unchecked Sendable {
    // Sendable: all state is touched on the loop only; WatchedDescriptor and the callers see to it.
    private let socket: WatchedDescriptor
    private var input: [UInt8]
    private var kept: [UInt8]?
    private var handlers: PacketPortHandlers?

    /// Packets taken from one readiness before the loop's other work gets its turn.
    private static let batch = 32

    /// Takes over `descriptor`, which is non-blocking. Packets longer than `maximumPacket` octets would
    /// lose their end, so give the protocol's limit.
    public init(_ descriptor: CInt, on loop: EventLoop, maximumPacket: Int) {
        socket = WatchedDescriptor(descriptor, on: loop)
        input = [UInt8](repeating: 0, count: maximumPacket)
    }

    /// The descriptor, for socket options. It stays this port's.
    public var descriptor: CInt { socket.descriptor }

    /// Whether `send` may be called.
    public var isWritable: Bool { kept == nil && socket.isOpen }

    /// Starts to deliver to `handlers`.
    public func start(_ handlers: PacketPortHandlers) throws(PortError) {
        self.handlers = handlers
        try socket.watch(for: .read) { [weak self] in self?.ready($0) }
    }

    /// Sends one packet; what the descriptor does not take now is kept.
    public func send(_ packet: Span<UInt8>) {
        guard socket.isOpen, kept == nil else { return }
        switch write(packet) {
        case .success: break
        case .failure(.wouldBlock), .failure(.socketNotConnected):
            // ENOTCONN: the kernel holds the channel back while it pairs.
            kept = [UInt8](copying: packet)
            socket.want([.read, .write])
        case .failure(let error): fail(.system(error, during: "write"))
        }
    }

    /// Ends the port.
    public func close() {
        handlers = nil
        socket.close()
    }

    /// Ends the port after the packets that have come already, or 1,024 of them.
    public func closeAfterReading() {
        drain([], batch: 1024)
        close()
    }

    private func write(_ packet: Span<UInt8>) -> Result<Void, Errno> {
        while true {
            let count = packet.withUnsafeBytes { Glibc.write(socket.descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return .success(()) }
            let error = Errno.current
            if error != .interrupted { return .failure(error) }
        }
    }

    private func ready(_ readiness: Readiness) {
        if readiness.contains(.write), let packet = kept {
            kept = nil
            socket.want(.read)
            send(packet.span)
            if isWritable { handlers?.writable() }
        }
        if !readiness.isDisjoint(with: [.read, .hangUp, .error]) { drain(readiness) }
    }

    private func drain(_ readiness: Readiness, batch: Int = PacketSocket.batch) {
        for _ in 0..<batch {
            guard socket.isOpen else { return }
            let count = input.withUnsafeMutableBytes {
                Glibc.read(socket.descriptor, $0.baseAddress, $0.count)
            }
            if count > 0 {
                handlers?.receive(input.span.extracting(0..<count))
                continue
            }
            if count == 0 { return fail(.ended) }
            switch Errno.current {
            case .interrupted: continue
            case .wouldBlock:
                // Nothing to read, and yet hung up: it would be reported for ever.
                if readiness.contains(.hangUp) { fail(.ended) }
                return
            case let error: return fail(.system(error, during: "read"))
            }
        }
    }

    private func fail(_ error: PortError) {
        let closed = handlers?.closed
        close()
        closed?(error)
    }
}
