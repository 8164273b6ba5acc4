import ATT
import BLECore
import GATTClient
import TestSupport
import Testing

@Test func chunksFillMTUAndLastHoldsRemainder() {
    var chunks = ValueChunks(counting(50), mtu: .default)
    #expect(chunks.size == 20)
    #expect(chunks.next() == counting(20)[...])
    #expect(chunks.sent == 20 && chunks.total == 50 && !chunks.isDone)
    #expect(chunks.next().map(Array.init) == counting(20, from: 20))
    #expect(chunks.next().map(Array.init) == counting(10, from: 40))
    #expect(chunks.isDone && !chunks.isStalled)
    #expect(chunks.next() == nil)
    #expect(ValueChunks([], size: 20).isDone)
    var single = ValueChunks([1, 2], size: 0)
    #expect(single.next() == [1])
    #expect(!single.isDone)
}

@Test func chunksWaitForCredits() {
    var chunks = ValueChunks(counting(5), size: 1, credits: 2)
    #expect(chunks.next() == [0])
    #expect(!chunks.isStalled)
    #expect(chunks.next() == [1])
    #expect(chunks.next() == nil)
    #expect(chunks.isStalled && chunks.sent == 2)
    chunks.grant(-3)
    #expect(chunks.next() == nil)
    chunks.grant(1)
    #expect(chunks.next() == [2])
    chunks.grant(.max)
    chunks.grant(.max)
    #expect(chunks.credits == .max)
    #expect(chunks.next() == [3])
    #expect(chunks.next() == [4])
    #expect(chunks.isDone && !chunks.isStalled)
    var free = ValueChunks([1], size: 1)
    free.grant(3)
    #expect(free.credits == nil)
}

/// Returns the messages that the parts contain.
private func messages(
    _ rule: ValueReassembler.Rule, limit: Int = 100, _ parts: [[UInt8]]
) throws -> [[UInt8]] {
    var reassembler = ValueReassembler(rule, limit: limit)
    var messages: [[UInt8]] = []
    for part in parts {
        reassembler.receive(part, at: .zero)
        while let message = try reassembler.next() { messages.append(message) }
    }
    return messages
}

private let framings: [(rule: ValueReassembler.Rule, stream: [UInt8], messages: [[UInt8]])] = [
    (.length(3), counting(9), [[0, 1, 2], [3, 4, 5], [6, 7, 8]]),
    (.length(0), [1, 2], [[1], [2]]),
    (.prefixedLength(octets: 1, .bigEndian), [2, 7, 8, 0, 1, 9], [[7, 8], [], [9]]),
    (.prefixedLength(octets: 2, .littleEndian), [2, 0, 7, 8, 0, 0, 1, 0, 9], [[7, 8], [], [9]]),
    (.prefixedLength(octets: 2, .bigEndian), [0, 2, 7, 8, 0, 0, 0, 1, 9], [[7, 8], [], [9]]),
    (.prefixedLength(octets: 8, .bigEndian), [0, 0, 0, 0, 0, 0, 0, 1, 9], [[9]]),
    (.prefixedLength(octets: 1, .bigEndian, trailer: 2), [1, 7, 8, 9, 0, 1, 2], [[7, 8, 9], [1, 2]]),
    (.prefixedLength(octets: 1, .bigEndian, trailer: -1), [1, 7], [[7]]),
    (.delimiter([0x0a]), [1, 0x0a, 0x0a, 2, 3, 0x0a], [[1], [], [2, 3]]),
    (.delimiter([0x0d, 0x0a]), [1, 0x0d, 0x0d, 0x0a, 2, 0x0d, 0x0a], [[1, 0x0d], [2]]),
]

@Test(arguments: framings.indices)
func reassemblyIgnoresPartBoundaries(index: Int) throws {
    let framing = framings[index]
    for size in 1...framing.stream.count {
        var chunks = ValueChunks(framing.stream, size: size)
        var parts: [[UInt8]] = []
        while let part = chunks.next() { parts.append(Array(part)) }
        #expect(try messages(framing.rule, parts) == framing.messages, "parts of \(size)")
    }
}

