import BLECore
import HCI
import HCISocket
import Testing

private let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
private let phone = DeviceAddress(0x0011_2233_4455, type: .public)
private let lampOctets: [UInt8] = [6, 5, 4, 3, 2, 0xc1, 2]
private let phoneOctets: [UInt8] = [0x55, 0x44, 0x33, 0x22, 0x11, 0, 1]

extension ManagementQueue {
    /// Writes the next command, and returns its code, or nil if no command may be written.
    fileprivate mutating func written(at now: Instant = .zero) -> UInt16? {
        let count = nextFrameCount
        let frame = [UInt8](capacity: count) { _ = nextFrame(into: &$0, at: now) }
        #expect(frame.count == count)
        return (try? Management.Packet(frame))?.code
    }

    fileprivate mutating func answer(
        _ code: UInt16, index: UInt16 = 0, status: UInt8 = 0, _ octets: [UInt8] = [], at now: Instant = .zero
    ) -> Event? {
        let parameters = [UInt8(code & 0xff), UInt8(code >> 8), status] + octets
        receive(Management.Packet(code: 1, index: index, parameters: parameters).encoded.span, at: now)
        return nextEvent()
    }
}

@Test("commands are sent one at a time and matched by code and index")
func managementCommandsAreSentOneAtATime() {
    var queue = ManagementQueue()
    let power = queue.submit(.setPowered(true), index: 1, at: .zero)
    let bondable = queue.submit(.setBondable(true), index: 1, at: .zero)
    #expect(queue.written() == 0x0005)
    #expect(queue.written() == nil)
    #expect(queue.answer(0x0005, index: 0) == nil)
    #expect(queue.answer(0x0009, index: 1) == nil)
    #expect(queue.answer(0x0005, index: 1, status: 0x0b) == .answered(power, .init(rawValue: 0x0b), []))
    #expect(queue.written() == 0x0009)
    #expect(queue.answer(0x0009, index: 1, [1, 0, 0, 0]) == .answered(bondable, .success, [1, 0, 0, 0]))
    #expect(queue.deadline == nil)
}

@Test("commands do not wait for pairings, and pairings are matched by device")
func managementPairingsDoNotBlockCommands() {
    var queue = ManagementQueue()
    let withLamp = queue.submit(.pairDevice(lamp, ioCapability: 3), index: 0, at: .zero)
    let withPhone = queue.submit(.pairDevice(phone, ioCapability: 3), index: 0, at: .zero)
    let reply = queue.submit(.userConfirmationReply(phone), index: 0, at: .zero)
    #expect(queue.written() == 0x0019)
    #expect(queue.written() == 0x0019)
    #expect(queue.written() == 0x001c)
    #expect(queue.answer(0x001c, phoneOctets) == .answered(reply, .success, phoneOctets))
    #expect(
        queue.answer(0x0019, status: 5, phoneOctets)
            == .answered(withPhone, .authenticationFailed, phoneOctets)
    )
    // The response has the identity address, which was unknown when the pairing began.
    let identity: [UInt8] = [1, 2, 3, 4, 5, 0xc6, 2]
    #expect(queue.answer(0x0019, identity) == .answered(withLamp, .success, identity))
    #expect(queue.answer(0x0019, lampOctets) == nil)
}

@Test("a command times out after 10 s, a pairing after 60 s")
func managementCommandsTimeOut() {
    var queue = ManagementQueue()
    let pair = queue.submit(.pairDevice(lamp, ioCapability: 3), index: 0, at: .zero)
    let power = queue.submit(.setPowered(true), index: 0, at: .zero)
    #expect(queue.deadline == nil)
    #expect(queue.written() == 0x0019)
    #expect(queue.deadline == .zero + .seconds(60))
    #expect(queue.written() == 0x0005)
    #expect(queue.deadline == .zero + .seconds(10))
    queue.expire(at: .zero + .seconds(9))
    #expect(queue.nextEvent() == nil)
    queue.expire(at: .zero + .seconds(10))
    #expect(queue.nextEvent() == .timedOut(power, after: .seconds(10)))
    #expect(queue.answer(0x0005) == nil)
    queue.expire(at: .zero + .seconds(60))
    #expect(queue.nextEvent() == .timedOut(pair, after: .seconds(60)))
    #expect(queue.deadline == nil)
}

