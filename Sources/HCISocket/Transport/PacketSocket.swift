import BLECore
import CLinux
import Glibc
import HCI
import SystemPackage

/// A port over a socket that keeps packets apart: raw HCI, management, monitor and L2CAP sockets. One write is
/// one packet; what has come is read many at a time.
package final class PacketSocket: PacketPort, @unchecked Sendable {
    // Sendable: all state is touched on the loop only; WatchedDescriptor and the callers see to it.
    private let socket: WatchedDescriptor
    private let input: PacketBatch
    private var pace: ReadingPace?
    private var rest: LoopTimer?
    private var isReading = false
    private var closesAfterReading = false
    /// Why the port ends when what came before has been read.
    private var ending: PortError?
    private var kept: [UInt8]?
    private var lastLength = 0
    private var departures: WatchedDescriptor?
    private var handlers: PacketPortHandlers?

    /// Packets taken from one readiness before the loop's other work gets its turn.
    private static let turn = 32

    /// Takes over `descriptor`, which is non-blocking. A packet longer than `maximumPacket` octets ends the
    /// port, so give the protocol's limit. `gathersReports`: its packets are HCI's in H4 form, and where many
    /// advertising reports come one by one, each may wait for more, 10 ms at most. `batch`: octets of packets that are
    /// read at a time. `maximumSent`: the most octets of a packet that the descriptor takes.
    package init(
        _ descriptor: CInt, on loop: EventLoop, maximumPacket: Int, gathersReports: Bool = false,
        batch: Int = 1 << 15, maximumSent: Int = .max
    ) {
        pace = gathersReports ? ReadingPace() : nil
        socket = WatchedDescriptor(descriptor, on: loop)
        input = PacketBatch(maximumPacket: maximumPacket, octets: batch)
        self.maximumSent = maximumSent
    }

    /// The descriptor, for socket options. It stays this port's.
    package var descriptor: CInt { socket.descriptor }

    package var isWritable: Bool { kept == nil && ending == nil && socket.isOpen }

    /// The most octets of a packet that `send` takes.
    package let maximumSent: Int

    package func start(_ handlers: PacketPortHandlers) throws(PortError) {
        self.handlers = handlers
        if pace != nil { rest = LoopTimer(on: socket.loop) { [weak self] in self?.endRest() } }
        try socket.watch(for: .read) { [weak self] in self?.ready($0) }
    }

    /// Sends one packet; what the descriptor does not take now is kept.
    package func send(_ packet: Span<UInt8>) {
        guard isWritable else { return }
        if pace != nil { hurry() }
        switch write(packet) {
        case .success: lastLength = packet.count
        case .failure(.wouldBlock), .failure(.socketNotConnected):
            // ENOTCONN: the kernel holds the channel back while it pairs.
            kept = [UInt8](copying: packet)
            socket.want([.read, .write])
        // An adapter that is off takes nothing, and may be on again soon: the packet is dropped without an error.
        case .failure(.networkDown): break
        case .failure(let error): failSoon(.system(error, during: "write"))
        }
    }

    /// Calls `writable` when the descriptor takes packets, for what holds them back otherwise than by a full buffer.
    func expectRoom() {
        if socket.isOpen { socket.want([.read, .write]) }
    }

    package func close() {
        handlers = nil
        rest?.set(nil)
        departures?.close()
        socket.close()
    }

    /// Hands out the packets that have come already, 4,096 at most.
    package func readNow() {
        guard !isReading, socket.isOpen else { return }
        endRest()
        drain([], turn: 4096)
    }

    /// Ends the port after the packets that have come already, or 1,024 of them.
    package func closeAfterReading() {
        // From within a handler: what was read with its packet comes first.
        guard !isReading else {
            closesAfterReading = true
            return
        }
        drain([], turn: 1024)
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
        if readiness.contains(.write) {
            let packet = kept
            kept = nil
            socket.want(.read)
            if let packet { send(packet.span) }
            if isWritable { handlers?.writable() }
        }
        guard !readiness.isDisjoint(with: [.read, .hangUp, .error]) else { return }
        drain(readiness, turn: Self.turn)
        if closesAfterReading { closeAfterReading() }
    }

    private func drain(_ readiness: Readiness, turn: Int) {
        isReading = true
        defer { isReading = false }
        var left = turn
        while left > 0, socket.isOpen {
            switch input.receive(from: socket.descriptor) {
            case .success(let count):
                let areReports = deliver(count)
                // Less than there is room for is all that there is; what comes now makes it ready anew. Only
                // one that hung up is read to its end.
                let isAll = count < input.capacity && !readiness.contains(.hangUp) && ending == nil
                left = isAll ? 0 : left - count
                if pace != nil, left <= 0 { settle(areReports ? count : nil) }
            case .failure(.interrupted): continue
            case .failure(.wouldBlock):
                // Nothing to read, and yet hung up: it would be reported for ever.
                if readiness.contains(.hangUp) || ending != nil { fail(ending ?? .ended) }
                return
            case .failure(let error):
                // The kernel reports an error once, and before the packets that came before it.
                if let ending { return fail(ending) }
                ending = .system(error, during: "recvmmsg")
            }
        }
        // The end was not reached, and the kernel may not report it again.
        guard ending != nil, socket.isOpen else { return }
        socket.loop.execute { [weak self] in self?.drain(.hangUp, turn: Self.turn) }
    }

    /// Hands out what was read; whether it was nothing but advertising reports.
    private func deliver(_ count: Int) -> Bool {
        var areReports = true
        for index in 0..<count {
            guard socket.isOpen else { return false }
            if input.isCut(index) {
                fail(.protocolViolation(.oversized(maximum: input.maximumPacket)))
                return false
            }
            if input.length(index) == 0 {
                fail(ending ?? .ended)
                return false
            }
            input.withPacket(index) { packet in
                if pace != nil, !AdvertisingReport.isEvent(packet) { areReports = false }
                handlers?.receive(packet)
            }
        }
        return areReports
    }

    private func fail(_ error: PortError) {
        let closed = handlers?.closed
        close()
        closed?(error)
    }

    /// Ends the port after the packets that have come already, in a turn of its own: from within a call of the owner's.
    private func failSoon(_ error: PortError) {
        guard ending == nil else { return }
        ending = error
        socket.loop.execute { [weak self] in
            guard let self, socket.isOpen, !isReading else { return }
            drain(.hangUp, turn: Self.turn)
        }
    }
}