@Test func silenceEndsAMessage() throws {
    let start = Instant.zero
    var reassembler = ValueReassembler(.silence(.milliseconds(100)))
    #expect(reassembler.deadline == nil)
    reassembler.receive([1], at: start)
    reassembler.receive([2], at: start + .milliseconds(99))
    #expect(reassembler.deadline == start + .milliseconds(199))
    reassembler.expire(at: start + .milliseconds(198))
    #expect(try reassembler.next() == nil)
    reassembler.expire(at: start + .milliseconds(199))
    #expect(try reassembler.next() == [1, 2])
    #expect(try reassembler.next() == nil)
    #expect(reassembler.deadline == nil)
    // A part that arrives after the deadline ends the message, as `expire` does, and begins the next one.
    reassembler.receive([3], at: start + .seconds(1))
    reassembler.receive([4], at: start + .seconds(2))
    reassembler.receive([5], at: start + .seconds(3))
    #expect(try reassembler.next() == [3])
    #expect(try reassembler.next() == [4])
    #expect(try reassembler.next() == nil)
    #expect(reassembler.pending == 1)
}

@Test func overlongMessageFailsAndNextIsRead() throws {
    let tooLong: [(rule: ValueReassembler.Rule, parts: [[UInt8]], octets: Int)] = [
        (.length(5), [[1]], 5),
        (.prefixedLength(octets: 2, .bigEndian), [[0xff], [0xff]], 65_535),
        (.prefixedLength(octets: 8, .bigEndian), [[UInt8](repeating: 0xff, count: 8)], .max),
        (.prefixedLength(octets: 8, .bigEndian, trailer: 1), [[UInt8](repeating: 0xff, count: 8)], .max),
        (.delimiter([0]), [[1, 2, 3], [4, 5, 6]], 6), (.silence(.seconds(1)), [[1, 2, 3], [4, 5]], 5),
    ]
    for (rule, parts, octets) in tooLong {
        var reassembler = ValueReassembler(rule, limit: 4)
        #expect(throws: ValueTooLong(limit: 4, octets: octets)) {
            for part in parts {
                reassembler.receive(part, at: .zero)
                _ = try reassembler.next()
            }
        }
        #expect(reassembler.pending == 0)
    }
    // Several short messages in one part do not exceed the limit.
    #expect(try messages(.delimiter([0]), limit: 4, [[1, 0, 2, 0, 3, 0, 4, 0]]) == [[1], [2], [3], [4]])
    var lines = ValueReassembler(.delimiter([0]), limit: 2)
    lines.receive([1, 2, 3, 4], at: .zero)
    #expect(throws: ValueTooLong(limit: 2, octets: 4)) { try lines.next() }
    // A complete message that is too long does not affect the messages before and after it.
    lines.receive([5, 0, 1, 2, 3, 0, 6, 0], at: .zero)
    #expect(try lines.next() == [5])
    #expect(throws: ValueTooLong(limit: 2, octets: 3)) { try lines.next() }
    #expect(try lines.next() == [6])
    var prefixed = ValueReassembler(.prefixedLength(octets: 1, .bigEndian), limit: 2)
    prefixed.receive([1, 7, 3, 7], at: .zero)
    #expect(try prefixed.next() == [7])
    #expect(throws: ValueTooLong(limit: 2, octets: 3)) { try prefixed.next() }
    #expect(prefixed.pending == 0)
    #expect("\(ValueTooLong(limit: 4, octets: 6))" == "a message of 6 octets, the limit is 4")
}

@Test func randomBytesReassembleWithinLimits() {
    var random = SplitMix64(seed: 7)
    let rules: [ValueReassembler.Rule] = [
        .length(-1), .length(.max), .prefixedLength(octets: -1, .bigEndian),
        .prefixedLength(octets: 99, .littleEndian), .prefixedLength(octets: 4, .bigEndian), .delimiter([]),
        .delimiter([0, 0]), .silence(.zero), .silence(.seconds(-1)),
    ]
    for rule in rules {
        var reassembler = ValueReassembler(rule, limit: 16)
        for turn in 0..<200 {
            let part = (0..<(random.next() % 9)).map { _ in UInt8(truncatingIfNeeded: random.next() & 3) }
            reassembler.receive(part, at: Instant(nanoseconds: UInt64(turn)))
            while let message = try? reassembler.next() { #expect(message.count <= 16) }
            #expect(reassembler.pending <= 64)
        }
    }
}

@Test("a length beyond every limit is no trap, also without a limit")
func lengthsBeyondIntAreNoTrap() throws {
    for trailer in [0, 1, Int.max] {
        var reassembler = ValueReassembler(
            .prefixedLength(octets: 8, .bigEndian, trailer: trailer), limit: .max)
        reassembler.receive([UInt8](repeating: 0xff, count: 20), at: .zero)
        let message = try reassembler.next()
        #expect(message == nil)
    }
}
