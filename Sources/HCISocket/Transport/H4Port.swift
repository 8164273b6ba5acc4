import BLECore
import CLinux
import Glibc
import HCI
import SystemPackage

/// HCI packets over a byte stream, in H4 form: TCP, Unix sockets, UARTs. The stream carries only packets, so
/// an octet that is not a packet type means that the two sides are out of sync.
///
/// A socket does not lose octets, so the port then ends. A UART can lose an octet: there the port sends Reset
/// until the controller responds, discards what it receives before, and calls `PacketPortHandlers.wasReset`.
package final class H4Port: PacketPort, @unchecked Sendable {
    // Sendable: all state is accessed only on the loop, which WatchedDescriptor and the callers ensure.
    private let socket: WatchedDescriptor
    private let isSerial: Bool
    private let recovers: Bool
    private let pausesWhileFull: Bool
    private var input = [UInt8](repeating: 0, count: 1 << 16)
    private var framer: H4Framer
    private var output: [UInt8] = []
    private var written = 0
    private var handlers: PacketPortHandlers?

    private var timer: LoopTimer?
    private var search: Search?

    /// A search for the next packet boundary.
    private struct Search {
        /// The violation that started the search.
        let reason: PortError.Violation
        var recovery = H4Recovery()
        var resets = 0
    }

    /// The number of unsent octets from which `isWritable` is false. A peer that reads keeps the stream far
    /// below it.
    private static let highWater = 1 << 16
    /// The maximum pause in a packet. The octets of a packet follow each other, so a packet with a longer
    /// pause has lost some.
    private static let gap = Duration.seconds(1)
    /// The time limit for a response to Reset, and the number of Resets that are sent. A controller that
    /// waits for the rest of a command takes the first ones for that rest.
    private static let timeLimit = Duration.milliseconds(500), maximumResets = 12
    private static let reset: [UInt8] = [HCIPacketType.command.rawValue, 0x03, 0x0c, 0x00]

    /// Takes ownership of a non-blocking stream. Only packets of `types` are expected on it. `recovers` is
    /// for a controller that only this host uses, on a line that can lose octets. With `pausesWhileFull`,
    /// nothing is read while `isWritable` is false: a controller's port, which answers each command, would
    /// otherwise store answers without limit for a host that does not read them.
    package init(
        _ descriptor: CInt, on loop: EventLoop, expecting types: Set<HCIPacketType> = HCIPacketType.all,
        recovers: Bool = false, pausesWhileFull: Bool = false
    ) {
        socket = WatchedDescriptor(descriptor, on: loop)
        framer = H4Framer(types: types)
        isSerial = SerialLine.isOne(descriptor)
        self.recovers = recovers
        self.pausesWhileFull = pausesWhileFull
    }

    package var isWritable: Bool {
        socket.isOpen && search == nil && output.count - written < Self.highWater
    }

    package func start(_ handlers: PacketPortHandlers) throws(PortError) {
        self.handlers = handlers
        timer = LoopTimer(on: socket.loop) { [weak self] in self?.expire() }
        try socket.watch(for: .read) { [weak self] in self?.ready($0) }
    }

    /// Sends one packet, and keeps what the descriptor does not accept now.
    package func send(_ packet: Span<UInt8>) {
        // A packet for a controller that is about to be reset would be lost.
        guard search == nil else { return }
        append(packet)
    }

    package func close() {
        handlers = nil
        guard socket.isOpen else { return }
        timer?.set(nil)
        if isSerial { SerialLine.discardOutput(socket.descriptor) }
        socket.close()
    }

    private func ready(_ readiness: Readiness) {
        if readiness.contains(.write) {
            let wasFull = !isWritable
            if let error = flush() { return fail(error) }
            if wasFull, isWritable { handlers?.writable() }
        }
        if !readiness.isDisjoint(with: [.read, .hangUp, .error]) { fill() }
    }

    private func fail(_ error: PortError) {
        let closed = handlers?.closed
        close()
        closed?(error)
    }

    /// Ends the port as `fail` does, but within a call from the owner: `closed` is called later, from the
    /// loop.
    private func failSoon(_ error: PortError) {
        timer?.set(nil)
        socket.close()
        socket.loop.execute { [weak self] in self?.fail(error) }
    }
}

