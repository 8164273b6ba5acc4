import BLECore
import Glibc
import HCI
import TestSupport
import Testing

@testable import HCISocket

/// A wrapped port, and the port at the other end of the wrapped one.
private struct Wrapped {
    let near: PortLog
    let far: PortLog

    init(on loop: EventLoop, _ wrap: (any PacketPort) -> any PacketPort) async throws {
        let (inner, other) = MemoryPort.pair(on: loop)
        near = PortLog(loop, wrap(inner))
        far = PortLog(loop, other)
        try await near.start()
        try await far.start()
    }
}

@Suite(.timeLimit(.minutes(10))) struct MemoryPortTests {
    @Test("packets are delivered in order both ways, and those sent before the start are kept")
    func packetsAreDeliveredInOrder() async throws {
        try await onVirtualLoop { loop in
            let (left, right) = MemoryPort.pair(on: loop)
            let (near, far) = (PortLog(loop, left), PortLog(loop, right))
            try await near.start()
            await near.send([1])
            await near.send([])
            await loop.settle()
            try await far.start()
            await near.send([2, 3])
            await far.send([4])
            await loop.settle()
            #expect(await far.entries == [.received([1]), .received([]), .received([2, 3])])
            #expect(await near.entries == [.received([4])])
            await near.close()
        }
    }

    @Test("closing is reported once to the other end, and later packets are lost")
    func closingIsReportedOnce() async throws {
        try await onVirtualLoop { loop in
            let wrapped = try await Wrapped(on: loop) { $0 }
            await wrapped.near.close()
            await wrapped.near.close()
            await loop.settle()
            #expect(await wrapped.far.entries == [.closed(.ended)])
            #expect(await !wrapped.near.isWritable)
            #expect(await !wrapped.far.isWritable)
            await wrapped.far.send([1])
            await loop.settle()
            #expect(await wrapped.near.entries.isEmpty)
            #expect(await wrapped.far.entries.count == 1)
        }
    }

    @Test("a port that is released without being closed closes the other end")
    func releasedPortClosesOtherEnd() async throws {
        try await onVirtualLoop { loop in
            let far: PortLog
            do {
                let (left, right) = MemoryPort.pair(on: loop)
                far = PortLog(loop, right)
                try await far.start()
                withExtendedLifetime(left) {}
            }
            await loop.settle()
            #expect(await far.entries == [.closed(.ended)])
        }
    }

    @Test("a handler that closes the port receives no further packets")
    func closingInHandlerStopsDelivery() async throws {
        try await onVirtualLoop { loop in
            let (left, right) = MemoryPort.pair(on: loop)
            let (near, far) = (PortLog(loop, left), PortLog(loop, right))
            try await near.start()
            try await far.start(closingAt: [2])
            for number in UInt8(1)...3 { await near.send([number]) }
            await loop.settle()
            #expect(await far.packets == [[1], [2]])
            #expect(await near.entries == [.closed(.ended)])
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct TracingPortTests {
    @Test("every packet and the end are traced as lines, and packets are unchanged")
    func packetsAndEndAreTraced() async throws {
        try await onVirtualLoop { loop in
            let lines = Lock<[String]>([])
            let wrapped = try await Wrapped(on: loop) { port in
                TracingPort(port) { line in lines.withLock { $0.append(line) } }
            }
            await wrapped.near.send([0x01, 0x03, 0x0c, 0x00])
            await loop.settle()
            await wrapped.far.send([0x04, 0x10, 0x01, 0x42])
            await loop.settle()
            #expect(await wrapped.far.packets == [[0x01, 0x03, 0x0c, 0x00]])
            await wrapped.far.close()
            await loop.settle()
            #expect(await wrapped.near.entries == [.received([0x04, 0x10, 0x01, 0x42]), .closed(.ended)])
            #expect(
                lines.withLock { $0 } == ["-> 01030c00", "<- 04100142", "<- \(PortError.ended)"])
        }
    }

    @Test("a tracing port forwards properties and calls to its port")
    func tracingPortForwardsToItsPort() async throws {
        try await onVirtualLoop { loop in
            let (near, far) = socketPair(.packets)
            let socket = PacketSocket(near, on: loop, maximumPacket: 8, maximumSent: 28)
            let log = PortLog(loop, TracingPort(socket) { _ in })
            try await log.start()
            #expect(log.port.maximumSent == 28)
            #expect(await log.isWritable)
            for number in UInt8(1)...3 { #expect(writeSome([number], to: far) == 1) }
            log.port.readNow()
            #expect(await log.packets == [[1], [2], [3]])
            #expect(writeSome([4], to: far) == 1)
            log.port.closeAfterReading()
            #expect(await log.packets == [[1], [2], [3], [4]])
            #expect(await !log.isWritable)
            close(far)
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct LossyPortTests {
    private func packets(_ count: Int, probability: Double, seed: UInt64) async throws -> (
        packets: [[UInt8]], lost: Int
    ) {
        let result = Lock<([[UInt8]], Int)>(([], 0))
        try await onVirtualLoop { loop in
            let (inner, other) = MemoryPort.pair(on: loop)
            let lossy = LossyPort(inner, probability: probability, random: SplitMix64(seed: seed)) {
                // Only packets to the host that begin with an even octet can be lost.
                $0 == .controllerToHost && $1[0] % 2 == 0
            }
            let (near, far) = (PortLog(loop, lossy), PortLog(loop, other))
            try await near.start()
            try await far.start()
            for number in 0..<count {
                await far.send([UInt8(truncatingIfNeeded: number)])
                await near.send([UInt8(truncatingIfNeeded: number)])
            }
            await loop.settle()
            // No packet is lost in the other direction.
            #expect(await far.packets.count == count)
            let all = await near.packets
            result.withLock { $0 = (all, lossy.lost) }
            await near.close()
        }
        return result.withLock { $0 }
    }

    @Test("eligible packets are lost with the probability, reproducibly by seed; others never")
    func eligiblePacketsAreLostByProbability() async throws {
        let all = (0..<200).map { [UInt8($0)] }
        let none = try await packets(200, probability: 0, seed: 1)
        #expect(none.packets == all && none.lost == 0)
        let everything = try await packets(200, probability: 1, seed: 1)
        #expect(everything.packets == all.filter { $0[0] % 2 == 1 } && everything.lost == 100)

        let some = try await packets(200, probability: 0.5, seed: 1)
        #expect(some.packets.count + some.lost == 200)
        #expect((20...80).contains(some.lost))
        #expect(some.packets.filter { $0[0] % 2 == 1 } == all.filter { $0[0] % 2 == 1 })
        #expect(try await packets(200, probability: 0.5, seed: 1).packets == some.packets)
        #expect(try await packets(200, probability: 0.5, seed: 2).packets != some.packets)
    }
}

/// A port that reports a reset of the other side when it receives the octet ff.
private final class ResettingPort: PacketPort, @unchecked Sendable {
    // Sendable: accessed only on the loop.
    private let inner: any PacketPort

    init(_ inner: any PacketPort) { self.inner = inner }

    var isWritable: Bool { inner.isWritable }

    func start(_ handlers: PacketPortHandlers) throws(PortError) {
        var mine = handlers
        mine.receive = { packet in
            if packet.count == 1, packet[0] == 0xff { handlers.wasReset() } else { handlers.receive(packet) }
        }
        try inner.start(mine)
    }

    func send(_ packet: Span<UInt8>) { inner.send(packet) }

    func close() { inner.close() }
}

@Suite(.timeLimit(.minutes(10))) struct DelayedPortTests {
    @Test("packets in transit are lost when the other side is reset")
    func resetDropsPacketsInTransit() async throws {
        try await onVirtualLoop { loop in
            let wrapped = try await Wrapped(on: loop) {
                DelayedPort(
                    ResettingPort($0), on: loop, delay: .milliseconds(10) ... .milliseconds(10),
                    random: SplitMix64(seed: 1))
            }
            for number in UInt8(0)..<64 { await wrapped.near.send([number]) }
            #expect(await !wrapped.near.isWritable)
            await wrapped.far.send([2])
            await loop.settle()
            await wrapped.far.send([0xff])
            _ = await loop.sleep(for: .seconds(1))
            #expect(await wrapped.near.entries == [.wasReset, .writable])
            #expect(await wrapped.far.packets.isEmpty)
            // Later packets are delivered.
            await wrapped.near.send([3])
            await wrapped.far.send([4])
            _ = await loop.sleep(for: .seconds(1))
            #expect(await wrapped.near.packets == [[4]])
            #expect(await wrapped.far.packets == [[3]])
            await wrapped.near.close()
        }
    }

    @Test("each packet is delayed in both directions, and the order is kept")
    func packetsAreDelayedInOrder() async throws {
        try await onVirtualLoop { loop in
            let wrapped = try await Wrapped(on: loop) {
                DelayedPort(
                    $0, on: loop, delay: .milliseconds(10) ... .milliseconds(90),
                    random: SplitMix64(seed: 1))
            }
            let start = loop.now
            let packets = (0..<50).map { [UInt8($0)] }
            for packet in packets {
                await wrapped.near.send(packet)
                await wrapped.far.send(packet)
            }
            _ = await loop.sleep(for: .seconds(1))
            for end in [wrapped.near, wrapped.far] {
                #expect(await end.packets == packets)
                let times = await end.times
                #expect(times.allSatisfy { (10...90).contains(start.duration(until: $0) / .milliseconds(1)) })
                // If all packets had the same delay, their order would prove nothing.
                #expect(Set(times).count > 1)
            }
            await wrapped.near.close()
        }
    }

    @Test("64 packets in flight make the port unwritable")
    func packetsInFlightAreLimited() async throws {
        try await onVirtualLoop { loop in
            let wrapped = try await Wrapped(on: loop) {
                DelayedPort(
                    $0, on: loop, delay: .milliseconds(10) ... .milliseconds(10),
                    random: SplitMix64(seed: 1))
            }
            for number in UInt8(0)..<64 {
                #expect(await wrapped.near.isWritable)
                await wrapped.near.send([number])
            }
            #expect(await !wrapped.near.isWritable)
            _ = await loop.sleep(for: .milliseconds(9))
            #expect(await wrapped.near.entries.isEmpty)
            _ = await loop.sleep(for: .milliseconds(2))
            #expect(await wrapped.near.entries == [.writable])
            #expect(await wrapped.far.packets.count == 64)
            await wrapped.near.close()
        }
    }

    @Test("packets in flight are lost when either end closes")
    func closingDropsPacketsInFlight() async throws {
        for closesNear in [true, false] {
            try await onVirtualLoop { loop in
                let wrapped = try await Wrapped(on: loop) {
                    DelayedPort(
                        $0, on: loop, delay: .milliseconds(10) ... .milliseconds(10),
                        random: SplitMix64(seed: 1))
                }
                await wrapped.near.send([1])
                await wrapped.far.send([2])
                _ = await loop.sleep(for: .milliseconds(5))
                await (closesNear ? wrapped.near : wrapped.far).close()
                _ = await loop.sleep(for: .seconds(1))
                #expect(await wrapped.near.packets.isEmpty)
                #expect(await wrapped.far.packets.isEmpty)
                let other = closesNear ? wrapped.far : wrapped.near
                #expect(await other.entries == [.closed(.ended)])
            }
        }
    }
}
