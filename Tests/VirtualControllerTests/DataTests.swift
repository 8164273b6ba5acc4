import BLECore
import HCI
import Testing
import VirtualController

@Suite struct DataTests {
    static func completed(_ handle: ConnectionHandle, _ count: UInt16) -> HCIEvent {
        .numberOfCompletedPackets(
            NumberOfCompletedPackets(completed: [CompletedPackets(connection: handle, count: count)]))
    }

    @Test func dataArrivesInOrderWithControllerFlags() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        for (near, far) in [((central, one), (peripheral, other)), ((peripheral, other), (central, one))] {
            for (boundary, data) in [
                (.firstNonFlushable, [1, 2]), (.continuing, [3]), (.firstFlushable, [4]), (.continuing, [5]),
            ] as [(ACLPacket.Boundary, [UInt8])] {
                bench.send(.acl(ACLPacket(handle: near.1, boundary: boundary, data: data)), on: near.0)
            }
            #expect(
                bench.data(far.0) == [
                    ACLPacket(handle: far.1, boundary: .firstFlushable, data: [1, 2]),
                    ACLPacket(handle: far.1, boundary: .continuing, data: [3]),
                    ACLPacket(handle: far.1, boundary: .firstFlushable, data: [4]),
                    ACLPacket(handle: far.1, boundary: .continuing, data: [5]),
                ])
            #expect(
                bench.events(near.0) == [HCIEvent](repeating: Self.completed(near.1, 1), count: 4))
        }
    }

    @Test func unreadDataBlocksSendingPeer() throws {
        var configuration = VirtualController.Configuration()
        configuration.aclPackets = 3
        var (bench, central, peripheral, one, _) = try Bench.pair(configuration)
        bench.withoutReceiver = [peripheral]
        func send() {
            bench.send(.acl(ACLPacket(handle: one, boundary: .firstNonFlushable, data: [1])), on: central)
        }
        for _ in 0..<3 { send() }
        #expect(bench.events(central).isEmpty, "nothing is completed")
        send()
        #expect(bench.events(central) == [.dataBufferOverflow(DataBufferOverflow(linkType: .acl))])
        bench.withoutReceiver = []
        bench.drain()
        #expect(bench.data(peripheral).count == 3)
        let completed = bench.events(central).flatMap { event -> [CompletedPackets] in
            if case .numberOfCompletedPackets(let event) = event { event.completed } else { [] }
        }
        #expect(completed.reduce(0) { $0 + Int($1.count) } == 3)
    }

    @Test func unreadCompletionsAreMerged() throws {
        var (bench, central, peripheral, one, _) = try Bench.pair()
        bench.withoutReceiver = [central]
        for _ in 0..<5 {
            bench.send(.acl(ACLPacket(handle: one, boundary: .firstNonFlushable, data: [1])), on: central)
        }
        bench.withoutReceiver = []
        bench.drain()
        #expect(bench.events(central) == [Self.completed(one, 5)])

        bench.withoutReceiver = [central]
        let packet = HCIPacket.acl(ACLPacket(handle: one, boundary: .firstNonFlushable, data: [1])).encoded
        for _ in 0..<0x1_0001 {
            bench.air.receive(packet.span, from: central, at: bench.now)
            while bench.air.nextPacket(for: peripheral) != nil {}
        }
        bench.withoutReceiver = []
        bench.drain()
        #expect(bench.events(central) == [Self.completed(one, 0xffff), Self.completed(one, 2)])
    }

    @Test func oversizedPacketReportsBufferOverflow() throws {
        var configuration = VirtualController.Configuration()
        configuration.aclPacketLength = 27
        var (bench, central, peripheral, one, _) = try Bench.pair(configuration)
        for length in [27, 28] {
            let data = [UInt8](repeating: 7, count: length)
            bench.send(.acl(ACLPacket(handle: one, boundary: .firstNonFlushable, data: data)), on: central)
        }
        #expect(
            bench.events(central) == [
                Self.completed(one, 1), .dataBufferOverflow(DataBufferOverflow(linkType: .acl)),
            ])
        #expect(bench.data(peripheral).map(\.data.count) == [27])
    }

    @Test func invalidACLPacketsAreDropped() throws {
        var (bench, central, peripheral, one, _) = try Bench.pair()
        for packet in [
            ACLPacket(handle: one, boundary: .firstNonFlushable, data: []),
            ACLPacket(handle: one, boundary: .complete, data: [1]),
            ACLPacket(handle: one, boundary: .firstNonFlushable, broadcast: .broadcast, data: [1]),
        ] {
            bench.send(.acl(packet), on: central)
            #expect(bench.events(central) == [Self.completed(one, 1)], "the buffer is free again")
        }
        #expect(bench.packets(peripheral).isEmpty)
        bench.send(
            .acl(ACLPacket(handle: ConnectionHandle(0x0eff), boundary: .firstNonFlushable, data: [1])),
            on: central)
        #expect(bench.packets(central).isEmpty, "no such connection")
    }

    @Test func unreadDataPrecedesDisconnection() throws {
        var (bench, central, peripheral, one, other) = try Bench.pair()
        bench.withoutReceiver = [peripheral]
        bench.send(.acl(ACLPacket(handle: one, boundary: .firstNonFlushable, data: [1])), on: central)
        bench.perform(Disconnect(connection: one), on: central)
        bench.withoutReceiver = []
        bench.drain()
        let all = bench.packets(peripheral)
        #expect(all.count == 2, "the data, then the end")
        #expect(all.first == .acl(ACLPacket(handle: other, boundary: .firstFlushable, data: [1])))
        #expect(bench.events(central).count == 1, "nothing is completed on a link that is gone")
    }

    @Test func dataWaitsWhilePeerIsOutOfRange() throws {
        var (bench, central, peripheral, one, _) = try Bench.pair()
        bench.setRSSI(nil, between: central, and: peripheral)
        for octet: UInt8 in 1...3 {
            bench.send(.acl(ACLPacket(handle: one, boundary: .firstNonFlushable, data: [octet])), on: central)
        }
        #expect(bench.packets(central).isEmpty && bench.packets(peripheral).isEmpty)
        bench.setRSSI(-70, between: central, and: peripheral)
        #expect(bench.data(peripheral).map(\.data) == [[1], [2], [3]])
        let completed = bench.events(central).flatMap { event -> [CompletedPackets] in
            if case .numberOfCompletedPackets(let event) = event { event.completed } else { [] }
        }
        #expect(completed.reduce(0) { $0 + $1.count } == 3)
    }

    /// Frames of any size cross `ACLFlow`, two controllers and `ACLReassembler` without a buffer overflow.
    @Test func framesOfAnySizeCrossACLFlowIntact() throws {
        var configuration = VirtualController.Configuration()
        configuration.aclPacketLength = 27
        configuration.aclPackets = 2
        var (bench, central, peripheral, one, _) = try Bench.pair(configuration)
        var flow = ACLFlow()
        flow.configure(packetLength: 27, packets: 2)
        flow.open(one)
        var reassembler = ACLReassembler()
        var random = SplitMix64(seed: 9)
        var sent: [[UInt8]] = []
        var received: [[UInt8]] = []
        for _ in 0..<50 {
            let payload = (0..<Int.random(in: 0...200, using: &random)).map { UInt8(truncatingIfNeeded: $0) }
            sent.append(payload)
            try flow.enqueue(payload.span, on: .att, of: one)
        }
        while received.count < sent.count {
            var isIdle = true
            var bytes = [UInt8](capacity: flow.maximumPacketLength) { isIdle = !flow.nextPacket(into: &$0) }
            while !isIdle {
                bench.air.receive(bytes.span, from: central, at: bench.now)
                bytes = [UInt8](capacity: flow.maximumPacketLength) { isIdle = !flow.nextPacket(into: &$0) }
            }
            bench.drain()
            let (events, data) = (bench.events(central), bench.data(peripheral))
            guard !events.isEmpty || !data.isEmpty else {
                Issue.record("stuck")
                return
            }
            for event in events {
                guard case .numberOfCompletedPackets(let completed) = event else {
                    Issue.record("\(event)")
                    return
                }
                for entry in completed.completed { try flow.complete(entry) }
            }
            for packet in data {
                try reassembler.receive(packet.boundary, packet.data.span) {
                    received.append([UInt8](copying: $1))
                }
            }
        }
        #expect(sent == received)
    }
}

