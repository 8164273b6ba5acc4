import BLECore
import HCI
import Testing

@Suite struct ACLFlowTests {
    let one = ConnectionHandle(0x0040)
    let two = ConnectionHandle(0x0041)
    let three = ConnectionHandle(0x0042)

    static func flow(length: Int, packets: Int, _ handles: ConnectionHandle...) -> ACLFlow {
        var flow = ACLFlow()
        flow.configure(packetLength: length, packets: packets)
        for handle in handles { flow.open(handle) }
        return flow
    }

    @Test func framesAreFragmented() throws {
        var flow = Self.flow(length: 5, packets: 10, one)
        try flow.enqueue([1, 2, 3, 4, 5, 6, 7], on: .att, of: one)
        #expect(flow.queuedFrames(one) == 1)
        #expect(flow.queuedOctets(one) == 11)
        #expect(
            flow.packets().map(\.hex) == [
                "024000" + "0500" + "0700040001", "024010" + "0500" + "0203040506", "024010" + "0100" + "07",
            ])
        #expect(flow.queuedFrames(one) == 0)
        #expect(flow.queuedOctets(one) == 0)
        #expect(flow.unacknowledged(one) == 3)
        #expect(flow.freePackets == 7)
    }

    @Test func frameIsWrittenInPlace() throws {
        var flow = Self.flow(length: 5, packets: 10, one)
        let isQueued = try flow.enqueue(on: .att, of: one, upTo: 517) { output in
            for octet: UInt8 in 1...7 { output.append(octet) }
        }
        #expect(isQueued && flow.queuedFrames(one) == 1 && flow.queuedOctets(one) == 11)
        #expect(
            flow.packets().map(\.hex) == [
                "024000" + "0500" + "0700040001", "024010" + "0500" + "0203040506", "024010" + "0100" + "07",
            ])
        let isNothing = try flow.enqueue(on: .att, of: one, upTo: 517) { _ in }
        #expect(!isNothing && flow.queuedFrames(one) == 0)
        #expect(throws: ACLFlowError.unknownConnection(two)) {
            _ = try flow.enqueue(on: .att, of: two, upTo: 517) { $0.append(1) }
        }
    }

    @Test("a frame is not written when the queue has no room")
    func fullQueueWritesNothing() throws {
        var flow = ACLFlow(queueLimit: 40)
        flow.configure(packetLength: 27, packets: 0)
        flow.open(one)
        var written = 0
        var queued: [Bool] = []
        for _ in 0..<4 {
            queued.append(
                try flow.enqueue(on: .att, of: one, upTo: 23) { output in
                    written += 1
                    output.append(1)
                })
        }
        // Each frame can have 27 octets. With 5 or 10 octets in the queue there is room for that, with 15 not.
        #expect(queued == [true, true, true, false] && written == 3)
    }

    @Test("a frame counts as unsent until its last packet is completed")
    func framesAreUnsentUntilCompleted() throws {
        var flow = Self.flow(length: 6, packets: 8, one)
        for octet: UInt8 in [0x1b, 0x0b, 0x52] {
            _ = try flow.enqueue(on: .att, of: one, upTo: 23, awaited: { $0 != 0x0b }) { output in
                output.append(repeating: octet, count: 5)
            }
        }
        // Nine octets each, in two packets.
        #expect(flow.unsentFrames(one).awaited == 2 && flow.unsentFrames(one).others == 1)
        for (awaited, others) in [(2, 1), (1, 1), (1, 1), (1, 0), (1, 0), (0, 0)] {
            _ = flow.packets()
            try flow.complete(CompletedPackets(connection: one, count: 1))
            #expect(flow.unsentFrames(one).awaited == awaited && flow.unsentFrames(one).others == others)
        }
    }

    @Test func emptyFrameIsSent() throws {
        var flow = Self.flow(length: 27, packets: 1, one)
        try flow.enqueue([], on: .att, of: one)
        #expect(flow.packets().map(\.hex) == ["0240000400" + "00000400"])
    }

    @Test func packetsNeverExceedControllerBuffers() throws {
        var flow = Self.flow(length: 10, packets: 2, one)
        for _ in 0..<5 { try flow.enqueue([0], on: .att, of: one) }
        #expect(flow.packets().count == 2)
        try flow.complete(CompletedPackets(connection: one, count: 1))
        #expect(flow.packets().count == 1)
        #expect(flow.queuedFrames(one) == 2)
    }

    @Test func packetsWaitForBufferConfiguration() throws {
        var flow = ACLFlow()
        flow.open(one)
        try flow.enqueue([0], on: .att, of: one)
        #expect(flow.packets().isEmpty)
        flow.configure(packetLength: 27, packets: 1)
        #expect(flow.packets().count == 1)
    }

    @Test func connectionsAreServedRoundRobin() throws {
        var flow = Self.flow(length: 5, packets: 100, one, two, three)
        try flow.enqueue([UInt8](repeating: 1, count: 11), on: .att, of: one)
        try flow.enqueue([UInt8](repeating: 2, count: 6), on: .att, of: two)
        try flow.enqueue([UInt8](repeating: 3, count: 1), on: .att, of: three)
        #expect(flow.packets().map { $0[1] } == [0x40, 0x41, 0x42, 0x40, 0x41, 0x40])
    }

    @Test(
        "one busy connection uses three quarters of the buffers and does not block the others"
    )
    func busyConnectionLeavesBuffersForOthers() throws {
        let all = (0..<8).map { ConnectionHandle(rawValue: 0x40 + $0) }
        var flow = ACLFlow()
        flow.configure(packetLength: 27, packets: 8)
        for handle in all { flow.open(handle) }
        for _ in 0..<20 { try flow.enqueue([0], on: .att, of: all[0]) }
        #expect(flow.packets().count == 6)
        // The connection stalls. Frames of two others are sent.
        for handle in all[1...3] { for _ in 0..<2 { try flow.enqueue([0], on: .att, of: handle) } }
        #expect(flow.packets().map { $0[1] } == [0x41, 0x42])
        #expect(flow.packets().isEmpty)
        for done in [all[1], all[2], all[3]] {
            try flow.complete(CompletedPackets(connection: done, count: 1))
            #expect(flow.packets().count == 1, "the turn is the next one's")
        }
    }

    @Test func stalledConnectionLeavesBufferForOthers() throws {
        var flow = Self.flow(length: 5, packets: 4, one, two, three)
        for _ in 0..<9 { try flow.enqueue([0], on: .att, of: one) }
        #expect(flow.packets().count == 3, "one is kept for the others")
        for _ in 0..<9 { try flow.enqueue([0], on: .att, of: two) }
        #expect(flow.packets().map { $0[1] } == [0x41])
        try flow.enqueue([0], on: .att, of: three)
        #expect(flow.packets().isEmpty)
        try flow.complete(CompletedPackets(connection: two, count: 1))
        #expect(flow.packets().map { $0[1] } == [0x41], "its turn was before")
        try flow.complete(CompletedPackets(connection: two, count: 1))
        #expect(flow.packets().map { $0[1] } == [0x42])
        flow.close(three)
        #expect(flow.packets().map { $0[1] } == [0x41])
    }

    @Test func closingReleasesBuffers() throws {
        var flow = Self.flow(length: 5, packets: 3, one)
        for _ in 0..<9 { try flow.enqueue([0], on: .att, of: one) }
        #expect(flow.packets().count == 3)
        flow.close(one)
        #expect(flow.freePackets == 3)
        #expect(flow.queuedOctets(one) == 0)
        flow.open(two)
        try flow.enqueue([0], on: .att, of: two)
        #expect(flow.packets().count == 1)
    }

    @Test func reopeningHandleDropsQueuedFrames() throws {
        var flow = Self.flow(length: 5, packets: 1, one)
        for _ in 0..<2 { try flow.enqueue([0], on: .att, of: one) }
        _ = flow.packets()
        flow.open(one)
        #expect(flow.queuedFrames(one) == 0)
        #expect(flow.freePackets == 1)
    }

    @Test("frames that are dropped are not continued, and the packets before count as before")
    func framesAreDropped() throws {
        var flow = Self.flow(length: 5, packets: 1, one, two)
        try flow.enqueue([1, 2, 3, 4, 5, 6, 7], on: .att, of: one)
        #expect(flow.packets().count == 1)
        flow.dropFrames(of: one)
        flow.dropFrames(of: two)
        #expect(flow.queuedFrames(one) == 0 && flow.queuedOctets(one) == 0)
        #expect(flow.unacknowledged(one) == 1 && flow.completedPackets(one) == 0)
        try flow.complete(CompletedPackets(connection: one, count: 1))
        #expect(flow.packets() == [] && flow.completedPackets(one) == 1)
        try flow.enqueue([1], on: .att, of: one)
        #expect(flow.packets().map(\.hex) == ["024000" + "0500" + "0100040001"])
    }

    @Test func invalidCompletionsAreClampedAndReported() throws {
        var flow = Self.flow(length: 5, packets: 3, one)
        #expect(throws: ACLFlowError.unknownConnection(two)) {
            try flow.complete(CompletedPackets(connection: two, count: 1))
        }
        try flow.enqueue([0], on: .att, of: one)
        _ = flow.packets()
        #expect(throws: ACLFlowError.tooManyCompleted(one, claimed: 0xffff, sent: 1)) {
            try flow.complete(CompletedPackets(connection: one, count: 0xffff))
        }
        #expect(flow.freePackets == 3)
        #expect(throws: Never.self) { try flow.complete(CompletedPackets(connection: one, count: 0)) }
    }

    @Test func invalidOrExcessFramesAreRefused() {
        var flow = ACLFlow(queueLimit: 20)
        flow.open(one)
        #expect(throws: ACLFlowError.unknownConnection(two)) {
            try flow.enqueue([], on: .att, of: two)
        }
        #expect(throws: ACLFlowError.tooLong(payload: 65_536, limit: 65_535)) {
            try flow.enqueue([UInt8](repeating: 0, count: 65_536), on: .att, of: one)
        }
        #expect(throws: Never.self) {
            try flow.enqueue([UInt8](repeating: 0, count: 65_535), on: .att, of: one)
        }
        #expect(throws: ACLFlowError.queueFull(one, octets: 65_539, limit: 20)) {
            try flow.enqueue([], on: .att, of: one)
        }
        #expect(flow.queuedFrames(one) == 1)
    }

    /// Frames arrive unchanged for any number and size of buffers, and buffers are never overrun.
    @Test func fragmentationPreservesFrames() throws {
        var random = SplitMix64(seed: 4)
        for _ in 0..<200 {
            let packets = Int.random(in: 1...6, using: &random)
            var flow = Self.flow(
                length: Int.random(in: 1...60, using: &random), packets: packets, one, two)
            var receivers = [one: ACLReassembler(), two: ACLReassembler()]
            var sent: [ConnectionHandle: [L2CAPFrame]] = [one: [], two: []]
            var received = sent
            var held: [ConnectionHandle] = []
            for step in 0..<80 {
                let handle = Bool.random(using: &random) ? one : two
                if step < 40 {
                    let frame = L2CAPFrame(.att, random.bytes(upTo: 100))
                    try flow.enqueue(frame.payload, on: frame.channel, of: handle)
                    sent[handle]?.append(frame)
                }
                for bytes in flow.packets() {
                    guard case .acl(let packet) = try HCIPacket(bytes) else { continue }
                    held.append(packet.handle)
                    try receivers[packet.handle]?.receive(packet.boundary, packet.data.span) {
                        received[packet.handle]?.append(L2CAPFrame($0, [UInt8](copying: $1)))
                    }
                }
                #expect(held.count <= packets)
                while !held.isEmpty && (step >= 40 || Bool.random(using: &random)) {
                    try flow.complete(CompletedPackets(connection: held.removeFirst(), count: 1))
                    if step >= 40 { break }
                }
            }
            while flow.queuedFrames(one) + flow.queuedFrames(two) > 0 {
                for handle in held { try flow.complete(CompletedPackets(connection: handle, count: 1)) }
                held.removeAll()
                for bytes in flow.packets() {
                    guard case .acl(let packet) = try HCIPacket(bytes) else { continue }
                    held.append(packet.handle)
                    try receivers[packet.handle]?.receive(packet.boundary, packet.data.span) {
                        received[packet.handle]?.append(L2CAPFrame($0, [UInt8](copying: $1)))
                    }
                }
            }
            #expect(sent == received)
        }
    }
}

extension ACLFlow {
    mutating func enqueue(
        _ payload: [UInt8], on channel: L2CAPChannelID, of handle: ConnectionHandle
    ) throws(ACLFlowError) {
        try enqueue(payload.span, on: channel, of: handle)
    }

    /// Returns all packets that may be sent.
    mutating func packets() -> [[UInt8]] {
        var packets: [[UInt8]] = []
        while true {
            var hasPacket = false
            let packet = [UInt8](capacity: maximumPacketLength) { hasPacket = nextPacket(into: &$0) }
            guard hasPacket else { return packets }
            packets.append(packet)
        }
    }
}