@Test("kernel events and malformed packets are reported")
func managementEventsAndMalformedPacketsAreReported() {
    var queue = ManagementQueue()
    queue.receive(Management.Packet(code: 0x0010, index: 3, parameters: lampOctets).encoded.span, at: .zero)
    #expect(queue.nextEvent() == .event(index: 3, .passkeyRequest(lamp)))
    var random = SplitMix64(seed: 4)
    for _ in 0..<5000 {
        var bytes = random.bytes(upTo: 60)
        // The header is valid, so that the parameters are read, too.
        if bytes.count >= 6 { bytes.replaceSubrange(1..<6, with: [0, 0, 0, UInt8(bytes.count - 6), 0]) }
        queue.receive(bytes.span, at: .zero)
        while case .answered? = queue.nextEvent() { Issue.record("nothing was asked") }
    }
    queue.receive([1, 0].span, at: .zero)
    #expect(
        queue.nextEvent()
            == .malformed(
                DecodeError(
                    packet: "management packet", field: "index", offset: 2,
                    reason: .truncated(needed: 2, available: 0))))
}

@Test("a late response does not answer the next command, and a duplicate is ignored")
func lateManagementResponsesAreIgnored() {
    var queue = ManagementQueue()
    let power = queue.submit(.setPowered(true), index: 0, at: .zero)
    let bondable = queue.submit(.setBondable(true), index: 0, at: .zero)
    #expect(queue.written() == 0x0005)
    let late = Instant.zero + .seconds(10)
    queue.expire(at: late)
    #expect(queue.nextEvent() == .timedOut(power, after: .seconds(10)))
    #expect(queue.written(at: late) == 0x0009)
    #expect(queue.answer(0x0005, [1, 0, 0, 0], at: late) == nil)
    #expect(queue.deadline == late + .seconds(10))
    #expect(queue.answer(0x0009, [2, 0, 0, 0], at: late) == .answered(bondable, .success, [2, 0, 0, 0]))
    #expect(queue.answer(0x0009, [2, 0, 0, 0], at: late) == nil)
    #expect(queue.deadline == nil)
}

@Test("a response that matches no written command is ignored")
func foreignManagementResponsesAreIgnored() {
    var queue = ManagementQueue()
    #expect(queue.answer(0x0005) == nil)
    let power = queue.submit(.setPowered(true), index: 1, at: .zero)
    // The command is not written yet, so the response belongs to another socket.
    #expect(queue.answer(0x0005, index: 1) == nil)
    #expect(queue.written() == 0x0005)
    for (code, index) in [(0x0005, 0), (0x0005, 0xffff), (0x0009, 1), (0x0019, 1)] as [(UInt16, UInt16)] {
        #expect(queue.answer(code, index: index) == nil)
    }
    #expect(queue.written() == nil)
    #expect(queue.answer(0x0005, index: 1) == .answered(power, .success, []))
}

@Test("Command Status answers a command without octets, also a pairing that it does not name")
func commandStatusAnswersManagementCommands() {
    var queue = ManagementQueue()
    let pair = queue.submit(.pairDevice(lamp, ioCapability: 3), index: 0, at: .zero)
    let power = queue.submit(.setPowered(true), index: 0, at: .zero)
    #expect(queue.written() == 0x0019)
    #expect(queue.written() == 0x0005)
    for (code, status, ticket) in [(0x05, 0x0a, power), (0x19, 0x11, pair)]
        as [(UInt8, UInt8, ManagementQueue.Ticket)]
    {
        let packet = Management.Packet(code: 2, index: 0, parameters: [code, 0, status])
        queue.receive(packet.encoded.span, at: .zero)
        #expect(queue.nextEvent() == .answered(ticket, ManagementStatus(rawValue: status), []))
    }
    #expect(queue.deadline == nil)
}

@Test("of two pairings with one device the older one is answered first")
func olderPairingWithDeviceIsAnsweredFirst() {
    var queue = ManagementQueue()
    let tickets = (0..<2).map { _ in queue.submit(.pairDevice(lamp, ioCapability: 3), index: 0, at: .zero) }
    // A pairing on another adapter is independent.
    let other = queue.submit(.pairDevice(lamp, ioCapability: 3), index: 1, at: .zero)
    for _ in 0..<3 { #expect(queue.written() == 0x0019) }
    #expect(
        queue.answer(0x0019, status: 5, lampOctets)
            == .answered(tickets[0], .authenticationFailed, lampOctets))
    #expect(queue.answer(0x0019, index: 1, lampOctets) == .answered(other, .success, lampOctets))
    #expect(queue.answer(0x0019, lampOctets) == .answered(tickets[1], .success, lampOctets))
}

