import BLECore
import HCI
import Recordings
import Testing

/// A writer of pcapng files, block by block, in either byte order.
private struct Blocks {
    var bigEndian = false
    private(set) var bytes: [UInt8] = []

    init(bigEndian: Bool = false) { self.bigEndian = bigEndian }

    private func number(_ value: UInt64, _ count: Int) -> [UInt8] {
        let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
        return bigEndian ? little.reversed() : little
    }

    func word(_ value: UInt32) -> [UInt8] { number(UInt64(value), 4) }
    func half(_ value: UInt16) -> [UInt8] { number(UInt64(value), 2) }

    func option(_ code: UInt16, _ value: [UInt8]) -> [UInt8] {
        half(code) + half(UInt16(value.count)) + value + [UInt8](repeating: 0, count: -value.count & 3)
    }

    func option(_ code: UInt16, number value: UInt64) -> [UInt8] { option(code, number(value, 8)) }

    mutating func add(_ type: UInt32, _ body: [UInt8]) {
        let length = UInt32(body.count + 12)
        bytes += word(type) + word(length) + body + word(length)
    }

    mutating func section() {
        add(0x0a0d_0d0a, word(0x1a2b_3c4d) + half(1) + half(0) + word(.max) + word(.max))
    }

    mutating func interface(_ linkType: UInt16, _ options: [UInt8] = []) {
        add(1, half(linkType) + half(0) + word(0) + options)
    }

    mutating func packet(
        _ data: [UInt8], interface: UInt32 = 0, ticks: UInt64, original: Int? = nil, _ options: [UInt8] = []
    ) {
        add(
            6,
            word(interface) + word(UInt32(ticks >> 32)) + word(UInt32(truncatingIfNeeded: ticks))
                + word(UInt32(data.count)) + word(UInt32(original ?? data.count)) + data
                + [UInt8](repeating: 0, count: -data.count & 3) + options)
    }
}

private let reset: [UInt8] = [1, 3, 0x0c, 0]
private let complete: [UInt8] = [4, 0x0e, 4, 1, 3, 0x0c, 0]

private func record(
    _ microseconds: Int64, _ direction: HCIDirection, _ bytes: [UInt8], missing: Int = 0,
    isGuess: Bool = false
) -> RecordingItem {
    .record(
        Record(
            time: RecordingTime(microseconds: microseconds), content: .packet(direction, bytes),
            missing: missing, isDirectionGuessed: isGuess))
}

struct PcapngTests {
    @Test("packets without a time and blocks without packets are not reported as damage")
    func blocksWithoutTimeAreNotDamage() throws {
        var file = Blocks()
        file.section()
        file.interface(187)
        let time: UInt64 = 1_790_000_000_000_000
        file.packet(reset, ticks: time)
        for _ in 0..<3 { file.add(3, file.word(4) + reset) }
        file.packet(reset, ticks: time + 1)
        // Another day, before Interface Statistics.
        file.packet(reset, ticks: time + 90 * 86_400_000_000)
        file.add(5, file.word(0) + file.word(0) + file.word(0))
        file.packet(reset, ticks: time + 90 * 86_400_000_000 + 1)
        let found = try items(file.bytes)
        #expect(found.count { if case .record = $0 { true } else { false } } == 7)
        #expect(!found.contains { if case .damage = $0 { true } else { false } })
    }

