import BLECore
import CLinux
import DequeModule
import Glibc
import HCI
import SystemPackage

/// A port over a socket that preserves packet boundaries: raw HCI, management, monitor and L2CAP sockets.
/// Each write is one packet; received packets are read many at a time.
package final class PacketSocket: PacketPort, @unchecked Sendable {
    // Sendable: all state is accessed only on the loop, which WatchedDescriptor and the callers ensure.
    private let socket: WatchedDescriptor
    private let input: PacketBatch
    private var pace: ReadingPace?
    private var rest: LoopTimer?
    private var isReading = false
    private var closesAfterReading = false
    /// The reason to end the port after the packets before it have been read.
    private var ending: PortError?
    private var kept: [UInt8]?
    /// Whether the packet in `kept` is awaited.
    private var isKeptAwaited = false
    /// The packets that the kernel may still store, oldest first.
    private var sent: Deque<(length: Int, isAwaited: Bool)> = []
    /// The number of awaited packets that the kernel has accepted.
    private var awaited = 0
    /// The kernel's charges for packets of these lengths.
    private var charges: [Int: Int] = [:]
    /// The number of packets that the kernel has dropped and that have been reported.
    private var drops: UInt32 = 0
    private var departures: WatchedDescriptor?
    private var handlers: PacketPortHandlers?

    /// The number of entries in `sent` from which those that are no longer needed are removed. The kernel's
    /// buffer has room for fewer packets.
    private static let sentLimit = 1024

    /// The number of packets to read in one go before the loop continues with other work.
    private static let turn = 32

    /// Takes ownership of `descriptor`, which is non-blocking. A packet longer than `maximumPacket` octets
    /// ends the port, so pass the protocol's limit. `gathersReports` is for HCI packets in H4 form: if many
    /// advertising reports arrive one by one, each can be delayed to read more at once, by at most 10 ms.
    /// `batch` is the number of octets of packets to read at a time. `maximumSent` is the maximum size of a
    /// packet that the descriptor accepts, in octets.
    package init(
        _ descriptor: CInt, on loop: EventLoop, maximumPacket: Int, gathersReports: Bool = false,
        batch: Int = 1 << 15, maximumSent: Int = .max
    ) {
        pace = gathersReports ? ReadingPace() : nil
        socket = WatchedDescriptor(descriptor, on: loop)
        input = PacketBatch(maximumPacket: maximumPacket, octets: batch)
        self.maximumSent = maximumSent
    }

    /// The descriptor, for socket options. This port continues to own it.
    package var descriptor: CInt { socket.descriptor }

    package var isWritable: Bool { kept == nil && ending == nil && socket.isOpen }

    /// The maximum size of a packet that `send` accepts, in octets.
    package let maximumSent: Int

    package func start(_ handlers: PacketPortHandlers) throws(PortError) {
        self.handlers = handlers
        if pace != nil { rest = LoopTimer(on: socket.loop) { [weak self] in self?.endRest() } }
        try socket.watch(for: .read) { [weak self] in self?.ready($0) }
    }

    /// Sends one packet, and keeps it if the descriptor does not accept it now.
    package func send(_ packet: Span<UInt8>) { send(packet, isAwaited: false) }

    /// Sends one packet, and keeps it if the descriptor does not accept it now. `isAwaited` is whether
    /// `sendState` counts it as awaited.
    package func send(_ packet: Span<UInt8>, isAwaited: Bool) {
        guard isWritable else { return }
        if pace != nil { hurry() }
        switch write(packet) {
        case .success: note(packet.count, isAwaited)
        case .failure(.wouldBlock), .failure(.socketNotConnected):
            // ENOTCONN: the kernel blocks the channel while it pairs.
            kept = [UInt8](copying: packet)
            isKeptAwaited = isAwaited
            socket.setInterest([.read, .write])
        // An adapter that is off accepts nothing, and can be on again soon: the packet is dropped without an
        // error.
        case .failure(.networkDown): break
        case .failure(let error): failSoon(.system(error, during: "write"))
        }
    }

    /// Calls `writable` when the descriptor accepts packets again, for cases in which the cause is not a full
    /// buffer.
    func expectRoom() {
        if socket.isOpen { socket.setInterest([.read, .write]) }
    }

    package func close() {
        handlers = nil
        rest?.set(nil)
        departures?.close()
        socket.close()
    }

    /// Delivers the packets that have already arrived, at most 4,096.
    package func readNow() {
        guard !isReading, socket.isOpen else { return }
        endRest()
        drain([], turn: 4096)
    }

    /// Closes the port after delivering the packets that have already arrived, at most 1,024.
    package func closeAfterReading() {
        // Within a handler, the other packets of the same batch come first.
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
            socket.setInterest(.read)
            if let packet { send(packet.span, isAwaited: isKeptAwaited) }
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
                // Only a socket with a full buffer drops packets, so there is a full batch to read.
                if count == input.capacity { reportDrops() }
                // A batch that is not full contains all available packets; new ones make the socket ready
                // again. Only a socket that has hung up is read to its end.
                let isAll = count < input.capacity && !readiness.contains(.hangUp) && ending == nil
                left = isAll ? 0 : left - count
                if pace != nil, left <= 0 { settle(areReports ? count : nil) }
            case .failure(.interrupted): continue
            case .failure(.wouldBlock):
                // Nothing to read, but hung up: the loop would report this endlessly.
                if readiness.contains(.hangUp) || ending != nil { fail(ending ?? .ended) }
                return
            case .failure(let error):
                // The kernel reports an error only once, and before the packets that preceded it.
                if let ending { return fail(ending) }
                ending = .system(error, during: "recvmmsg")
            }
        }
        // The end was not reached, and the kernel may not report it again.
        guard ending != nil, socket.isOpen else { return }
        socket.loop.execute { [weak self] in self?.drain(.hangUp, turn: Self.turn) }
    }

    /// Delivers the packets that were read. Returns whether all of them were advertising reports.
    private func deliver(_ count: Int) -> Bool {
        var areReports = true
        for index in 0..<count {
            guard socket.isOpen else { return false }
            if input.isTruncated(index) {
                fail(.protocolViolation(.oversized(maximum: input.maximumPacket)))
                return false
            }
            if input.length(index) == 0, hasEnded(from: index, of: count) {
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

    /// Returns whether an empty packet of a batch is the end of the connection. An empty packet that was sent,
    /// such as an L2CAP frame without a payload, is read in the same way.
    private func hasEnded(from index: Int, of count: Int) -> Bool {
        guard (index..<count).allSatisfy({ input.length($0) == 0 }) else { return false }
        if ending != nil { return true }
        var state = pollfd(fd: socket.descriptor, events: Int16(CLINUX_POLLRDHUP), revents: 0)
        let end = Int16(CLINUX_POLLRDHUP) | Int16(POLLHUP | POLLERR)
        return poll(&state, 1, 0) != 0 && state.revents & end != 0
    }

    private func reportDrops() {
        // A kernel before 4.12 does not report the number.
        guard socket.isOpen, let all = try? Sockets.drops(descriptor), all != drops else { return }
        let new = all &- drops
        drops = all
        handlers?.lost(Int(new))
    }

    private func fail(_ error: PortError) {
        let closed = handlers?.closed
        close()
        closed?(error)
    }

    /// Ends the port after the packets that have already arrived, in a later turn of the loop, because the
    /// owner is calling.
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
    /// How many of the sent packets the kernel still stores. The kernel charges a socket for memory, not for
    /// packets, and more for a packet that it fragments. If there are such packets, `waiting` can be too high,
    /// but is not too low.
    package var sendState: L2CAPSendState {
        var state = L2CAPSendState()
        guard socket.isOpen else { return state }
        for packet in newest(within: charge) {
            state.waiting += 1
            if packet.isAwaited { state.awaited += 1 }
        }
        state.departed = awaited - state.awaited
        guard kept != nil else { return state }
        state.waiting += 1
        if isKeptAwaited { state.awaited += 1 }
        return state
    }

    private func note(_ length: Int, _ isAwaited: Bool) {
        if isAwaited { awaited += 1 }
        sent.append((length, isAwaited))
        guard sent.count >= Self.sentLimit else { return }
        sent.removeFirst(sent.count - newest(within: charge).count)
    }

    /// The octets that the kernel charges the socket with now.
    private var charge: Int {
        // The last octet of a packet's charge is released after the writer has been woken.
        let charge = (try? Sockets.sendMemory(descriptor)) ?? 0
        return charge > 1 ? charge : 0
    }

    /// Returns the newest packets that the kernel charges with so many octets together. Packets leave in
    /// order, so these are the ones that it stores.
    private func newest(within charge: Int) -> Deque<(length: Int, isAwaited: Bool)>.SubSequence {
        var (left, count) = (charge, 0)
        for packet in sent.reversed() where left > 0 {
            left -= self.charge(of: packet.length)
            count += 1
        }
        return sent.suffix(count)
    }

    /// Returns the kernel's charge for a packet of so many octets, or less.
    private func charge(of length: Int) -> Int {
        if let known = charges[length] { return known }
        guard let charge = try? Sockets.sendMemory(ofPacket: length) else { return 1 }
        charges[length] = charge
        return charge
    }

    /// Calls `departed` soon, and then whenever the kernel has released packets and less than half of its
    /// buffer is used. This ends when the port is closed or when this is called with nil.
    package func watchDepartures(_ departed: (@Sendable () -> Void)?) throws(PortError) {
        departures?.close()
        departures = nil
        guard let departed, socket.isOpen else { return }
        // The socket itself reports room as long as there is some. A second descriptor reports each change.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .system(.current, during: "dup") }
        let watched = WatchedDescriptor(copy, on: socket.loop)
        departures = watched
        try watched.watch(for: [.write, .edge]) { _ in departed() }
    }
}

// MARK: - Pace

extension PacketSocket {
    /// Stops reading the socket for a while if the pace requires it after a batch of `reports` advertising
    /// reports. With nil, for a batch that contains other packets, reads at once for a while.
    private func settle(_ reports: Int?) {
        guard socket.isOpen else { return }
        guard let reports else { return hurry() }
        guard kept == nil, let end = pace?.read(reports, at: socket.loop.now) else { return }
        socket.setInterest([])
        rest?.set(end)
    }

    /// Reads at once for a while, because a response is expected.
    private func hurry() {
        pace?.isBusy(at: socket.loop.now)
        endRest()
    }

    private func endRest() {
        rest?.set(nil)
        if socket.isOpen { socket.setInterest(kept == nil ? .read : [.read, .write]) }
    }
}

/// Decides when to read an HCI socket next. Waking the loop costs several times as much as an advertising
/// report. Reports that arrive one by one at a high rate are therefore read a few at a time. Nothing else is
/// delayed: after a recent command, response or data packet, each packet is read when it arrives.
struct ReadingPace {
    /// The maximum time by which reports are delayed.
    static let rest = Duration.milliseconds(10)
    /// The maximum time between reports that counts as a high rate.
    static let gap = Duration.milliseconds(1)
    /// The number of reports from which a batch is large enough. The socket's buffer must not fill up
    /// meanwhile.
    static let worthwhile = 32
    /// The time without other packets after which only reports are expected.
    static let calm = Duration.milliseconds(100)

    private var lastBusy: Instant?
    private var lastRead: Instant?
    private var hasRested = false

    /// Records that a packet was sent, or that a packet other than a report was received.
    mutating func isBusy(at now: Instant) { lastBusy = now }

    /// Records that `count` reports, and nothing else, were read. Returns the time until which not to read
    /// the socket, or nil to read it at once.
    mutating func read(_ count: Int, at now: Instant) -> Instant? {
        let since = lastRead.map { $0.duration(until: now) }
        lastRead = now
        let areMany = hasRested ? count > 1 : since.map { $0 < Self.gap } ?? false
        let isCalm = lastBusy.map { $0.duration(until: now) >= Self.calm } ?? true
        hasRested = areMany && isCalm && count < Self.worthwhile
        return hasRested ? now + Self.rest : nil
    }
}
