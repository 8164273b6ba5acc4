import BLECore
import CLinux
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import HCISocket

/// A packet socket whose other end the test writes to, with a log of the calls to its handlers.
private actor Reader {
    enum Entry: Equatable {
        case packet([UInt8])
        case writable
        case closed(PortError)
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private let port: PacketSocket
    private let far: CInt
    private(set) var entries: [Entry] = []
    /// The times of the entries, in microseconds.
    private(set) var times: [UInt64] = []
    private var waiter: (Int, CheckedContinuation<Void, Never>)?
    /// The number of entries when the work that was queued at the first entry ran.
    private(set) var firstTurn: Int?

    init(_ loop: EventLoop, maximumPacket: Int, gathersReports: Bool = false) {
        self.loop = loop
        let near: CInt
        (near, far) = socketPair(.packets)
        port = PacketSocket(near, on: loop, maximumPacket: maximumPacket, gathersReports: gathersReports)
    }

    func write(_ packets: [[UInt8]]) {
        for packet in packets { #expect(Glibc.write(far, packet, packet.count) == packet.count) }
    }

    func send(_ packet: [UInt8], isAwaited: Bool = false) { port.send(packet.span, isAwaited: isAwaited) }

    func expectRoom() { port.expectRoom() }

    func closeFarEnd() { Glibc.close(far) }

    var canSend: Bool { port.isWritable }
    var unsentPackets: Int { port.sendState.waiting }
    var sendState: L2CAPSendState { port.sendState }

    /// Reads `count` packets at the far end, as a controller does.
    func take(_ count: Int) {
        var packet = [UInt8](repeating: 0, count: 1024)
        for _ in 0..<count { #expect(Glibc.read(far, &packet, packet.count) > 0) }
    }

    func watchDepartures(_ departed: (@Sendable () -> Void)?) throws { try port.watchDepartures(departed) }

    /// Starts the port, and sends a packet before any packet is read.
    func start(sending packet: [UInt8]) throws {
        try start()
        port.send(packet.span)
    }

    func readNow() { port.readNow() }

    /// Starts the port. When packet `last` arrives, the handler calls `closeAfterReading`.
    func start(endingWith last: [UInt8]? = nil) throws {
        try port.start(
            PacketPortHandlers(
                receive: { [self] packet in
                    let octets = (0..<packet.count).map { packet[$0] }
                    assumeIsolated { $0.add(.packet(octets)) }
                    if octets == last { assumeIsolated { $0.port.closeAfterReading() } }
                },
                writable: { [self] in assumeIsolated { $0.add(.writable) } },
                closed: { [self] error in assumeIsolated { $0.add(.closed(error)) } }))
    }

    private func add(_ entry: Entry) {
        entries.append(entry)
        times.append(loop.now.nanoseconds / 1000)
        if entries.count == 1 {
            loop.execute { self.assumeIsolated { $0.firstTurn = $0.entries.count } }
        }
        if let (count, continuation) = waiter, entries.count >= count {
            waiter = nil
            continuation.resume()
        }
    }

    /// Waits until there are `count` entries.
    func wait(for count: Int) async {
        if entries.count >= count { return }
        await withCheckedContinuation { waiter = (count, $0) }
    }

    /// Closes the port, which releases its handlers and thereby this object.
    func close() { port.close() }
}

@Suite(.timeLimit(.minutes(10))) struct PacketSocketTests {
    @Test func expectedRoomIsReportedOnce() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let reader = Reader(loop, maximumPacket: 8)
        try await reader.start()
        await reader.expectRoom()
        await reader.wait(for: 1)
        await reader.write([[7]])
        await reader.wait(for: 2)
        #expect(await reader.entries == [.writable, .packet([7])])
        await reader.close()
    }

    @Test("packets count as unsent until the other side has read them", arguments: [20, 200, 517])
    func packetsAreUnsentUntilRead(length: Int) async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let reader = Reader(loop, maximumPacket: 8)
        try await reader.start()
        #expect(await reader.unsentPackets == 0)
        for _ in 0..<5 { await reader.send([UInt8](repeating: 1, count: length)) }
        #expect(await reader.unsentPackets == 5)
        await reader.take(2)
        #expect(await reader.unsentPackets == 3)
        await reader.take(3)
        #expect(await reader.unsentPackets == 0)
        await reader.close()
        #expect(await reader.unsentPackets == 0)
    }

    @Test("packets of any length count as unsent until the other side has read them")
    func packetsOfDifferentLengthsAreUnsentUntilRead() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let reader = Reader(loop, maximumPacket: 8)
        try await reader.start()
        // More than the lengths that are stored.
        for round in 0..<150 {
            for length in [20, 517, 1, 900, 23, 23, 517, 3] {
                await reader.send([UInt8](repeating: 1, count: length), isAwaited: length > 20)
            }
            // The lengths that remain, oldest first, with five awaited packets in a round.
            for left in [[517, 1, 900, 23, 23, 517, 3], [900, 23, 23, 517, 3], [23, 517, 3], [3], []] {
                while await reader.unsentPackets > left.count { await reader.take(1) }
                let awaited = left.count { $0 > 20 }
                #expect(
                    await reader.sendState
                        == L2CAPSendState(
                            waiting: left.count, awaited: awaited, departed: 5 * (round + 1) - awaited))
            }
        }
        await reader.close()
    }

    @Test("an empty packet is not the end") func emptyPacketIsDelivered() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let reader = Reader(loop, maximumPacket: 8)
        try await reader.start()
        await reader.write([[1], [], [2], []])
        await reader.wait(for: 4)
        #expect(await reader.entries == [.packet([1]), .packet([]), .packet([2]), .packet([])])
        // Packets after an empty one are read, also when the other end has been closed.
        await reader.write([[], [3]])
        await reader.closeFarEnd()
        await reader.wait(for: 7)
        #expect(await reader.entries[4...] == [.packet([]), .packet([3]), .closed(.ended)])
    }

    @Test("the packet that no longer fits counts as unsent and is sent in order")
    func bufferedPacketCountsAsUnsent() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let reader = Reader(loop, maximumPacket: 8)
        try await reader.start()
        var count = 0
        while await reader.canSend {
            await reader.send([UInt8](repeating: 1, count: 200), isAwaited: true)
            count += 1
        }
        #expect(await reader.unsentPackets == count)
        #expect(await reader.sendState == L2CAPSendState(waiting: count, awaited: count))
        await reader.take(count - 1)
        await reader.wait(for: 1)
        #expect(await reader.entries == [.writable])
        #expect(await reader.sendState == L2CAPSendState(waiting: 1, awaited: 1, departed: count - 1))
        await reader.take(1)
        #expect(await reader.unsentPackets == 0)
        #expect(await reader.sendState == L2CAPSendState(departed: count))
        await reader.close()
    }

    @Test("each departing packet is reported while departures are watched")
    func departuresAreReportedWhileWatched() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let reader = Reader(loop, maximumPacket: 8)
        try await reader.start()
        for _ in 0..<3 { await reader.send([UInt8](repeating: 1, count: 20)) }
        let (departures, continuation) = AsyncStream<Void>.makeStream()
        var departed = departures.makeAsyncIterator()
        try await reader.watchDepartures { continuation.yield() }
        await departed.next()
        for left in [2, 1, 0] {
            await reader.take(1)
            await departed.next()
            #expect(await reader.unsentPackets == left)
        }
        // No further departure is reported. It would be the next element.
        try await reader.watchDepartures(nil)
        await reader.send([1])
        await reader.take(1)
        await reader.write([[7]])
        await reader.wait(for: 1)
        continuation.finish()
        #expect(await departed.next() == nil)
        await reader.close()
    }

    @Test func packetBatchesArriveInOrderBeforeEnd() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let reader = Reader(loop, maximumPacket: 260)
        let packets = (0..<100).map { (number: Int) in [UInt8](repeating: UInt8(number), count: number + 1) }
        await reader.write(packets)
        await reader.closeFarEnd()
        try await reader.start()
        await reader.wait(for: 101)
        #expect(await reader.entries == packets.map { .packet($0) } + [.closed(.ended)])
    }

    @Test("queued work of the loop runs before a hundred packets are received")
    func loopWorkRunsBetweenBatches() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let reader = Reader(loop, maximumPacket: 260)
        let packets = (0..<100).map { (number: Int) in [UInt8(number)] }
        await reader.write(packets)
        try await reader.start()
        await reader.wait(for: 100)
        let first = try #require(await reader.firstTurn)
        #expect((1...32).contains(first), "\(first) packets were taken before")
        #expect(await reader.entries == packets.map { .packet($0) })
        await reader.closeFarEnd()
        await reader.close()
    }

    @Test func packetsAreDeliveredAsTheyArrive() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let reader = Reader(loop, maximumPacket: 260)
        try await reader.start()
        for number in UInt8(1)...3 {
            await reader.write([[number]])
            await reader.wait(for: Int(number))
        }
        #expect(await reader.entries == [.packet([1]), .packet([2]), .packet([3])])
        await reader.closeFarEnd()
        await reader.wait(for: 4)
        #expect(await reader.entries.last == .closed(.ended))
    }

    @Test func packetsBeforeResetAreRead() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let reader = Reader(loop, maximumPacket: 260)
        // If the other end closes with unread octets, this end receives a reset.
        await reader.send([9])
        await reader.write([[1], [2], [3]])
        await reader.closeFarEnd()
        try await reader.start()
        await reader.wait(for: 4)
        let error = PortError.system(.connectionReset, during: "recvmmsg")
        #expect(await reader.entries == [.packet([1]), .packet([2]), .packet([3]), .closed(error)])
    }

    @Test func packetsBeforeBrokenPipeAreRead() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let reader = Reader(loop, maximumPacket: 260)
        await reader.write([[1], [2], [3]])
        await reader.closeFarEnd()
        try await reader.start(sending: [9])
        #expect(await !reader.canSend)
        await reader.wait(for: 4)
        let error = PortError.system(.brokenPipe, during: "write")
        #expect(await reader.entries == [.packet([1]), .packet([2]), .packet([3]), .closed(error)])
    }

    @Test func oversizedPacketClosesPortWithError() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let reader = Reader(loop, maximumPacket: 4)
        await reader.write([[1, 2, 3, 4], [1, 2, 3, 4, 5], [6]])
        try await reader.start()
        await reader.wait(for: 2)
        let error = PortError.protocolViolation(.oversized(maximum: 4))
        #expect(await reader.entries == [.packet([1, 2, 3, 4]), .closed(error)])
        await reader.closeFarEnd()
    }

    @Test func closeAfterReadingDeliversReceivedPackets() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        let reader = Reader(loop, maximumPacket: 260)
        let packets = (0..<90).map { (number: Int) in [UInt8(number)] }
        await reader.write(packets)
        try await reader.start(endingWith: [3])
        await reader.wait(for: 90)
        #expect(await reader.entries == packets.map { .packet($0) })
        await reader.closeFarEnd()
        await reader.close()
    }

    @Test func packetsThatTheKernelDropsAreCounted() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        // Of the sockets that need no radio, those for UDP drop what does not fit into their buffer.
        let near = try Sockets.open(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        let far = try Sockets.open(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        defer { Glibc.close(far) }
        try Sockets.set(near, SOL_SOCKET, SO_RCVBUF, to: CInt(8192), "SO_RCVBUF")
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        try Sockets.bind(near, to: name)
        try Sockets.localAddress(near, into: &name)
        _ = try Sockets.connect(far, to: name)
        let log = PortLog(loop, PacketSocket(near, on: loop, maximumPacket: 20, batch: 80))
        let sent = (0..<200).map { (number: UInt8) in [number] }
        for packet in sent { #expect(Glibc.write(far, packet, packet.count) == packet.count) }
        try await log.start()
        await log.readNow()
        let entries = await log.entries
        let received = await log.packets
        // The first packets are received, in order; the others are reported once.
        #expect(received.count < sent.count)
        #expect(received == [[UInt8]](sent.prefix(received.count)))
        #expect(entries.filter { $0 == .lost(sent.count - received.count) }.count == 1)
        #expect(entries.count == received.count + 1)
        await log.close()
    }

    @Test func closeReportsAreGatheredUntilOtherTraffic() async throws {
        let loop = try EventLoop(clock: .virtual)
        defer { loop.stop() }
        let reader = Reader(loop, maximumPacket: 260, gathersReports: true)
        let report: [UInt8] = [0x04, 0x3e, 0x02, 0x02, 0x00]
        let answer: [UInt8] = [0x04, 0x0e, 0x04, 0x01, 0x03, 0x0c, 0x00]
        // All of this runs on the loop, so that virtual time passes only while it waits.
        try await Task(executorPreference: loop) {
            try await reader.start()
            for number in 1...3 {
                await reader.write([report])
                await reader.wait(for: number)
            }
            // The third report was delayed. The fourth is not, because a response to the command is expected.
            await reader.write([report])
            await reader.send([0x01, 0x03, 0x0c, 0x00])
            await reader.wait(for: 4)
            await reader.write([answer, report])
            await reader.wait(for: 6)
            #expect(await reader.times == [0, 0, 10_000, 10_000, 10_000, 10_000])
            // After a second without other packets, reports are delayed again, unless `readNow` is called.
            _ = await loop.sleep(for: .seconds(1))
            for number in 7...8 {
                await reader.write([report])
                await reader.wait(for: number)
            }
            await reader.write([report])
            await reader.readNow()
            #expect(await reader.times.suffix(3) == [1_010_000, 1_010_000, 1_010_000])
            await reader.closeFarEnd()
            await reader.close()
        }.value
    }
}
