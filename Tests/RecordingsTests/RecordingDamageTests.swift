import BLECore
import Recordings
import Testing

private func records(_ items: [RecordingItem]) -> [Record] {
    items.compactMap { if case .record(let record) = $0 { record } else { nil } }
}

private func damage(_ items: [RecordingItem]) -> [RecordingDamage] {
    items.compactMap { if case .damage(let damage) = $0 { damage } else { nil } }
}

/// The offset of each record of `file(samples)`.
private var offsets: [Int] {
    samples.indices.map { file([Record](samples[..<$0])).count }
}

@Test(arguments: [BTSnoopDatalink.h4, .monitor], [1, 30, 4096])
func truncatedFileYieldsWholeRecordsAndDamage(datalink: BTSnoopDatalink, size: Int) throws {
    let whole = file(samples, datalink)
    let starts = samples.indices.map { file([Record](samples[..<$0]), datalink).count }
    for count in 16..<whole.count {
        let found = try items([UInt8](whole.prefix(count)), chunks: size)
        let complete = starts.filter { $0 > 16 && $0 <= count }.count
        #expect(records(found) == [Record](samples[..<complete]))
        let start = starts[complete]
        #expect(damage(found).map(\.offset) == (start == count ? [] : [start]))
        #expect(damage(found).map(\.skipped) == (start == count ? [] : [count - start]))
        #expect(!damage(found).contains { !$0.isCutOff })
    }
}

@Test(arguments: [1, 30, 4096])
func onlyRecordWithImpossibleLengthIsSkipped(size: Int) throws {
    for (index, start) in offsets.enumerated() {
        for (at, bit) in [(0, UInt8(0x80)), (1, 2), (4, 1), (7, 0x20), (8, 0x40), (11, 0x10)] {
            var bytes = file(samples)
            bytes[start + at] ^= bit
            let found = try items(bytes, chunks: size)
            var expected = samples
            expected.remove(at: index)
            #expect(records(found) == expected)
            #expect(damage(found).map(\.offset) == [start])
            #expect(damage(found).map(\.skipped) == [(offsets + [bytes.count])[index + 1] - start])
        }
    }
}

@Test func garbageBetweenRecordsIsSkipped() throws {
    var random = SplitMix64(seed: 11)
    for _ in 0..<300 {
        let index = Int.random(in: 1...samples.count, using: &random)
        let at = file([Record](samples[..<index])).count
        var garbage = random.bytes(upTo: 200)
        if garbage.isEmpty { garbage = [0xff] }
        var bytes = file(samples)
        bytes.insert(contentsOf: garbage, at: at)
        let found = try items(bytes, chunks: Int.random(in: 1...300, using: &random))
        #expect(records(found) == samples)
        #expect(damage(found).map(\.offset) == [at])
        #expect(damage(found).map(\.skipped) == [garbage.count])
    }
}

@Test func zerosAreNotRecords() throws {
    for datalink in [BTSnoopDatalink.h1, .h4, .monitor] {
        let zeros = [UInt8](repeating: 0, count: 1000)
        let found = try items(file(samples, datalink) + zeros)
        #expect(records(found) == samples)
        #expect(damage(found).map(\.skipped) == [1000])
    }
}

@Test func lengthBeyondFileEndSkipsOneRecord() throws {
    var bytes = file(samples)
    for field in [2, 6] { bytes[offsets[1] + field] = 0x40 }
    let found = try items(bytes, chunks: 50)
    #expect(records(found) == [samples[0]] + samples[2...])
    #expect(damage(found).map(\.offset) == [offsets[1]])
}

