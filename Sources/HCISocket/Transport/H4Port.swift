import BLECore
import Glibc
import HCI
import SystemPackage

/// HCI packets over a byte stream, in H4 form: TCP, Unix sockets, UARTs. The stream carries nothing but
/// packets, so a type octet that is none means that both sides have lost each other: the port ends.
public final class H4Port: PacketPort, @unchecked Sendable {
    // Sendable: all state is touched on the loop only; WatchedDescriptor and the callers see to it.
    private let socket: WatchedDescriptor
    private var input = [UInt8](repeating: 0, count: 1 << 16)
    private var framer: H4Framer
    private var output: [UInt8] = []
    private var written = 0
    private var handlers: PacketPortHandlers?

    /// More than this unsent, and `isWritable` is false. A peer that reads keeps the stream far below it.
    private static let highWater = 1 << 16

    /// Takes over a non-blocking stream. Only packets of `types` are expected on it.
    public init(
        _ descriptor: CInt, on loop: EventLoop, expecting types: Set<HCIPacketType> = HCIPacketType.all
    ) {
        socket = WatchedDescriptor(descriptor, on: loop)
        framer = H4Framer(types: types)
    }

    /// Whether `send` may be called.
    public var isWritable: Bool { socket.isOpen && output.count - written < Self.highWater }

    /// Starts to deliver to `handlers`.
    public func start(_ handlers: PacketPortHandlers) throws(PortError) {
        self.handlers = handlers
        try socket.watch(for: .read) { [weak self] in self?.ready($0) }
    }

    /// Sends one packet; what the descriptor does not take now is kept.
    public func send(_ packet: Span<UInt8>) {
        guard socket.isOpen else { return }
        let wasEmpty = output.isEmpty
        output.append(addingCapacity: packet.count) { $0.bytes(packet) }
        if wasEmpty { flush() }
    }

    /// Ends the port.
    public func close() {
        handlers = nil
        socket.close()
    }

    private func ready(_ readiness: Readiness) {
        if readiness.contains(.write) {
            let wasFull = !isWritable
            flush()
            if wasFull, isWritable { handlers?.writable() }
        }
        if !readiness.isDisjoint(with: [.read, .hangUp, .error]) { fill() }
    }

    private func flush() {
        while written < output.count {
            let count = output.withUnsafeBytes { octets in
                Glibc.send(
                    socket.descriptor, octets.baseAddress?.advanced(by: written), octets.count - written,
                    CInt(MSG_NOSIGNAL))
            }
            if count >= 0 {
                written += count
                continue
            }
            switch Errno.current {
            case .interrupted: continue
            case .wouldBlock:
                socket.want([.read, .write])
                return
            case let error: return fail(.system(error, during: "send"))
            }
        }
        output.removeAll(keepingCapacity: true)
        written = 0
        socket.want(.read)
    }

    private func fill() {
        let count = input.withUnsafeMutableBytes { Glibc.read(socket.descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else {
            if count == 0 { return fail(.ended) }
            let error = Errno.current
            return error == .wouldBlock || error == .interrupted ? () : fail(.system(error, during: "read"))
        }
        // A copy of the reference: the reading of `input` must outlast the change of `framer`.
        let octets = input
        take(octets.span.extracting(0..<count))
    }

    private func take(_ octets: Span<UInt8>) {
        do throws(H4FramingError) {
            try framer.feed(octets) { handlers?.receive($0) }
        } catch {
            fail(.protocolViolation("\(error)"))
        }
    }

    private func fail(_ error: PortError) {
        let closed = handlers?.closed
        close()
        closed?(error)
    }
}