@Test("any number of commands can wait, and each timeout starts when the command is written")
func managementTimeoutStartsWhenWritten() {
    var queue = ManagementQueue()
    let tickets = (0..<500).map { queue.submit(.setPowered($0 % 2 == 0), index: UInt16($0), at: .zero) }
    #expect(Set(tickets).count == 500)
    #expect(queue.deadline == nil)
    for (number, ticket) in tickets.enumerated() {
        let now = Instant.zero + .seconds(number)
        #expect(queue.nextFrameCount == 7)
        #expect(queue.written(at: now) == 0x0005)
        #expect(queue.nextFrameCount == 0)
        #expect(queue.deadline == now + .seconds(10))
        #expect(queue.answer(0x0005, index: UInt16(number), at: now) == .answered(ticket, .success, []))
    }
    #expect(queue.nextFrameCount == 0)
    #expect(queue.written() == nil)
}

@Test("simultaneous timeouts are reported, the current command first, then the next one is written")
func simultaneousManagementTimeoutsAreReported() {
    var queue = ManagementQueue()
    let pairings = [lamp, phone].map { queue.submit(.pairDevice($0, ioCapability: 3), index: 0, at: .zero) }
    for _ in 0..<2 { #expect(queue.written() == 0x0019) }
    let power = queue.submit(.setPowered(true), index: 0, at: .zero)
    let bondable = queue.submit(.setBondable(true), index: 0, at: .zero)
    let start = Instant.zero + .seconds(50)
    #expect(queue.written(at: start) == 0x0005)
    let end = Instant.zero + .seconds(60)
    #expect(queue.deadline == end)
    queue.expire(at: end)
    #expect(queue.nextEvent() == .timedOut(power, after: .seconds(10)))
    #expect(queue.nextEvent() == .timedOut(pairings[0], after: .seconds(60)))
    #expect(queue.nextEvent() == .timedOut(pairings[1], after: .seconds(60)))
    #expect(queue.nextEvent() == nil)
    #expect(queue.written(at: end) == 0x0009)
    #expect(queue.answer(0x0009, at: end) == .answered(bondable, .success, []))
}

@Test("a truncated response or event is malformed, and the command stays pending")
func malformedManagementResponseKeepsCommandPending() {
    var queue = ManagementQueue()
    let power = queue.submit(.setPowered(true), index: 0, at: .zero)
    #expect(queue.written() == 0x0005)
    let whole = Management.Packet(code: 1, index: 0, parameters: [5, 0, 0]).encoded
    let wrong =
        whole.indices.map { Array(whole.prefix($0)) } + [whole + [0]]
        // The same with valid lengths.
        + (0..<3).map {
            Management.Packet(code: 1, index: 0, parameters: Array([5, 0, 0].prefix($0))).encoded
        }
        + [Management.Packet(code: 6, index: 0, parameters: [1, 0, 0]).encoded]
    for octets in wrong {
        queue.receive(octets.span, at: .zero)
        guard case .malformed = queue.nextEvent() else {
            Issue.record("taken: \(octets)")
            continue
        }
        #expect(queue.nextEvent() == nil)
    }
    #expect(queue.written() == nil)
    queue.receive(whole.span, at: .zero)
    #expect(queue.nextEvent() == .answered(power, .success, []))
}

@Test("events are queued in order of arrival")
func managementEventsKeepOrder() {
    var queue = ManagementQueue()
    let power = queue.submit(.setPowered(true), index: 0, at: .zero)
    #expect(queue.written() == 0x0005)
    for packet in [
        Management.Packet(code: 4, index: 2, parameters: []),
        Management.Packet(code: 1, index: 0, parameters: [5, 0, 0, 1, 0, 0, 0]),
        Management.Packet(code: 6, index: 0, parameters: [1, 0, 0, 0]),
        Management.Packet(code: 5, index: 2, parameters: []),
    ] {
        queue.receive(packet.encoded.span, at: .zero)
    }
    #expect(queue.nextEvent() == .event(index: 2, .added))
    #expect(queue.nextEvent() == .answered(power, .success, [1, 0, 0, 0]))
    #expect(queue.nextEvent() == .event(index: 0, .settings(.powered)))
    #expect(queue.nextEvent() == .event(index: 2, .removed))
    #expect(queue.nextEvent() == nil)
}