/// A damaged time must not affect the records that follow.
@Test func damagedTimeDoesNotLoseLaterRecords() throws {
    for index in samples.indices.dropLast(2) {
        for octet in 16..<24 {
            var bytes = file(samples)
            bytes[offsets[index] + octet] ^= 0x40
            // An impossible length, after which the reader has to find the next record.
            bytes[offsets[index + 1]] ^= 0x80
            let found = records(try items(bytes, chunks: 40))
            #expect(found.prefix(index) == samples[..<index])
            #expect(found.suffix(samples.count - index - 2) == samples[(index + 2)...])
            // If the next record is intact, the record is returned with the damaged time.
            bytes[offsets[index + 1]] ^= 0x80
            let shown = records(try items(bytes, chunks: 40))
            #expect(shown.map(\.content) == samples.map(\.content))
        }
    }
}

/// Clocks are set during recordings, and recordings of different days are joined. No packet is lost in either
/// case.
@Test(arguments: [[1970, 2026], [2026, 1970], [2026, 2025, 2024], [2026, 1970, 2026]], [1, 4096])
func timeJumpsAreNotDamage(years: [Int64], size: Int) throws {
    let joined = years.flatMap { year in
        samples.enumerated().map { index, sample in
            var sample = sample
            sample.time = RecordingTime(
                microseconds: (year - 1970) * 31_557_600_000_000 + 86_400_000_000 + Int64(index))
            return sample
        }
    }
    let found = try items(file(joined), chunks: size)
    #expect(records(found) == joined && damage(found).isEmpty)
}

/// Each record is from another year.
@Test func distantDatesAreNotDamage() throws {
    let all = samples.enumerated().map { index, sample in
        var sample = sample
        sample.time = RecordingTime(microseconds: Int64(40 + index % 7 * 2) * 31_557_600_000_000)
        return sample
    }
    let found = try items(file(all))
    #expect(records(found) == all && damage(found).isEmpty)
}

/// Missing octets cause the loss of the record that contained them, and of those that it then appears to
/// contain.
@Test(arguments: [BTSnoopDatalink.h4, .monitor]) func missingOctetsLoseOnlyNearbyRecords(
    datalink: BTSnoopDatalink
) throws {
    var random = SplitMix64(seed: 7)
    let many = (0..<6).flatMap { _ in samples }
    let whole = file(many, datalink)
    let starts = (0...many.count).map { file([Record](many[..<$0]), datalink).count }
    for _ in 0..<400 {
        let index = Int.random(in: 0..<many.count, using: &random)
        let at = Int.random(in: starts[index]..<starts[index + 1], using: &random)
        let count = min(Int.random(in: 1...120, using: &random), whole.count - at)
        var bytes = whole
        bytes.removeSubrange(at..<(at + count))
        let found = records(try items(bytes, chunks: 300))
        #expect(found.prefix(index) == many[..<index])
        // A cut in a length field can make a record of any size. The remains of other records can look
        // like a record, so that the next one or two are lost.
        guard at >= starts[index] + 8,
            let over = starts.firstIndex(where: { $0 >= starts[index + 1] + count })
        else { continue }
        // A monitor's records can have any content, so more of their octets look like a record.
        let next = min(over + (datalink == .h4 ? 2 : 8), many.count)
        #expect(found.suffix(many.count - next) == many[next...], "cut of \(count) at \(at)")
    }
}

/// For any file, the octets of records and of damage add up to the file, and damage never overlaps.
@Test func recordsAndDamageCoverWholeFile() throws {
    var random = SplitMix64(seed: 2026)
    for round in 0..<400 {
        let datalink = [BTSnoopDatalink.h1, .h4, .monitor][round % 3]
        var bytes = file(samples + samples, datalink)
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            let at = Int.random(in: 16..<bytes.count, using: &random)
            bytes[at] = random.next() % 3 == 0 ? 0xff : UInt8(truncatingIfNeeded: random.next())
        }
        let found = try items(bytes, chunks: Int.random(in: 1...100, using: &random))
        var offset = 16
        for item in found {
            switch item {
            case .damage(let damage):
                #expect(damage.offset == offset && damage.skipped > 0)
                offset += damage.skipped
            case .record(let record):
                offset += RecordingWriter(datalink).encode(record)?.count ?? 0
            }
        }
        #expect(offset == bytes.count)
    }
}