// MARK: - Out

extension H4Port {
    private func append(_ packet: Span<UInt8>) {
        guard socket.isOpen else { return }
        var rest = packet
        if output.isEmpty {
            // Nothing is waiting, so only what the descriptor does not accept is copied.
            let count = packet.withUnsafeBytes { write($0.baseAddress, $0.count) }
            if count > 0 { rest = packet.extracting(count..<packet.count) }
            guard !rest.isEmpty else { return }
        }
        output.append(addingCapacity: rest.count) { $0.bytes(rest) }
        if output.count == rest.count {
            if let error = flush() { failSoon(error) }
        } else {
            socket.setInterest(waiting)
        }
    }

    /// What the port waits for while octets are unsent.
    private var waiting: Readiness { pausesWhileFull && !isWritable ? .write : [.read, .write] }

    /// Writes as much as the descriptor accepts. Returns the error if it can accept no more data.
    private func flush() -> PortError? {
        while written < output.count {
            let count = output.withUnsafeBytes { octets in
                write(octets.baseAddress?.advanced(by: written), octets.count - written)
            }
            if count >= 0 {
                written += count
                continue
            }
            switch Errno.current {
            case .interrupted: continue
            case .wouldBlock:
                // Limits the size of the buffer for a reader that is always a little behind.
                if written > Self.highWater {
                    output.removeFirst(written)
                    written = 0
                }
                socket.setInterest(waiting)
                return nil
            case let error: return .system(error, during: "send")
            }
        }
        output.removeAll(keepingCapacity: true)
        written = 0
        socket.setInterest(.read)
        return nil
    }

    private func write(_ octets: UnsafeRawPointer?, _ count: Int) -> Int {
        // Only send(2) can suppress SIGPIPE, and serial lines do not support send(2).
        isSerial
            ? Glibc.write(socket.descriptor, octets, count)
            : Glibc.send(socket.descriptor, octets, count, CInt(MSG_NOSIGNAL))
    }
}

// MARK: - In

extension H4Port {
    private func fill() {
        let count = input.withUnsafeMutableBytes { Glibc.read(socket.descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else {
            if count == 0 { return fail(.ended) }
            let error = Errno.current
            return error == .wouldBlock || error == .interrupted ? () : fail(.system(error, during: "read"))
        }
        // A copy of the reference, because `input` is read while `framer` is modified.
        let octets = input
        take(octets.span.extracting(0..<count))
    }

    private func take(_ octets: Span<UInt8>) {
        var rest = octets
        if search != nil {
            guard let count = search?.recovery.feed(rest) else { return }
            rest = rest.extracting(count..<rest.count)
            found()
        }
        do throws(H4FramingError) {
            try framer.feed(rest) { handlers?.receive($0) }
        } catch {
            return lose(.framing(error))
        }
        // If a handler has closed the port in response to a packet, no timer is needed.
        guard recovers, socket.isOpen else { return }
        timer?.set(framer.pendingCount > 0 ? socket.loop.now + Self.gap : nil)
    }
}

// MARK: - Losing and finding packets

extension H4Port {
    private func lose(_ reason: PortError.Violation) {
        guard recovers else { return fail(.protocolViolation(reason)) }
        framer.reset()
        search = Search(reason: reason)
        sendReset()
    }

    private func expire() {
        guard socket.isOpen else { return }
        if search != nil { return sendReset() }
        lose(.incomplete(octets: framer.pendingCount))
    }

    private func sendReset() {
        guard let search, search.resets < Self.maximumResets else {
            let reason = search?.reason ?? .incomplete(octets: 0)
            return fail(.protocolViolation(.lost(reason)))
        }
        self.search?.resets += 1
        append(Self.reset.span)
        timer?.set(socket.loop.now + Self.timeLimit)
    }

    private func found() {
        search = nil
        timer?.set(nil)
        handlers?.wasReset()
        if isWritable { handlers?.writable() }
    }
}