// MARK: - What has not left

extension PacketSocket {
    /// How many of the packets that were sent the kernel still keeps, and the one that it has not taken. It charges a
    /// socket for memory, not for packets: where they differ in length, the number is an estimate, and a
    /// packet that the kernel has cut into fragments counts as several.
    package var unsentPackets: Int {
        guard socket.isOpen else { return 0 }
        let kept = kept == nil ? 0 : 1
        // The last octet of a packet's charge goes after the writer has been woken.
        guard let charge = try? Sockets.sendMemory(descriptor), charge > 1 else { return kept }
        // Packets leave in their order, so the last one is among them.
        let packet = (try? Sockets.sendMemory(ofPacket: lastLength)) ?? charge
        return max(1, charge / max(packet, 1)) + kept
    }

    /// Calls `departed` soon, and then whenever the kernel has let go of packets and less than half of its
    /// room is taken; until the port is closed, or this is called with nil.
    package func watchDepartures(_ departed: (@Sendable () -> Void)?) throws(PortError) {
        departures?.close()
        departures = nil
        guard let departed, socket.isOpen else { return }
        // The socket itself reports room for as long as there is some. A second descriptor reports each change.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .system(.current, during: "dup") }
        let watched = WatchedDescriptor(copy, on: socket.loop)
        departures = watched
        try watched.watch(for: [.write, .edge]) { _ in departed() }
    }
}

// MARK: - Pace

extension PacketSocket {
    /// Leaves the socket alone for a while, when what was read was so many reports and the pace says so.
    private func settle(_ reports: Int?) {
        guard socket.isOpen else { return }
        guard let reports else { return hurry() }
        guard kept == nil, let end = pace?.read(reports, at: socket.loop.now) else { return }
        socket.want([])
        rest?.set(end)
    }

    /// Reads at once for a while: an answer is to be expected.
    private func hurry() {
        pace?.isBusy(at: socket.loop.now)
        endRest()
    }

    private func endRest() {
        rest?.set(nil)
        if socket.isOpen { socket.want(kept == nil ? .read : [.read, .write]) }
    }
}

/// When an HCI socket is read next. A wake of the loop costs several times what an advertising report costs, so
/// reports that come one by one, but many a second, are taken a few at a time. Nothing else waits for that:
/// where a command, its answer or data passed lately, each packet is taken when it comes.
struct ReadingPace {
    /// How long reports may wait, and at most late.
    static let rest = Duration.milliseconds(10)
    /// Reports this close together are many.
    static let gap = Duration.milliseconds(1)
    /// The number of reports from which a batch is large enough; the socket's buffer must not fill up meanwhile.
    static let worthwhile = 32
    /// Nothing else passed for so long: then only reports are to be expected.
    static let calm = Duration.milliseconds(100)

    private var lastBusy: Instant?
    private var lastRead: Instant?
    private var hasRested = false

    /// Something was sent, or something else than a report came.
    mutating func isBusy(at now: Instant) { lastBusy = now }

    /// So many reports, and nothing else, were read. Returns how long to leave the socket alone, if at all.
    mutating func read(_ count: Int, at now: Instant) -> Instant? {
        let since = lastRead.map { $0.duration(until: now) }
        lastRead = now
        let areMany = hasRested ? count > 1 : since.map { $0 < Self.gap } ?? false
        let isCalm = lastBusy.map { $0.duration(until: now) >= Self.calm } ?? true
        hasRested = areMany && isCalm && count < Self.worthwhile
        return hasRested ? now + Self.rest : nil
    }
}