/// Data in connection events: every 30 ms, two packets in each direction.
@Suite struct ConnectionEventTests {
    private static let interval = Duration.milliseconds(30)

    private struct Pair {
        var bench = Bench(conditions: .init(packetsPerConnectionEvent: 2))
        let central: ID
        let peripheral: ID
        let one: ConnectionHandle
        let other: ConnectionHandle

        init() throws {
            (central, peripheral) = (bench.join(), bench.join())
            (one, other) = try bench.connect(central, to: peripheral)
        }

        mutating func send(_ octets: ClosedRange<UInt8>, on id: ID, _ handle: ConnectionHandle) {
            for octet in octets {
                bench.send(
                    .acl(ACLPacket(handle: handle, boundary: .firstNonFlushable, data: [octet])), on: id)
            }
        }

        /// Returns the number of packets that a controller has reported as completed since the last call.
        mutating func completed(_ id: ID) -> Int {
            bench.events(id).reduce(0) { count, event in
                guard case .numberOfCompletedPackets(let event) = event else { return count }
                return count + event.completed.reduce(0) { $0 + Int($1.count) }
            }
        }
    }

    @Test("packets leave at connection events in both directions, and buffers are freed one event later")
    func packetsLeaveAtConnectionEvents() throws {
        var pair = try Pair()
        pair.send(1...5, on: pair.central, pair.one)
        pair.send(11...13, on: pair.peripheral, pair.other)
        #expect(pair.bench.data(pair.peripheral).isEmpty, "nothing leaves between connection events")
        var arrived: [[UInt8]] = []
        var answers: [[UInt8]] = []
        var completed: [Int] = []
        for _ in 0..<4 {
            pair.bench.run(for: Self.interval)
            arrived.append(pair.bench.data(pair.peripheral).flatMap(\.data))
            answers.append(pair.bench.data(pair.central).flatMap(\.data))
            completed.append(pair.completed(pair.central))
        }
        #expect(arrived == [[1, 2], [3, 4], [5], []])
        #expect(answers == [[11, 12], [13], [], []])
        #expect(completed == [0, 2, 2, 1])
        #expect(pair.bench.air.deadline.map { $0 > pair.bench.now + .seconds(1) } ?? true, "and then rest")
    }

    @Test("a disconnection discards data that was not sent")
    func disconnectionDiscardsUnsentData() throws {
        var pair = try Pair()
        pair.send(1...5, on: pair.central, pair.one)
        pair.bench.run(for: Self.interval)
        pair.bench.perform(Disconnect(connection: pair.one), on: pair.central)
        pair.bench.run(for: .seconds(1))
        #expect(pair.bench.data(pair.peripheral).flatMap(\.data) == [1, 2])
        #expect(pair.completed(pair.central) == 0)
    }

    @Test("queued data waits while the peer is out of range, then arrives in order")
    func queuedDataResumesInOrder() throws {
        var pair = try Pair()
        pair.bench.setRSSI(nil, between: pair.central, and: pair.peripheral)
        pair.send(1...5, on: pair.central, pair.one)
        pair.bench.run(for: .milliseconds(200))
        #expect(pair.completed(pair.central) == 0)
        pair.bench.setRSSI(-70, between: pair.central, and: pair.peripheral)
        pair.bench.run(for: .milliseconds(200))
        #expect(pair.bench.data(pair.peripheral).flatMap(\.data) == [1, 2, 3, 4, 5])
        #expect(pair.completed(pair.central) == 5)
    }
}
