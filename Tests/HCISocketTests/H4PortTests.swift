import BLECore
import Glibc
import HCI
import SystemPackage
import TestSupport
import Testing

@testable import HCISocket

/// An H4 port at one end of a stream whose other end the test reads and writes.
private struct Stream {
    let loop: EventLoop
    let log: PortLog
    let far: CInt

    /// The number of octets that were written to the near end until it was full; 0 unless `isFull`.
    let filled: Int

    init(
        _ loop: EventLoop, expecting types: Set<HCIPacketType> = HCIPacketType.all, recovers: Bool = false,
        isFull: Bool = false, pausesWhileFull: Bool = false
    ) {
        self.loop = loop
        let (near, far) = socketPair(.stream)
        self.far = far
        var filled = 0
        if isFull {
            let part = [UInt8](repeating: 0xff, count: 1 << 16)
            while case let count = writeSome(part[...], to: near), count > 0 { filled += count }
        }
        self.filled = filled
        log = PortLog(
            loop,
            H4Port(
                near, on: loop, expecting: types, recovers: recovers, pausesWhileFull: pausesWhileFull))
    }

    /// Writes octets at the far end, and waits until the port has read them.
    func write(_ octets: [UInt8]) async {
        #expect(writeSome(octets[...], to: far) == octets.count)
        await loop.settle()
    }

    /// Reads `count` octets at the far end, in parts of at most `part`, or fewer if no more arrive.
    func take(_ count: Int, part: Int = .max) async -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count {
            let next = readAll(from: far, limit: min(part, count - all.count))
            guard !next.isEmpty else { break }
            all += next
            await loop.settle()
        }
        return all
    }

    func end() async {
        await log.close()
        Glibc.close(far)
    }
}

private let reset: [UInt8] = [0x01, 0x03, 0x0c, 0x00]
private let answer: [UInt8] = [0x04, 0x0e, 0x04, 0x01, 0x03, 0x0c, 0x00]
private let event: [UInt8] = [0x04, 0x10, 0x01, 0x42]

/// One packet of each type.
private let packets: [[UInt8]] = [
    [0x01, 0x01, 0x04, 0x03, 7, 8, 9], [0x02, 0x40, 0x00, 0x03, 0x00, 7, 8, 9],
    [0x03, 0x40, 0x00, 0x02, 7, 8], event, [0x05, 0x40, 0x00, 0x02, 0x00, 7, 8],
]

