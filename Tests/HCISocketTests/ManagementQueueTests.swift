import BLECore
import HCI
import HCISocket
import Testing

private let lamp = DeviceAddress(0xc102_0304_0506, type: .random)
private let phone = DeviceAddress(0x0011_2233_4455, type: .public)
private let lampOctets: [UInt8] = [6, 5, 4, 3, 2, 0xc1, 2]
private let phoneOctets: [UInt8] = [0x55, 0x44, 0x33, 0x22, 0x11, 0, 1]

extension ManagementQueue {
    /// The next command's code; nil when none may be written.
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

@Test("one command at a time, answered by its code and index")
func managementOrder() {
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

@Test("commands do not wait for a pairing, and pairings are distinguished by their devices")
func managementPairings() {
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
    // By its identity, which was unknown when the pairing began.
    let identity: [UInt8] = [1, 2, 3, 4, 5, 0xc6, 2]
    #expect(queue.answer(0x0019, identity) == .answered(withLamp, .success, identity))
    #expect(queue.answer(0x0019, lampOctets) == nil)
}

@Test("a command has 10 s, a pairing 60 s")
func managementDeadlines() {
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

@Test("the kernel's events come between the answers, and octets that are no packet are an event")
func managementEvents() {
    var queue = ManagementQueue()
    queue.receive(Management.Packet(code: 0x0010, index: 3, parameters: lampOctets).encoded.span, at: .zero)
    #expect(queue.nextEvent() == .told(index: 3, .passkeyRequest(lamp)))
    var random = SplitMix64(seed: 4)
    for _ in 0..<5000 {
        var bytes = random.bytes(upTo: 60)
        // A header that is right, so that more than it is read.
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