    @Test(arguments: [false, true], [1, 5, 12, 4096])
    func bothByteOrdersAreReadInAnyChunkSize(bigEndian: Bool, size: Int) throws {
        var file = Blocks(bigEndian: bigEndian)
        file.section()
        file.interface(201)
        file.packet([0, 0, 0, 0] + reset, ticks: 0x1_0000_0002)
        // A block of an unknown type, and a comment after a truncated packet.
        file.add(0x0bad, [1, 2, 3, 4])
        file.packet(
            [0, 0, 0, 1] + complete.prefix(5), ticks: 0x1_0000_0003, original: 11,
            file.option(1, Array("hm".utf8)) + file.option(0, []))
        #expect(
            try items(file.bytes, chunks: size) == [
                record(0x1_0000_0002, .hostToController, reset),
                record(0x1_0000_0003, .controllerToHost, Array(complete.prefix(5)), missing: 2),
            ])
    }

    @Test(
        arguments: [
            (9, 1_234_567_891_011, 1_234_567_891),  // nanoseconds
            (3, 1_234, 1_234_000), (0, 7, 7_000_000),
            (0x8a, 1536, 1_500_000),  // 1/1024 s
            (0x80, 3, 3_000_000),
        ] as [(UInt8, UInt64, Int64)])
    func timeResolutionIsApplied(resolution: UInt8, ticks: UInt64, microseconds: Int64) throws {
        var file = Blocks()
        file.section()
        file.interface(187, file.option(9, [resolution]) + file.option(0, []))
        file.packet(reset, ticks: ticks)
        #expect(try items(file.bytes) == [record(microseconds, .hostToController, reset)])
    }

    @Test func flagsSetDirectionAndOffsetsShiftTime() throws {
        var file = Blocks(bigEndian: true)
        file.section()
        file.interface(187, file.option(14, number: 100))
        let data: [UInt8] = [2, 0x40, 0x20, 0, 0]
        file.packet(data, ticks: 5, file.option(2, file.word(2)))
        file.packet(data, ticks: 6, file.option(2, file.word(1)))
        file.packet(data, ticks: 7)
        #expect(
            try items(file.bytes) == [
                record(100_000_005, .hostToController, data), record(100_000_006, .controllerToHost, data),
                record(100_000_007, .controllerToHost, data, isGuess: true),
            ])
    }

    @Test func monitorPacketsAndOldBlocksAreRead() throws {
        var file = Blocks()
        file.section()
        file.interface(254)
        // Adapter 2, opcode 2 is a command; opcode 12 is a note. Both are always big-endian.
        file.packet([0, 2, 0, 2, 3, 0x0c, 0], ticks: 1)
        let header = [0, 9].flatMap { file.half($0) } + [0, 2, 6, 6].flatMap { file.word($0) }
        file.add(2, header + [0xff, 0xff, 0, 12, 0x41, 0, 0, 0])
        file.add(3, file.word(5) + [0, 2, 0, 8, 0, 0, 0, 0])
        let found = try items(file.bytes)
        let time = RecordingTime(microseconds: 1)
        #expect(
            found == [
                .record(Record(time: time, adapter: 2, content: .packet(.hostToController, reset))),
                .record(
                    Record(
                        time: RecordingTime(microseconds: 2), adapter: 0xffff,
                        content: .note(.systemNote, [0x41, 0]), drops: 9)),
                .record(
                    Record(
                        time: RecordingTime(microseconds: 0), adapter: 2, content: .note(.openIndex, [0]))),
            ])
    }

    @Test func otherLinkTypesAreCountedAndSectionsReset() throws {
        var file = Blocks()
        file.section()
        file.interface(1)
        file.packet([1, 2, 3], ticks: 1)
        var second = Blocks(bigEndian: true)
        second.section()
        second.interface(187)
        second.packet(reset, ticks: 2)
        let bytes = file.bytes + second.bytes
        var reader = RecordingReader()
        reader.receive(bytes.span)
        reader.finish()
        #expect(try reader.next() == record(2, .hostToController, reset))
        #expect(try reader.next() == nil)
        #expect(reader.leftOut == 1)
    }

    @Test(arguments: [1, 12, 4096])
    func damagedBlockIsSkipped(size: Int) throws {
        var file = Blocks()
        file.section()
        file.interface(187)
        file.packet(reset, ticks: 1)
        let start = file.bytes.count
        file.packet(complete, ticks: 2)
        let end = file.bytes.count
        file.packet(reset, ticks: 3)
        var bytes = file.bytes
        // The length at the block's end no longer agrees with the one at its beginning.
        bytes[end - 4] ^= 0x10
        let found = try items(bytes, chunks: size)
        #expect(found.count == 3)
        guard case .damage(let damage) = found[1] else {
            Issue.record("no damage")
            return
        }
        #expect(damage.offset == start && damage.skipped == end - start)
        #expect(found[2] == record(3, .hostToController, reset))
        // A truncated file is reported as damage, too.
        let cut = try items(Array(file.bytes.dropLast(3)), chunks: size)
        #expect(cut.count == 3)
        guard case .damage(let rest)? = cut.last else {
            Issue.record("no damage")
            return
        }
        #expect(rest.offset == end && rest.skipped == file.bytes.count - 3 - end && rest.isCutOff)
        // The last block is complete, but claims a longer packet than it has.
        var long = file.bytes
        long[end + 20] = 100
        guard case .damage(let claimed)? = try items(long, chunks: size).last else {
            Issue.record("no damage")
            return
        }
        #expect(claimed.offset == end && claimed.skipped == long.count - end && !claimed.isCutOff)
    }

    @Test func chunkSizeDoesNotAffectRandomInput() throws {
        var random = SplitMix64(seed: 7)
        var file = Blocks()
        file.section()
        file.interface(187)
        for _ in 0..<2000 {
            let bytes = file.bytes + random.bytes(upTo: 60)
            #expect(try items(bytes, chunks: 7) == items(bytes))
        }
    }
}