@Suite(.timeLimit(.minutes(10))) struct H4PortSendingTests {
    @Test("a packet is sent unchanged and immediately, and the port stays writable")
    func packetIsSentImmediately() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop)
            try await stream.log.start()
            for packet in packets { await stream.log.send(packet) }
            #expect(readAll(from: stream.far) == packets.flatMap { $0 })
            await loop.settle()
            #expect(await stream.log.isWritable)
            #expect(await stream.log.entries.isEmpty)
            await stream.end()
        }
    }

    @Test("unsent octets are buffered, and 64 KiB of them make the port unwritable")
    func bufferedOctetsMakePortUnwritable() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop, isFull: true)
            try await stream.log.start()
            let first = counting((1 << 16) - 1)
            await stream.log.send(first)
            #expect(await stream.log.isWritable)
            await stream.log.send([0xaa])
            #expect(await !stream.log.isWritable)
            // The port stores a complete packet even when it is not writable.
            await stream.log.send([0xbb, 0xcc])
            await loop.settle()
            #expect(await stream.log.entries.isEmpty)

            let all = await stream.take(stream.filled + first.count + 3)
            #expect(all.dropFirst(stream.filled) == (first + [0xaa, 0xbb, 0xcc])[...])
            #expect(await stream.log.entries == [.writable])
            #expect(await stream.log.isWritable)
            await stream.end()
        }
    }

    @Test(
        "a port that pauses while it is full receives nothing more until its packets are read",
        arguments: [false, true])
    func fullPortPauses(_ pauses: Bool) async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop, isFull: true, pausesWhileFull: pauses)
            try await stream.log.start()
            let first = counting(1 << 16)
            await stream.log.send(first)
            #expect(await !stream.log.isWritable)
            await stream.write(packets[0])
            await loop.settle()
            #expect(await stream.log.entries == (pauses ? [] : [.received(packets[0])]))
            _ = await stream.take(stream.filled + first.count)
            await loop.settle()
            #expect(await stream.log.entries.contains(.received(packets[0])))
            #expect(await stream.log.isWritable)
            await stream.end()
        }
    }

    @Test("writable is not reported for a port that was always writable")
    func alwaysWritablePortDoesNotReportWritable() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop, isFull: true)
            try await stream.log.start()
            await stream.log.send([1, 2, 3])
            #expect(await stream.log.isWritable)
            #expect(await stream.take(stream.filled + 3).suffix(3) == [1, 2, 3])
            #expect(await stream.log.entries.isEmpty)
            await stream.end()
        }
    }

    @Test("a partially written packet is completed before the next one starts")
    func partialWriteIsCompletedBeforeNextPacket() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop)
            try await stream.log.start()
            // This is more than the stream holds, and so much that the port removes sent octets from its buffer
            // in between.
            let large = counting(4 << 20)
            await stream.log.send(large)
            #expect(await !stream.log.isWritable)
            await stream.log.send([0xaa, 0xbb])
            let all = await stream.take(large.count + 2, part: 100_000)
            #expect(all == large + [0xaa, 0xbb])
            #expect(await stream.log.entries == [.writable])
            await stream.end()
        }
    }

    @Test("packets stay in order with a slow reader")
    func slowReaderReceivesPacketsInOrder() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop)
            try await stream.log.start()
            var (sent, taken): ([UInt8], [UInt8]) = ([], [])
            for round in 0..<60 {
                // Each packet has another length, so that a part that is lost or sent twice is detected.
                while await stream.log.isWritable {
                    let packet = counting(1000 + round, from: UInt8(round))
                    await stream.log.send(packet)
                    sent += packet
                }
                taken += await stream.take(40_000)
            }
            // This is many times what the stream and the port hold together.
            #expect(sent.count > 10 * (1 << 16))
            taken += await stream.take(sent.count - taken.count)
            #expect(taken == sent)
            await stream.end()
        }
    }

    @Test("unsent octets are dropped when the port is closed")
    func closingDropsUnsentOctets() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop, isFull: true)
            try await stream.log.start()
            await stream.log.send([1, 2, 3])
            await stream.log.close()
            #expect(await !stream.log.isWritable)
            await stream.log.send([4])
            await stream.log.close()
            #expect(await stream.take(.max).count == stream.filled)
            #expect(await stream.log.entries.isEmpty)
            Glibc.close(stream.far)
        }
    }

    @Test("a stream that fails while buffered octets are written closes the port with that error")
    func failedBufferedWriteClosesPort() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop, isFull: true)
            try await stream.log.start()
            await stream.log.send([1, 2, 3])
            Glibc.close(stream.far)
            await loop.settle()
            // Either the read or the write fails first.
            let entries = await stream.log.entries
            #expect(entries.count == 1)
            guard case .closed(let error)? = entries.first else {
                Issue.record("the port has not ended")
                return
            }
            #expect(error.errno == .brokenPipe || error.errno == .connectionReset)
            #expect(await !stream.log.isWritable)
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct H4PortReceivingTests {
    @Test("a packet that arrives in two reads is delivered once complete", arguments: packets)
    func splitPacketIsDeliveredOnceComplete(packet: [UInt8]) async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop)
            try await stream.log.start()
            for count in 1..<packet.count {
                let before = await stream.log.entries
                await stream.write(Array(packet.prefix(count)))
                #expect(await stream.log.entries == before)
                await stream.write(Array(packet.dropFirst(count)))
                #expect(await stream.log.entries == before + [.received(packet)])
            }
            await stream.end()
        }
    }

    @Test("a packet that arrives octet by octet has no time limit without recovery")
    func slowPacketHasNoTimeLimitWithoutRecovery() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop)
            try await stream.log.start()
            for octet in packets[1] {
                #expect(await stream.log.entries.isEmpty)
                await stream.write([octet])
                _ = await loop.sleep(for: .seconds(100))
            }
            #expect(await stream.log.entries == [.received(packets[1])])
            #expect(readAll(from: stream.far).isEmpty)
            await stream.end()
        }
    }

    @Test("packets from one read are delivered in order, and a partial one waits for its rest")
    func packetsOfOneReadAreDeliveredInOrder() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop)
            try await stream.log.start()
            await stream.write(packets.flatMap { $0 } + packets[1].prefix(6))
            #expect(await stream.log.packets == packets)
            await stream.write(packets[1].dropFirst(6) + event)
            #expect(await stream.log.packets == packets + [packets[1], event])
            #expect(await stream.log.entries.count == packets.count + 2)
            await stream.end()
        }
    }

    @Test("the longest packet is assembled from several reads")
    func longestPacketIsAssembledFromSeveralReads() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop)
            try await stream.log.start()
            let packet = [0x02, 0x40, 0x00, 0xff, 0xff] + counting(0xffff)
            var written = 0
            while written < packet.count {
                let count = writeSome(packet[written...], to: stream.far)
                try #require(count > 0)
                written += count
                await loop.settle()
            }
            #expect(await stream.log.entries == [.received(packet)])
            await stream.write(event)
            #expect(await stream.log.packets == [packet, event])
            await stream.end()
        }
    }

    @Test("octets that arrive before the start are delivered after it")
    func octetsBeforeStartAreDeliveredAfterIt() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop)
            await stream.write(event)
            #expect(await stream.log.entries.isEmpty)
            try await stream.log.start()
            #expect(await stream.log.entries.isEmpty)
            await loop.settle()
            #expect(await stream.log.entries == [.received(event)])
            await stream.end()
        }
    }

    @Test("the end of the stream is reported after its packets, and a truncated packet is dropped")
    func endOfStreamIsReportedAfterPackets() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop)
            try await stream.log.start()
            #expect(writeSome((event + [0x04, 0x10])[...], to: stream.far) == event.count + 2)
            Glibc.close(stream.far)
            await loop.settle()
            #expect(await stream.log.entries == [.received(event), .closed(.ended)])
            #expect(await !stream.log.isWritable)
            // The port has closed its descriptor, whose number can belong to another by now.
            await stream.log.send(reset)
            await stream.log.close()
            await loop.settle()
            #expect(await stream.log.entries.count == 2)
        }
    }

    @Test("a stream reset closes the port after the received packets")
    func streamResetIsReportedAfterPackets() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop)
            try await stream.log.start()
            // If the other end closes with unread octets, this end receives a reset.
            await stream.log.send(reset)
            #expect(writeSome(event[...], to: stream.far) == event.count)
            Glibc.close(stream.far)
            await loop.settle()
            let error = PortError.system(.connectionReset, during: "read")
            #expect(await stream.log.entries == [.received(event), .closed(error)])
        }
    }

    @Test("a handler that closes the port receives no further packets or errors")
    func closingInHandlerStopsDelivery() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop)
            try await stream.log.start(closingAt: event)
            await stream.write(packets[0] + event + packets[1] + [0xff])
            #expect(await stream.log.entries == [.received(packets[0]), .received(event)])
            await loop.settle()
            #expect(await stream.log.entries.count == 2)
            Glibc.close(stream.far)
        }
    }

    @Test("a framing error closes a port without recovery after the preceding packets")
    func framingErrorClosesPortAfterPackets() async throws {
        let wrong: [([UInt8], Set<HCIPacketType>, H4FramingError)] = [
            ([0x07, 1, 2, 3], HCIPacketType.all, .unknownType(HCIPacketType(rawValue: 7), offset: 4)),
            ([0x00], HCIPacketType.all, .unknownType(HCIPacketType(rawValue: 0), offset: 4)),
            // A controller sends no commands.
            (reset, HCIPacketType.fromController, .unknownType(.command, offset: 4)),
        ]
        for (octets, types, error) in wrong {
            try await onVirtualLoop { loop in
                let stream = Stream(loop, expecting: types)
                try await stream.log.start()
                await stream.write(event + octets)
                let end = PortError.protocolViolation(.framing(error))
                #expect(await stream.log.entries == [.received(event), .closed(end)])
                #expect(await !stream.log.isWritable)
                #expect(readAll(from: stream.far).isEmpty)
                Glibc.close(stream.far)
            }
        }
    }
}

/// A controller on a line that may lose octets.
@Suite(.timeLimit(.minutes(10))) struct H4PortRecoveryTests {
    /// Returns a stream whose port has just received an octet that begins no packet.
    private func lostStream(_ loop: EventLoop) async throws -> Stream {
        let stream = Stream(loop, expecting: HCIPacketType.fromController, recovers: true)
        try await stream.log.start()
        await stream.write([0x55])
        #expect(readAll(from: stream.far) == reset)
        return stream
    }

    private let cause = PortError.Violation.framing(
        .unknownType(HCIPacketType(rawValue: 0x55), offset: 0))

    @Test("after a wrong octet Reset is sent, and packets resume after its response")
    func packetsResumeAfterResetResponse() async throws {
        try await onVirtualLoop { loop in
            let stream = try await lostStream(loop)
            #expect(await stream.log.entries.isEmpty)
            #expect(await !stream.log.isWritable)
            await stream.write([0x04, 0x3e, 0x20] + event + answer + event + packets[1].prefix(3))
            #expect(await stream.log.entries == [.wasReset, .writable, .received(event)])
            await stream.write(Array(packets[1].dropFirst(3)))
            #expect(await stream.log.packets == [event, packets[1]])
            await stream.end()
        }
    }

    @Test("packets sent during recovery are dropped, and later ones are not")
    func packetsSentDuringRecoveryAreDropped() async throws {
        try await onVirtualLoop { loop in
            let stream = try await lostStream(loop)
            await stream.log.send(packets[0])
            #expect(readAll(from: stream.far).isEmpty)
            await stream.write(answer)
            await stream.log.send(packets[0])
            #expect(readAll(from: stream.far) == packets[0])
            await stream.end()
        }
    }

    @Test("the Reset response can arrive in any two parts", arguments: 1..<answer.count)
    func resetResponseCanArriveInTwoParts(count: Int) async throws {
        try await onVirtualLoop { loop in
            let stream = try await lostStream(loop)
            await stream.write(Array(answer.prefix(count)))
            #expect(await stream.log.entries.isEmpty)
            await stream.write(answer.dropFirst(count) + event)
            #expect(await stream.log.entries == [.wasReset, .writable, .received(event)])
            await stream.end()
        }
    }

    @Test("Reset is sent twelve times, every half second, then the port closes with the original error")
    func unansweredResetsClosePort() async throws {
        try await onVirtualLoop { loop in
            let stream = try await lostStream(loop)
            for _ in 0..<11 {
                #expect(await stream.log.entries.isEmpty)
                _ = await loop.sleep(for: .milliseconds(500))
                #expect(readAll(from: stream.far) == reset)
            }
            // Octets that are not the response have no effect.
            await stream.write(event + [0x66])
            #expect(await stream.log.entries.isEmpty)
            _ = await loop.sleep(for: .milliseconds(500))
            #expect(await stream.log.entries == [.closed(.protocolViolation(.lost(cause)))])
            #expect(readAll(from: stream.far).isEmpty)
            #expect(await !stream.log.isWritable)
            Glibc.close(stream.far)
        }
    }

    @Test("a response to any Reset ends recovery, and no further Reset is sent")
    func lateResetResponseEndsRecovery() async throws {
        try await onVirtualLoop { loop in
            let stream = try await lostStream(loop)
            for _ in 0..<5 { _ = await loop.sleep(for: .milliseconds(500)) }
            #expect(readAll(from: stream.far).count == 5 * reset.count)
            await stream.write(answer)
            _ = await loop.sleep(for: .seconds(60))
            #expect(readAll(from: stream.far).isEmpty)
            #expect(await stream.log.entries == [.wasReset, .writable])
            await stream.end()
        }
    }

    @Test("the end of the stream ends recovery")
    func endOfStreamEndsRecovery() async throws {
        try await onVirtualLoop { loop in
            let stream = try await lostStream(loop)
            Glibc.close(stream.far)
            await loop.settle()
            #expect(await stream.log.entries == [.closed(.ended)])
            _ = await loop.sleep(for: .seconds(60))
            #expect(await stream.log.entries.count == 1)
        }
    }

    @Test("each recovery has its full number of Resets")
    func eachRecoveryHasFullResetCount() async throws {
        try await onVirtualLoop { loop in
            let stream = try await lostStream(loop)
            for _ in 0..<10 { _ = await loop.sleep(for: .milliseconds(500)) }
            await stream.write(answer + [0x07])
            // The other Resets of the first recovery, and the first one of the second.
            #expect(readAll(from: stream.far).count == 11 * reset.count)
            for _ in 0..<10 { _ = await loop.sleep(for: .milliseconds(500)) }
            await stream.write(answer + event)
            #expect(
                await stream.log.entries
                    == [.wasReset, .writable, .wasReset, .writable, .received(event)])
            await stream.end()
        }
    }

    @Test("a packet that stalls for a second starts recovery and is named if that fails")
    func stalledPacketStartsRecovery() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop, expecting: HCIPacketType.fromController, recovers: true)
            try await stream.log.start()
            await stream.write(event + [0x04, 0x0e, 0x04])
            _ = await loop.sleep(for: .milliseconds(990))
            #expect(readAll(from: stream.far).isEmpty)
            _ = await loop.sleep(for: .milliseconds(10))
            #expect(readAll(from: stream.far) == reset)
            _ = await loop.sleep(for: .seconds(6))
            let end = PortError.protocolViolation(.lost(.incomplete(octets: 3)))
            #expect(await stream.log.entries == [.received(event), .closed(end)])
            Glibc.close(stream.far)
        }
    }

    @Test("a packet whose octets arrive less than a second apart is delivered, however long it takes")
    func slowPacketIsDelivered() async throws {
        try await onVirtualLoop { loop in
            let stream = Stream(loop, expecting: HCIPacketType.fromController, recovers: true)
            try await stream.log.start()
            for octet in packets[1] {
                await stream.write([octet])
                _ = await loop.sleep(for: .milliseconds(900))
            }
            _ = await loop.sleep(for: .seconds(60))
            #expect(readAll(from: stream.far).isEmpty)
            #expect(await stream.log.entries == [.received(packets[1])])
            await stream.end()
        }
    }

    @Test("a port closed during recovery sends and reports nothing more")
    func portClosedDuringRecoverySendsNothing() async throws {
        try await onVirtualLoop { loop in
            let stream = try await lostStream(loop)
            await stream.log.close()
            _ = await loop.sleep(for: .seconds(60))
            #expect(readAll(from: stream.far).isEmpty)
            #expect(await stream.log.entries.isEmpty)
            Glibc.close(stream.far)
        }
    }
}
